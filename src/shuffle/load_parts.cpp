// The part of LoadJob that writes a part of the graph for each process.
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "graph/builder.h"
#include "graph/graph_file.h"
#include "graph/graph_parts.h"
#include "launch/packing.h"
#include "shuffle/load_job.h"

namespace edgewire::shuffle {

/// Rows and edges of this process's partitions.
graph::Extent LoadJob::own_extent() const {
  const std::uint32_t first = shuffle_->first_partition(), last = shuffle_->last_partition();
  return {first_vertex(first), first_vertex(last), edge_begins_[first], edge_begins_[last]};
}

/// Whether this process is the first one that writes to its folder.
bool LoadJob::is_first_in_folder() {
  struct stat status {};
  if (stat(options_.output.c_str(), &status) != 0)
    throw Error(fmt::format("{}: cannot write: {}", options_.output, reason(errno)));
  const auto& nodes = bootstrap_.nodes();  // numbers of folders are those of a host
  const auto node = nodes.empty() ? 0 : nodes[static_cast<std::size_t>(rank())];
  const std::vector<std::uint64_t> mine = {static_cast<std::uint64_t>(node), status.st_dev, status.st_ino};
  const auto all = launch::allgather(bootstrap_, mine);
  return std::ranges::find(all, mine) - all.begin() == rank();
}

void LoadJob::open_part(std::uint32_t flags) {
  const auto number = static_cast<std::uint32_t>(rank()), parts = static_cast<std::uint32_t>(size());
  const bool holds_ids = is_first_in_folder() && (flags & graph::kOriginalIds) != 0;
  lay_out(graph::lay_out_part(vertices_, edge_begins_.back(), flags,
                              {number, parts, holds_ids ? 1U : 0U, 0, own_extent(), 0}));
  const std::uint64_t bytes = graph::file_bytes(sections_.header);
  file_bytes_ = launch::allreduce(bootstrap_, bytes, std::plus<>());
  if (number == 0) graph::note_size(shape_.options, vertices_, edge_begins_.back(), file_bytes_);
  sections_.path = fmt::format("{}/{}", options_.output, graph::part_name(number, parts));
  output_ = std::make_unique<OutputFile>(sections_.path);
  output_->reserve(bytes);
  sections_.descriptor = output_->descriptor();
}

/// Parts get their names when all are whole. When one gets none, the others lose theirs.
void LoadJob::finish_part() {
  write_checksums();
  graph::Header& header = sections_.header;
  std::vector<graph::Header> parts;
  for (const auto& part : launch::allgather(bootstrap_, std::vector{header})) parts.push_back(part[0]);
  header.part.graph_checksum = graph::graph_checksum(parts);
  graph::write_header(*output_, header);
  bootstrap_.allgather("written");
  bool named = false;
  try {
    output_->commit();
    named = true;
    bootstrap_.allgather("named");
  } catch (...) {
    if (named) output_->remove_named();
    throw;
  }
  folder_->keep();
}

/// Another process that refuses to run may have removed the folder again.
void LoadJob::refuse_parts() const {
  if (!graph::is_folder(options_.output) || graph::part_names(options_.output).empty()) return;
  throw Error(fmt::format("{}: it holds parts of an earlier conversion: remove them, or name another folder",
                          options_.output));
}

}  // namespace edgewire::shuffle
