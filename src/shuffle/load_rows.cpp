// This file has the part of LoadJob that turns sorted edges into rows of a graph file, or of parts.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "base/mapped_file.h"
#include "edgewire/graph.h"
#include "graph/file/builder.h"
#include "graph/file/sections.h"
#include "launch/packing.h"
#include "shuffle/edge_record.h"
#include "shuffle/load_job.h"

namespace edgewire::shuffle {

using graph::kBlockBytes;

/// Writes consecutive elements of one section.
class SectionWriter {
 public:
  /// Begins at element `first`, as it is numbered in the whole graph. `sections` outlives this.
  SectionWriter(GraphSections& sections, std::uint32_t section, std::uint64_t first)
      : sections_(sections), section_(section), block_(kBlockBytes) {
    const graph::Elements held = graph::elements_of(sections.header, section);
    const std::uint64_t byte =  // counted from the first of the section's pages
        graph::lead_of(sections.header.sections[section]) + (first - held.first) * held.bytes;
    number_ = byte / kBlockBytes;
    begin_ = filled_ = byte % kBlockBytes;
  }
  template <class Element>
  void put(Element element) {
    std::memcpy(&block_[filled_], &element, sizeof element);
    filled_ += sizeof element;
    if (filled_ == kBlockBytes) write_block();
  }
  /// Writes the rest.
  void finish() {
    if (filled_ > begin_) write_block();
  }

 private:
  void write_block();

  GraphSections& sections_;
  std::uint32_t section_;
  std::uint64_t number_ = 0;              ///< number of the block in the section
  std::uint64_t begin_ = 0, filled_ = 0;  ///< bytes [begin_, filled_) of the block are here
  std::vector<std::byte> block_;
};

void SectionWriter::write_block() {
  if (sections_.health->failed()) throw Error(sections_.health->message());
  const graph::SectionEntry& entry = sections_.header.sections[section_];
  const std::uint64_t start = number_ * kBlockBytes;
  const bool last = start + filled_ == graph::lead_of(entry) + entry.bytes;
  if (last) {
    std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), std::byte{0});
    filled_ = padded(filled_);
  }
  write_at(sections_.descriptor, sections_.path, &block_[begin_], filled_ - begin_,
           graph::pages_of(entry).offset + start + begin_);
  if (begin_ == 0 && (last || filled_ == kBlockBytes)) {
    const std::uint64_t block = graph::first_block(sections_.header, section_) + number_;
    sections_.checksums[block] = checksum(block_.data(), filled_);
    sections_.known[block] = 1;
  }
  ++number_;
  begin_ = filled_ = 0;
}

/// Calls take(edge) for the edges of a partition that stay, in order.
template <class Take>
void LoadJob::each_edge(int lane, std::uint32_t partition, const Take& take) {
  const bool simple = shape_.options.simple, weighted = shape_.options.weighted;
  EdgeRecord before;
  bool any = false;
  shuffle_->merge_partition(lane, partition, [&](const std::byte* record) {
    const EdgeRecord edge = load(record, weighted);
    const bool again = any && edge.source == before.source && edge.target == before.target;
    if (simple && (again || edge.source == edge.target)) return;
    before = edge;
    any = true;
    take(edge);
  });
}

/// Counts the edges. Where nothing is dropped, the numbers of records are known.
void LoadJob::count_edges(const Progress& progress) {
  const std::uint32_t first = shuffle_->first_partition();
  std::vector<std::uint64_t> mine(shuffle_->last_partition() - first);
  for (std::uint32_t p = 0; p < mine.size(); ++p) mine[p] = shuffle_->records(first + p);
  if (shape_.options.simple)
    each_partition("dropping duplicates", progress, [&](int lane, std::uint32_t partition) {
      std::uint64_t count = 0;
      each_edge(lane, partition, [&](const EdgeRecord&) { ++count; });
      mine[partition - first] = count;
    });
  edge_begins_.assign(1, 0);
  for (const auto& part : bootstrap_.allgather(launch::pack(mine)))
    for (const auto count : launch::unpack<std::uint64_t>(part, 0))
      edge_begins_.push_back(edge_begins_.back() + count);
  if (edge_begins_.back() > graph::kMaxEdges)
    throw Error(fmt::format("{} edges are more than the {} that are supported", edge_begins_.back(),
                            graph::kMaxEdges));
}

