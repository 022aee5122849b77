#include "channel/region_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/error.h"
#include "launch/packing.h"

namespace edgewire::channel {
namespace {

/// The facts that a peer is told of a part that it may write to.
struct Told {
  std::array<char, 24> name{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Told) == 40);

std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Returns the name of a part, which ends within its field, whatever the peer has sent.
std::string_view name_of(const Told& part) {
  return {part.name.data(), static_cast<std::size_t>(std::ranges::find(part.name, '\0') - part.name.begin())};
}

}  // namespace

std::size_t RegionPlan::add(const std::string& name, std::vector<std::size_t> bytes, std::size_t alignment) {
  if (name.size() >= Told{}.name.size() || bytes.size() != size_ || alignment == 0 || 4096 % alignment != 0)
    throw Error(fmt::format("part '{}' of the region: wrong name, sizes or alignment", name));
  parts_.push_back({name, std::move(bytes), alignment});
  return parts_.size() - 1;
}

Region RegionPlan::expose(launch::Bootstrap& bootstrap, transport::Transport& link) const {
  Region region;
  region.parts_ = parts_.size();
  std::size_t end = 0;
  std::vector<Region::Place> whole;  // all parts of a peer, by peer
  std::vector<std::string> messages;
  for (std::size_t p = 0; p < size_; ++p) {
    const std::size_t begin = end = round_up(end, 64);
    std::vector<Told> told;
    for (const Part& part : parts_) {
      const std::size_t offset = round_up(end, part.alignment);
      end = offset + part.bytes[p];
      region.here_.push_back({offset, part.bytes[p]});
      told.push_back({{}, offset, part.bytes[p]});
      std::ranges::copy(part.name, told.back().name.begin());
    }
    whole.push_back({begin, end - begin});
    messages.push_back(launch::pack(told));
  }
  region.bytes_ = link.expose(std::max<std::size_t>(end, 1), whole);
  const auto blobs = bootstrap.allgather(link.blob());
  const auto answers = bootstrap.alltoall(messages);
  for (std::size_t p = 0; p < size_; ++p) {
    const auto told = launch::unpack<Told>(answers[p], p);
    for (std::size_t i = 0; i < std::max(told.size(), parts_.size()); ++i) {
      const std::string_view theirs = i < told.size() ? name_of(told[i]) : "none";
      const std::string_view ours = i < parts_.size() ? std::string_view(parts_[i].name) : "none";
      if (theirs != ours)
        throw Error(fmt::format("rank {} has another part {} in its region: '{}' against '{}' here", p, i,
                                theirs, ours));
      region.there_.push_back({told[i].offset, told[i].bytes});
    }
  }
  link.connect(blobs);
  return region;
}

}  // namespace edgewire::channel
