#include "graph/graph_parts.h"

#include <dirent.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace edgewire::graph {

namespace {

/// Throws Error unless both are parts of one graph. `a` comes before `b`.
void check_fit(const GraphPart& a, const GraphPart& b) {
  const Header &one = a.header(), &other = b.header();
  if (one.vertices != other.vertices || one.edges != other.edges || one.flags != other.flags ||
      one.part.parts != other.part.parts || one.part.graph_checksum != other.part.graph_checksum)
    throw Error(fmt::format("{}: it is a part of another graph than {}", b.file().path(), a.file().path()));
  const Extent &before = a.extent(), &after = b.extent();
  const bool next = other.part.number == one.part.number + 1;
  if (next ? before.last_row != after.first_row || before.last_edge != after.first_edge
           : before.last_row > after.first_row || before.last_edge > after.first_edge)
    throw Error(fmt::format("{}: its rows do not follow those of {}", b.file().path(), a.file().path()));
}

}  // namespace

std::vector<std::string> part_names(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const entries = opendir(folder.c_str());
  if (entries == nullptr) throw Error(fmt::format("{}: cannot read: {}", folder, reason(errno)));
  while (const dirent* entry = readdir(entries))
    if (part_of_name(entry->d_name)) names.emplace_back(entry->d_name);
  closedir(entries);
  std::ranges::sort(names, {}, [](const std::string& name) { return part_of_name(name)->number; });
  return names;
}

std::vector<std::unique_ptr<GraphPart>> open_parts(const std::string& folder) {
  const auto names = part_names(folder);
  if (names.empty())
    throw Error(fmt::format("{}: it is a folder without a graph: there are no parts such as {}", folder,
                            part_name(0, 4)));
  const std::uint32_t count = part_of_name(names[0])->parts;
  for (const std::string& name : names)
    if (part_of_name(name)->parts != count)
      throw Error(fmt::format("{}: it holds parts of two conversions, such as {} and {}: remove those of one",
                              folder, names[0], name));
  std::vector<std::unique_ptr<GraphPart>> parts;
  for (const std::string& name : names) {
    parts.push_back(
        std::make_unique<GraphPart>(fmt::format("{}/{}", folder, name), "", GraphPart::Kind::part));
    const PartEntry& part = parts.back()->header().part;
    if (part.number != part_of_name(name)->number || part.parts != count)
      throw Error(fmt::format("{}: it is part {} under another name", parts.back()->file().path(),
                              part_name(part.number, part.parts)));
    if (parts.size() > 1) check_fit(*parts[parts.size() - 2], *parts.back());
  }
  return parts;
}

SectionSpace::SectionSpace(std::uint64_t bytes, const std::string& name) : name_(name), bytes_(bytes) {
  void* const found =
      mmap(nullptr, padded(bytes_ + 1), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) throw Error(fmt::format("{}: cannot map its parts: {}", name_, reason(errno)));
  data_ = static_cast<std::uint8_t*>(found);
}

SectionSpace::~SectionSpace() { munmap(data_, padded(bytes_ + 1)); }

/// Copies bytes [begin, end) of the section, which are at `from`, to pages of memory.
void SectionSpace::copy(const std::uint8_t* from, std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return;
  const std::uint64_t first = begin / kPageBytes * kPageBytes;
  if (mprotect(data_ + first, padded(end) - first, PROT_READ | PROT_WRITE) != 0)
    throw Error(fmt::format("{}: cannot map its parts: {}", name_, reason(errno)));
  std::memcpy(data_ + begin, from, end - begin);
  mprotect(data_ + first, padded(end) - first, PROT_READ);
}

SectionSpace::Addresses SectionSpace::add(GraphPart& part, std::uint32_t section) {
  const SectionEntry& entry = part.header().sections[section];
  const Elements held = elements_of(part.header(), section);
  const std::uint64_t first = held.first * held.bytes, end = first + entry.bytes;
  const std::uint64_t begin = std::max(first, covered_);  // neighbours share an offset
  if (begin >= end) return {data_, data_};
  covered_ = end;
  const std::uint64_t mapped = padded(begin);
  const std::uint64_t mapped_end = end == bytes_ ? padded(end) : end / kPageBytes * kPageBytes;
  const auto copy_bytes = [&](std::uint64_t from, std::uint64_t to) {
    copy(part.data(section) + (from - first), from, to);
  };
  if (mapped >= mapped_end) {
    copy_bytes(begin, end);
    return {data_, data_};
  }
  copy_bytes(begin, mapped);
  part.file().map_at(data_ + mapped, entry.offset + mapped - first, mapped_end - mapped);
  copy_bytes(std::min(mapped_end, end), end);
  return {data_ + mapped, data_ + mapped_end};
}

}  // namespace edgewire::graph
