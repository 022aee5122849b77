// Ownership by a table, and the partition files that it is read from.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/output_file.h"
#include "base/output_folder.h"
#include "partition/column_addresses.h"
#include "partition/ownership.h"

namespace edgewire::partition {

/// Takes the owners of all vertices, one after the other.
class TableOwnership::Builder {
 public:
  explicit Builder(std::uint64_t vertices)
      : vertices_(vertices),
        file_(OutputFile::nameless(temporary_folder())),
        locals_(*file_, vertices * sizeof(VertexId), kBuffered),
        owners_(*file_, vertices * (sizeof(VertexId) + sizeof(LocalNumber)), kBuffered),
        counts_(kMaxProcesses) {
    file_->reserve(bytes());
  }
  void add(std::uint16_t owner) {
    if (counts_[owner] == kMostOfAProcess)
      throw Error(fmt::format("process {} would own more than {} vertices: use more processes", owner,
                              kMostOfAProcess));
    locals_.add(LocalNumber(counts_[owner]++));
    owners_.add(owner);
    ++added_;
  }
  std::uint64_t added() const noexcept { return added_; }
  /// Returns the number of vertices that each owner has so far.
  std::span<const std::uint32_t> counts() const noexcept { return counts_; }
  /// Makes the ownership, when all vertices have their owners, which are below `processes`.
  TableOwnership finish(std::uint32_t processes) {
    TableOwnership table;
    table.starts_.resize(processes + std::size_t{1});
    for (std::uint32_t p = 0; p < processes; ++p) table.starts_[p + 1] = table.starts_[p] + counts_[p];
    locals_.flush();
    owners_.flush();
    write_vertices(table.starts_);
    table.file_ = map();
    const std::uint8_t* const data = table.file_->data();
    const auto count = static_cast<std::size_t>(vertices_);
    table.vertices_ = std::span(reinterpret_cast<const VertexId*>(data), count);
    table.locals_ = std::span(reinterpret_cast<const LocalNumber*>(data + count * sizeof(VertexId)), count);
    table.owners_ = owners_in(*table.file_);
    return table;
  }

 private:
  static constexpr std::size_t kBuffered = 1 << 16;         ///< number of values to buffer
  static constexpr std::size_t kBufferedForEach = 1 << 10;  ///< number of values to buffer of each owner

  /// An array in a file that is written from front to back.
  template <class Value>
  class ArrayWriter {
   public:
    ArrayWriter(OutputFile& file, std::uint64_t offset, std::size_t buffered)
        : file_(&file), offset_(offset), buffered_(buffered) {}
    void add(Value value) {
      if (values_.empty()) values_.reserve(buffered_);
      values_.push_back(value);
      if (values_.size() == buffered_) flush();
    }
    void flush() {
      file_->write(values_.data(), values_.size() * sizeof(Value), offset_);
      offset_ += values_.size() * sizeof(Value);
      values_.clear();
    }

   private:
    OutputFile* file_;
    std::uint64_t offset_;
    std::size_t buffered_;
    std::vector<Value> values_;
  };

  std::uint64_t bytes() const noexcept {
    return vertices_ * (sizeof(VertexId) + sizeof(LocalNumber) + sizeof(std::uint16_t));
  }
  std::shared_ptr<const MappedFile> map() const {
    return std::make_shared<const MappedFile>(file_->path_for_others(), "the table of owners");
  }
  std::span<const std::uint16_t> owners_in(const MappedFile& file) const noexcept {
    return {reinterpret_cast<const std::uint16_t*>(file.data() +
                                                   vertices_ * (sizeof(VertexId) + sizeof(LocalNumber))),
            static_cast<std::size_t>(vertices_)};
  }
  void write_vertices(std::span<const std::uint64_t> starts) {
    std::vector<ArrayWriter<VertexId>> writers;
    for (const std::uint64_t start : starts.first(starts.size() - 1))
      writers.emplace_back(*file_, start * sizeof(VertexId), kBufferedForEach);
    const auto so_far = map();
    const auto owners = owners_in(*so_far);
    for (PlainId v = 0; v < owners.size(); ++v) writers[owners[v]].add(VertexId(v));
    for (auto& writer : writers) writer.flush();
  }

  std::uint64_t vertices_;
  std::unique_ptr<OutputFile> file_;
  ArrayWriter<LocalNumber> locals_;
  ArrayWriter<std::uint16_t> owners_;
  std::vector<std::uint32_t> counts_;
  std::uint64_t added_ = 0;
};

namespace {

/// Reads one number a line, at most `vertices` of them. Throws Error with the path and line.
void read_parts(const std::string& path, std::uint64_t vertices, TableOwnership::Builder& table) {
  std::error_code cause;
  if (const auto status = std::filesystem::status(path, cause); !std::filesystem::is_regular_file(status))
    throw Error(fmt::format("{}: cannot read the partition file: {}", path,
                            cause                                   ? reason(cause.value())
                            : std::filesystem::is_directory(status) ? "it is a folder"
                                                                    : "it is not a regular file"));
  std::ifstream in(path);
  while (!in && errno == EINTR) in.open(path);
  if (!in) throw Error(fmt::format("{}: cannot read the partition file: {}", path, reason(errno)));
  std::string line;
  while (std::getline(in, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    std::uint16_t part = 0;
    const auto [end, bad] = std::from_chars(line.data(), line.data() + line.size(), part);
    if (bad != std::errc{} || end != line.data() + line.size() || part >= kMaxProcesses)
      throw Error(fmt::format("{}: line {}: not a part from 0 to {}: '{:.40}'", path, table.added() + 1,
                              kMaxProcesses - 1, line));
    if (table.added() == vertices)
      throw Error(
          fmt::format("{}: line {}: more lines than the graph's {} vertices", path, vertices + 1, vertices));
    table.add(part);
  }
  if (in.bad()) throw Error(fmt::format("{}: cannot read the partition file: {}", path, reason(errno)));
  if (table.added() != vertices)
    throw Error(fmt::format("{}: {} lines for {} vertices", path, table.added(), vertices));
}

/// Throws Error unless every process has a vertex, or there are none. counts[part]: its number of vertices.
void check_parts(const std::string& path, std::span<const std::uint32_t> counts, int processes) {
  const auto last =
      std::find_if(counts.rbegin(), counts.rend(), [](std::uint32_t count) { return count > 0; });
  const auto made_for = static_cast<int>(counts.rend() - last);
  if (made_for == 0) return;
  if (made_for != processes)
    throw Error(fmt::format(
        "{}: {} part{} for {} process{}: start as many processes as there are parts, or make a partition "
        "into {}",
        path, made_for, made_for == 1 ? "" : "s", processes, processes == 1 ? "" : "es", processes));
  const auto used = counts.first(static_cast<std::size_t>(processes));
  if (const auto empty = std::ranges::find(used, 0U); empty != used.end())
    throw Error(fmt::format(
        "{}: no vertex is in part {} of {}: that process would have no work; make a partition without "
        "empty parts",
        path, empty - used.begin(), processes));
}

}  // namespace

Ownership Ownership::from_file(const std::string& path, std::uint64_t vertices, int processes) {
  TableOwnership::Builder table(vertices);
  read_parts(path, vertices, table);
  check_parts(path, table.counts(), processes);
  return {table.finish(static_cast<std::uint32_t>(processes)), vertices, processes};
}

}  // namespace edgewire::partition
