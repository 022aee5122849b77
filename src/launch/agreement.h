#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/bootstrap.h"
#include "launch/start.h"

namespace edgewire::launch {

/// Throws Error that names what is not the same in all processes, with its values and the ranks that have
/// them. If the first fact differs, such as the command, the others are not compared. Collective. Call it
/// before steps that depend on these facts.
void check_agreement(Bootstrap& bootstrap, const std::vector<Fact>& mine);

/// Returns a number for the files that the processes of a run write: rank 0 draws it. Collective.
std::uint64_t new_generation(Bootstrap& bootstrap);

/// Returns how the facts of all processes, [rank], differ; an empty string if they do not.
std::string difference(const std::vector<std::vector<Fact>>& all);

/// Returns a text as "rank 0" or "ranks 0,2-5". The numbers ascend.
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace edgewire::launch