void LoadJob::open_output(std::uint32_t flags) {
  const graph::BuildOptions& options = shape_.options;
  const bool other_ids = renumbered_ || (shape_.first_id > 0 && vertices_ > 0);
  flags |= graph::flags_of(options, weights_) | (other_ids ? std::uint32_t{graph::kOriginalIds} : 0U);
  if (vertices_ > graph::kMaxVertices)
    throw Error(fmt::format("{} vertices are more than the {} that are supported{}", vertices_,
                            graph::kMaxVertices, graph::kMoreVertices));
  sections_.path = options_.output;
  sections_.health = &bootstrap_.health();
  options_.parts ? open_part(flags) : open_file(flags);
}

/// Opens the file, to which all processes write.
void LoadJob::open_file(std::uint32_t flags) {
  lay_out(graph::lay_out(vertices_, edge_begins_.back(), flags));
  std::string path;
  if (rank() == 0) {
    graph::note_size(shape_.options, vertices_, edge_begins_.back(), graph::file_bytes(sections_.header));
    output_ = options_.output.empty() ? OutputFile::nameless(options_.temp)
                                      : std::make_unique<OutputFile>(options_.output);
    output_->reserve(graph::file_bytes(sections_.header));
    sections_.descriptor = output_->descriptor();
    path = output_->path_for_others();
  }
  path = bootstrap_.allgather(path)[0];
  if (rank() == 0) return;
  shared_ = OpenFile(uninterrupted([&] { return open(path.c_str(), O_RDWR | O_CLOEXEC); }));
  if (shared_.descriptor() < 0)
    throw Error(fmt::format("{}: cannot write: {}", options_.output, reason(errno)));
  sections_.descriptor = shared_.descriptor();
}

void LoadJob::lay_out(const graph::Header& header) {
  sections_.header = header;
  sections_.checksums.assign(graph::first_block(header, graph::kSections), 0);
  sections_.known.assign(sections_.checksums.size(), 0);
}

std::uint64_t LoadJob::first_source(std::uint32_t partition) const {
  if (partition == 0) return 0;
  if (partition == partitions_) return std::max(end_id_, vertices_);
  return load_big_endian(shuffle_->splitters().splitter(partition - 1));
}

std::uint64_t LoadJob::first_vertex(std::uint32_t partition) const {
  return std::min(vertices_, vertex_of(first_source(partition)));
}

void LoadJob::write_partition(int lane, std::uint32_t partition) {
  graph::Weights(weights_.type(), nullptr, 0).visit([&]<class Number>(std::span<const Number>) {
    write_rows<Number>(lane, partition);
  });
  if (sections_.header.sections[graph::kIds].bytes == 0) return;
  if (!options_.parts) return write_ids(partition);
  const auto size = static_cast<std::uint32_t>(this->size()), own = partition - shuffle_->first_partition();
  // The partitions of all processes cover all ids.
  for (std::uint32_t any = own * size; any < (own + 1) * size; ++any) write_ids(any);
}

/// Writes the rows of a partition. Weights have the type Number in the file.
template <class Number>
void LoadJob::write_rows(int lane, std::uint32_t partition) {
  const std::uint64_t last = first_vertex(partition + 1);
  std::uint64_t vertex = first_vertex(partition), edge = edge_begins_[partition];
  SectionWriter offsets(sections_, graph::kOffsets, vertex);
  SectionWriter targets(sections_, graph::kTargets, edge);
  SectionWriter weights(sections_, graph::kWeights, edge);
  each_edge(lane, partition, [&](const EdgeRecord& next) {
    for (const std::uint64_t source = vertex_of(next.source); vertex <= source; ++vertex) offsets.put(edge);
    targets.put(static_cast<PlainId>(vertex_of(next.target)));
    if (shape_.options.weighted) weights.put(graph::weight_of(next.weight).as<Number>());
    ++edge;
  });
  for (; vertex < last; ++vertex) offsets.put(edge);
  if (partition + 1 == (options_.parts ? shuffle_->last_partition() : partitions_)) offsets.put(edge);
  offsets.finish();
  targets.finish();
  weights.finish();
}

void LoadJob::write_ids(std::uint32_t partition) {
  const std::uint64_t first = first_vertex(partition), last = first_vertex(partition + 1);
  SectionWriter ids(sections_, graph::kIds, first);
  if (renumbered_)
    ids_->visit(first_source(partition), first_source(partition + 1), [&](std::uint64_t id) { ids.put(id); });
  else
    for (std::uint64_t vertex = first; vertex < last; ++vertex) ids.put(vertex + shape_.first_id);
  ids.finish();
}

