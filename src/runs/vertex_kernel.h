#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "partition/gather_values.h"
#include "runs/kernel.h"
#include "runs/result_checksum.h"

namespace edgewire::runs {

/// The checksum of the values of this process, by local number.
template <class Value>
std::uint64_t checksum(const frontier::FrontierJob& job, const std::vector<Value>& values) {
  std::uint64_t sum = 0;
  for (LocalNumber i{}; i < values.size(); ++i)
    sum += runs::checksum_of(job.ownership().vertex(job.rank(), i), values[i]);
  return sum;
}
/// The same of the values of all vertices, which one process has.
template <class Value>
std::uint64_t checksum_of_all(std::span<const Value> values) {
  std::uint64_t sum = 0;
  for (VertexId v{}; v < values.size(); ++v) sum += runs::checksum_of(v, values[v]);
  return sum;
}

/// What kernels have in common that find a value for each vertex, each process those that it owns.
template <class Value>
class VertexKernel : public Kernel {
 public:
  VertexKernel(Values::Form form, int digits) : form_(form), digits_(digits) {}

  std::uint64_t checksum(const frontier::FrontierJob& job) const override {
    return runs::checksum(job, mine_);
  }
  Values own() const override { return shown(mine_); }
  void gather(frontier::FrontierJob& job) override { all_ = frontier::gather_values(job, mine_); }
  Values all() const override { return shown(all_); }

 protected:
  Values shown(const std::vector<Value>& values) const {
    return {form_, std::span<const Value>(values), digits_};
  }

  std::vector<Value> mine_;  ///< [local number]; run() sets them
  std::vector<Value> all_;   ///< [vertex], at rank 0

 private:
  Values::Form form_;
  int digits_;
};

/// The same where values are labels, each a vertex that stands for a group.
class LabelKernel : public VertexKernel<PlainId> {
 public:
  /// `one`, `several`: what a group is called.
  LabelKernel(const char* one, const char* several)
      : VertexKernel(Values::Form::vertex, 0), one_(one), several_(several) {}

  report::Answer answer(const AnsweredRun& run) override { return group_answer(run, mine_, one_, several_); }

 private:
  const char* one_;
  const char* several_;
};

}  // namespace edgewire::runs
