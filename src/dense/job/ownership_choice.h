// `--ownership auto`: counts what each way of owning vertices or edges costs on this graph, and takes the
// cheapest.
#pragma once

#include "dense/job/dense_plan.h"
#include "dense/job/rates.h"

namespace edgewire::job {

/// Choices with the ownership that the options name; of "auto" and "auto,FILE" with the best one, and a line
/// for each candidate: hash, ranges, FILE, and also grid and hilbert, where the strategy is slots, cover or
/// chosen, edges are in memory, and there is memory to count them. Rank 0 counts the values (strategy
/// `slots`) and edges of each process exactly, in one to three passes over the graph for each candidate. The
/// best one has the shortest time of sending or computing, whichever is longer, of its most loaded process.
/// Blocks of edges must be better by 5 %, since their iterations have two steps. It counts on all cores that
/// the maker of the pool could use. Collective; throws Error.
Choices choose_ownership(const PlanTask& task, Rates& rates);

}  // namespace edgewire::job
