// An observer that writes down its calls.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "topology/phase.h"

namespace edgewire::topology {

class PhaseListener final : public Observer {
 public:
  explicit PhaseListener(int workers)
      : told(static_cast<std::size_t>(workers)), aside_ns(static_cast<std::size_t>(workers)) {}
  void begin(int) noexcept override {}
  void finish(int) noexcept override {}
  void enter(int worker, Phase phase, std::size_t, int peer) noexcept override {
    const auto p = static_cast<std::size_t>(phase);
    told[static_cast<std::size_t>(worker)] +=
        phase == Phase::wait ? "w" + std::to_string(peer) : std::string(1, kPhaseNames[p][0]);
  }
  void waits_for(int, int) noexcept override {}
  void aside(int worker, Phase phase, int, std::uint64_t ns) noexcept override {
    aside_ns[static_cast<std::size_t>(worker)][static_cast<std::size_t>(phase)] += ns;
  }
  void arrived(int, int, std::uint64_t) noexcept override {}
  void end_iteration(std::uint64_t) noexcept override {}

  std::vector<std::string>
      told;  ///< calls by worker: a letter for each phase, "w" with the process that it waits for
  std::vector<std::array<std::uint64_t, kPhases>> aside_ns;
};

}  // namespace edgewire::topology
