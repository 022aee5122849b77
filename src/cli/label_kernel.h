#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/frontier_command.h"

namespace edgewire::cli {

/// What supersteps of frontier::Components do, by kind.
inline constexpr std::array kComponentPhases{"link two edges of each vertex", "link the rest",
                                             "tell owners where their vertices hang", "ask owners for roots",
                                             "link all edges"};

/// What kernels have in common whose values are labels, each a vertex that stands for a group.
class LabelKernel : public FrontierKernel {
 public:
  /// `one`, `several`: what a group is called.
  LabelKernel(const char* one, const char* several) : one_(one), several_(several) {}

  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return cli::checksum(job, mine_);
  }
  report::Answer answer(const AnsweredRun& run) override { return group_answer(run, mine_, one_, several_); }
  void gather(frontier::FrontierJob& job) override { all_ = frontier::gather_values(job, mine_); }
  void add_line(VertexLines& lines, std::uint32_t vertex) const override {
    lines.add_vertex(vertex, all_[vertex]);
  }

 protected:
  std::vector<std::uint32_t> mine_;  ///< [local number]; run() sets them
  std::vector<std::uint32_t> all_;   ///< [vertex], at rank 0

 private:
  const char* one_;
  const char* several_;
};

}  // namespace edgewire::cli
