// Progress of a command that has several steps, as a bar on the terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace edgewire::cli {

/// To be called with the step's name (a literal), what is done of it, and the whole; from any thread. One
/// step's bar makes place for the next one's. Draws nothing unless `enabled` and stderr is a terminal.
using Stages = std::function<void(std::string_view step, std::uint64_t done, std::uint64_t total)>;
Stages stages_on_terminal(const char* unit, bool enabled = true);

}  // namespace edgewire::cli
