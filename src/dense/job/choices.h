// This file has the choices for a dense job that are made by measurement, layout and ownership, and the rates
// that choices go by.
#pragma once

#include "dense/job/dense_plan.h"

namespace edgewire::job {

/// The rates of links and cores: those of the options, or measured at the first call. Collective.
class Rates {
 public:
  explicit Rates(const PlanTask& task)
      : task_(task), link_(task.options.assumed_link_rate), compute_(task.options.assumed_compute_rate) {}
  /// Returns how many bytes per second the link of a process carries.
  double link();
  /// Returns the edges per second and worker.
  double compute();
  /// Returns the edges per second of a process.
  double compute_all() { return compute() * task_.workers(); }

  /// Returns whether the most loaded process needs longer for sending `values` than for computing `edges`,
  /// both of this process. Then `cover` is the better strategy, else `slots`; it sets both in `choices`.
  /// Collective.
  bool wire_limits(std::uint64_t values, std::uint64_t edges, Choices& choices);

 private:
  const PlanTask& task_;
  double link_, compute_;
};

/// Chooses degree order, unless the given order is faster by a twentieth over all processes. Each process
/// whose given order keeps neighbours together (its edges meet in fewer tiles than by chance) builds the
/// tiles of an eighth of the edges between its own vertices in both orders, in four runs of neighbouring
/// sources, so that they are as dense as all tiles will be, and sweeps them. Returns the vertices in the
/// layout that it sets in `choices`, with the reason. Collective; throws Error.
plan::OwnedVertices choose_layout(const PlanTask& task, const partition::OwnedRows& rows,
                                  const partition::Ownership& ownership, Choices& choices,
                                  const ForEach& for_each);

/// Returns choices with the ownership that the options name; of "auto" and "auto,FILE" with the best one, and
/// a line for each candidate: hash, ranges, FILE, and also grid and hilbert, where the strategy is slots,
/// cover or chosen, edges are in memory, and there is memory to count them. Rank 0 counts the values
/// (strategy `slots`) and edges of each process exactly, in one to three passes over the graph for each
/// candidate. The best one has the shortest time of sending or computing, whichever is longer, of its most
/// loaded process. Blocks of edges must be better by 5 %, since their iterations have two steps. It counts on
/// all cores that the maker of the pool could use. Collective; throws Error.
Choices choose_ownership(const PlanTask& task, Rates& rates);

}  // namespace edgewire::job
