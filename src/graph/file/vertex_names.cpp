#include "graph/file/vertex_names.h"

#include <fmt/core.h>

#include <cerrno>
#include <charconv>
#include <filesystem>

#include <unistd.h>

#include "base/checksum.h"
#include "base/error.h"
#include "graph/file/format.h"

namespace edgewire::graph {

namespace {

constexpr std::uint32_t kNamesPerStart = 16;
constexpr std::size_t kWriteBytes = 1 << 20;

std::string header_line(std::uint64_t count, std::uint64_t graph, std::uint64_t names) {
  return fmt::format("edgewire-labels 1 {} {:016x} {:016x}\n", count, graph, names);
}

std::string_view line_at(std::string_view text, std::uint64_t at) {
  return text.substr(at, text.find('\n', at) - at);
}

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.data()), file.bytes()};
}

}  // namespace

std::string labels_path(const std::string& graph_path) {
  std::error_code none;
  std::string beside = graph_path + ".labels";
  if (!std::filesystem::is_symlink(graph_path, none) || std::filesystem::exists(beside, none)) return beside;
  const auto target = std::filesystem::canonical(graph_path, none);
  return target.empty() ? beside : target.string() + ".labels";
}

VertexNames::VertexNames(const Graph& graph) : graph_(graph) {
  if (!graph.labelled()) return;
  const std::string beside = labels_path(graph.path());
  const std::string& path = graph.table().empty() ? beside : graph.table();
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT)
    throw Error(fmt::format("{}: the file is missing; it holds the names of the vertices of {}; copy it, too",
                            path, graph.path()));
  table_ = std::make_unique<MappedFile>(path, beside);
  check_table();
}

void VertexNames::check_table() {
  const std::string_view text = text_of(*table_);
  const std::string_view first = line_at(text, 0);
  const auto fail = [&](std::uint64_t line, std::string_view what) {
    refuse_changed_files();
    throw Error(fmt::format("{}: line {}: {}", table_->path(), line, what));
  };
  if (!first.starts_with("edgewire-labels 1 ") || first.size() == text.size())
    fail(1, "this is no table of vertex names, or it is cut short");
  // The header must be what it would be for this graph and these names.
  const std::string_view body = text.substr(first.size() + 1);
  const std::uint64_t checksum = edgewire::checksum(body.data(), body.size());
  const std::string expected = header_line(graph_.vertices(), graph_.checksum(), checksum);
  if (first != std::string_view(expected).substr(0, expected.size() - 1)) {
    const std::size_t names_field = expected.size() - 1 - 17;
    fail(1, first.substr(0, names_field) == std::string_view(expected).substr(0, names_field)
                ? "the table of names is damaged (its checksum differs)"
                : fmt::format("the table holds the names of another graph, not of {}", graph_.path()));
  }
  starts_.reserve(graph_.vertices() / kNamesPerStart + 1);
  std::uint64_t names = 0;
  for (std::size_t at = first.size() + 1; at < text.size(); ++names) {
    if (names % kNamesPerStart == 0) starts_.push_back(at);
    const std::size_t end = text.find('\n', at);
    if (end == at || end == text.npos) fail(names + 2, "a name is empty or cut short");
    at = end + 1;
  }
  if (names != graph_.vertices())
    fail(1 + names, fmt::format("the table has {} names for {} vertices", names, graph_.vertices()));
}

std::string_view VertexNames::label(VertexId vertex) const {
  const std::string_view text = text_of(*table_);
  std::uint64_t at = starts_[vertex / kNamesPerStart];
  for (std::uint64_t skip = vertex % kNamesPerStart; skip > 0; --skip) at = text.find('\n', at) + 1;
  return line_at(text, at);
}

void VertexNames::append(fmt::memory_buffer& text, VertexId vertex) const {
  if (labelled()) {
    const std::string_view name = label(vertex);
    text.append(name.data(), name.data() + name.size());
  } else {
    const fmt::format_int digits(graph_.original_id(vertex));
    text.append(digits.data(), digits.data() + digits.size());
  }
}

std::string VertexNames::operator()(VertexId vertex) const {
  return labelled() ? std::string(label(vertex)) : fmt::to_string(graph_.original_id(vertex));
}

std::optional<VertexId> VertexNames::find(std::string_view name) const {
  const std::uint64_t vertices = graph_.vertices();
  if (labelled()) {
    const std::string_view text = text_of(*table_);
    std::uint64_t at = vertices > 0 ? starts_[0] : 0;
    for (VertexId v{}; v < vertices; ++v) {
      const std::string_view found = line_at(text, at);
      if (found == name) return v;
      at += found.size() + 1;
    }
    return std::nullopt;
  }
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (!graph_.has_original_ids())
    return id < vertices ? std::optional(VertexId(static_cast<PlainId>(id))) : std::nullopt;
  for (VertexId v{}; v < vertices; ++v)
    if (graph_.original_id(v) == id) return v;
  return std::nullopt;
}

std::uint64_t write_labels(OutputFile& table, std::span<const std::string_view> names) {
  Checksum checksum;
  std::uint64_t offset = header_line(names.size(), 0, 0).size();
  std::string block;
  const auto put = [&] {
    checksum.add(block.data(), block.size());
    table.write(block.data(), block.size(), offset);
    offset += block.size();
    block.clear();
  };
  for (const std::string_view name : names) {
    block.append(name).push_back('\n');
    if (block.size() >= kWriteBytes) put();
  }
  put();
  return checksum.value();
}

void write_labels_header(OutputFile& table, std::uint64_t count, std::uint64_t graph_checksum,
                         std::uint64_t names_checksum) {
  const std::string line = header_line(count, graph_checksum, names_checksum);
  table.write(line.data(), line.size(), 0);
}

BuildSummary write_labelled(Builder& builder, OutputFile& output, OutputFile* table,
                            std::span<const std::string_view> names, std::uint32_t flags,
                            const Progress& progress) {
  if (output.nameless() && table == nullptr) return builder.write(output, {}, flags, progress);
  std::optional<OutputFile> beside;
  OutputFile& labels = table != nullptr ? *table : beside.emplace(labels_path(output.path()));
  const std::uint64_t checksum = write_labels(labels, names);
  const BuildSummary summary =
      builder.write(output, {}, flags | kLabels, progress, [&](std::uint64_t graph_checksum) {
        write_labels_header(labels, names.size(), graph_checksum, checksum);
        labels.prepare();
      });
  try {
    labels.commit();
  } catch (...) {
    output.remove_named();  // a graph without its table is of no use
    throw;
  }
  return summary;
}

}  // namespace edgewire::graph
