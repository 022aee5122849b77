#include "disk/memory_budget.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "disk/read_probe.h"
#include "options/kernels.h"

namespace edgewire::disk {

namespace {

/// Returns the text of a number of bytes, as --memory takes it.
std::string to_text(std::uint64_t bytes) {
  constexpr std::uint64_t kUnit = 1 << 20;
  return fmt::format("{}M", (bytes + kUnit - 1) / kUnit);
}

}  // namespace

MemoryBudget::MemoryBudget(std::uint64_t memory_bytes, const VertexBytes& bytes, const VertexCounts& vertices)
    : ample_(memory_bytes == 0) {
  if (ample_) return;
  const std::uint64_t needed = bytes.owned * vertices.owned + bytes.other * vertices.other;
  if (needed > memory_bytes)
    throw Error(fmt::format(
        "{} does not suffice: a process needs at least {} for its {} vertices{}; give at least that, or more "
        "processes",
        opt::memory(to_text(memory_bytes)), to_text(needed), vertices.owned,
        vertices.other == 0 ? ""
                            : fmt::format(" and the {} of others that its edges lead to", vertices.other)));
  rest_ = memory_bytes - needed;
}

std::uint64_t MemoryBudget::read_ahead(std::uint64_t workers) const noexcept {
  return ample_ ? kReadAhead : std::clamp<std::uint64_t>(rest_ / 4 / workers, kLeastReadAhead, kReadAhead);
}

}  // namespace edgewire::disk