graph::BuildSummary LoadJob::finish() {
  refuse_changed_files();  // edges were read from these files
  options_.parts ? finish_part() : finish_file();
  const graph::Header& header = sections_.header;
  return {vertices_,
          header.edges,
          added_ - header.edges,
          file_bytes_,
          options_.parts ? header.part.graph_checksum : header.checksum,
          false,
          compacted_,
          weights_.type(),
          (header.flags & graph::kDoubtfulWeights) != 0};
}

/// Reads the blocks that have no checksum yet, and writes the table of checksums, with its own in the header.
void LoadJob::write_checksums() {
  const graph::Header& header = sections_.header;
  std::vector<std::byte> bytes(kBlockBytes);
  for (std::uint64_t block = 0; block < sections_.known.size(); ++block) {
    if (sections_.known[block] != 0) continue;
    const std::uint32_t section = graph::section_of(header, block);
    const std::uint64_t start = (block - graph::first_block(header, section)) * kBlockBytes;
    const graph::SectionEntry pages = graph::pages_of(header.sections[section]);
    const std::uint64_t size = std::min(kBlockBytes, pages.bytes - start);  // padding included
    read_at(sections_.descriptor, sections_.path, bytes.data(), size, pages.offset + start);
    sections_.checksums[block] = checksum(bytes.data(), size);
    sections_.known[block] = 1;
  }
  graph::write_checksums(*output_, sections_.header, sections_.checksums);
}

void LoadJob::finish_file() {
  struct Known {
    std::uint64_t block, checksum;
  };
  std::vector<Known> mine;
  for (std::uint64_t block = 0; block < sections_.known.size(); ++block)
    if (sections_.known[block] != 0) mine.push_back({block, sections_.checksums[block]});
  const auto parts = bootstrap_.gather(launch::pack(mine));
  graph::Header& header = sections_.header;
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (const Known& known : launch::unpack<Known>(parts[p], p)) {
      sections_.checksums[known.block] = known.checksum;
      sections_.known[known.block] = 1;
    }
  if (rank() == 0) {
    write_checksums();
    graph::write_header(*output_, header);
  }
  bootstrap_.allgather("written");
  file_bytes_ = graph::file_bytes(header);
}

// ---- a part for each process -------------------------------------------------------------------------

/// Returns whether this process is the first one that writes to its folder.
bool LoadJob::is_first_in_folder() {
  struct stat status {};
  if (stat(options_.output.c_str(), &status) != 0)
    throw Error(fmt::format("{}: cannot write: {}", options_.output, reason(errno)));
  const auto& nodes = bootstrap_.nodes();  // numbers of folders are unique within a host
  const auto node = nodes.empty() ? 0 : nodes[static_cast<std::size_t>(rank())];
  const std::vector<std::uint64_t> mine = {static_cast<std::uint64_t>(node), status.st_dev, status.st_ino};
  const auto all = launch::allgather(bootstrap_, mine);
  return std::ranges::find(all, mine) - all.begin() == rank();
}

void LoadJob::open_part(std::uint32_t flags) {
  const auto number = static_cast<std::uint32_t>(rank()), parts = static_cast<std::uint32_t>(size());
  const std::uint32_t first = shuffle_->first_partition(), last = shuffle_->last_partition();
  const graph::Extent own{first_vertex(first), first_vertex(last), edge_begins_[first], edge_begins_[last]};
  const bool holds_ids = is_first_in_folder() && (flags & graph::kOriginalIds) != 0;
  lay_out(graph::lay_out(vertices_, edge_begins_.back(), flags,
                         graph::PartEntry{number, parts, holds_ids ? 1U : 0U, 0, own, 0}));
  const std::uint64_t bytes = graph::file_bytes(sections_.header);
  file_bytes_ = launch::allreduce(bootstrap_, bytes, std::plus<>());
  if (number == 0) graph::note_size(shape_.options, vertices_, edge_begins_.back(), file_bytes_);
  sections_.path = fmt::format("{}/{}", options_.output, graph::part_name(number, parts));
  output_ = std::make_unique<OutputFile>(sections_.path);
  output_->reserve(bytes);
  sections_.descriptor = output_->descriptor();
}

void LoadJob::finish_part() {
  write_checksums();
  graph::Header& header = sections_.header;
  std::vector<graph::Header> parts;
  for (const auto& part : launch::allgather(bootstrap_, std::vector{header})) parts.push_back(part[0]);
  header.part.graph_checksum = graph::graph_checksum(parts);
  graph::write_header(*output_, header);
  bootstrap_.allgather("written");
}

void LoadJob::commit() {
  if (options_.parts) return commit_parts(bootstrap_, {&output_, 1}, *folder_);
  if (rank() == 0) output_->commit();
  bootstrap_.allgather("named");
}

}  // namespace edgewire::shuffle
