#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <vector>

#include <unistd.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/search.h"
#include "graph/file/vertex_names.h"
#include "graph/read/text_lines.h"
#include "graph/write/compress.h"
#include "graph/write/writers.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

void append_number(std::string& text, std::uint64_t number) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

/// Appends a line for each edge. append_vertex(text, vertex) appends what the file calls a vertex;
/// see(vertex) is called for both ends of each edge. Several workers call them.
template <class AppendVertex, class See>
void append_edges(TextOutput& output, const Export& task, char separator, const AppendVertex& append_vertex,
                  const See& see) {
  const Graph& graph = task.graph;
  const RowBlocks blocks(graph);
  append_blocks(output, task, blocks.count(), [&](std::uint64_t block, std::string& text) {
    std::string source_text;
    std::uint64_t source = graph.vertices();
    blocks.visit(block, [&](PlainId row, std::uint64_t index) {
      if (row != source) {
        source = row;
        source_text.clear();
        append_vertex(source_text, VertexId(row));
        source_text += separator;
        see(VertexId(row));
      }
      const VertexId target = graph.targets()[index];
      see(target);
      text += source_text;
      append_vertex(text, target);
      if (task.weights) append_text(text += separator, graph.weights().at(index));
      text += '\n';
    });
  });
}

auto numbers_from(std::uint64_t first_id) {
  return [first_id](std::string& text, VertexId vertex) { append_number(text, vertex + first_id); };
}

/// Appends a name to a line whose fields are separated by blanks, and where nothing can be quoted.
void append_plain(std::string& text, std::string_view name, const std::string& path) {
  if (name.find_first_of(" \t,\"") != name.npos || comment_of(name) != Comment::none)
    throw Error(
        fmt::format("{}: an edge list cannot hold the name '{}', which has a blank, a comma or a double "
                    "quote or begins as a comment does: write .csv or .tsv",
                    path == "-" ? "stdout" : path, name));
  text += name;
}

/// Throws Error where readers would take the list of names for something else because of its beginning.
void check_beginning(const Export& task, const VertexNames& names) {
  constexpr std::size_t kEnough = 4096;
  if (!names.labelled()) return;
  std::string start;
  const RowBlocks blocks(task.graph);
  for (std::uint64_t block = 0; block < blocks.count() && start.size() < kEnough; ++block)
    blocks.visit(block, [&](PlainId row, std::uint64_t index) {
      if (start.size() >= kEnough) return;
      start += fmt::format("{} {}\n", names.label(VertexId(row)), names.label(task.graph.targets()[index]));
    });
  if (const std::string other = mistaken_for(start); !other.empty())
    throw Error(
        fmt::format("{}: an edge list that begins with '{}' is taken for {} by readers: write .csv or .tsv",
                    task.output == "-" ? "stdout" : task.output, start.substr(0, start.find('\n')), other));
}

/// Appends a line for each edge, with the names of vertices as in results. append_name(text, name) appends a
/// name from the table of names. Returns how many vertices have no edge.
template <class AppendName>
std::uint64_t append_named_edges(TextOutput& output, const Export& task, const VertexNames& names,
                                 char separator, const AppendName& append_name) {
  Bits seen(task.graph.vertices());
  append_edges(
      output, task, separator,
      [&](std::string& text, VertexId vertex) {
        if (names.labelled())
          append_name(text, names.label(vertex));
        else
          append_number(text, task.graph.original_id(vertex));
      },
      [&](VertexId vertex) { seen.set(vertex); });
  std::uint64_t lost = task.graph.vertices();
  for (const Bits::Word word : seen.all_words()) lost -= static_cast<unsigned>(std::popcount(word));
  return lost;
}

/// Appends a line for each edge, with numbers from 0 on. Returns how many vertices at the end have no edge.
std::uint64_t append_numbered_edges(TextOutput& output, const Export& task) {
  std::atomic<std::uint64_t> used{0};  // read after the workers have ended
  append_edges(output, task, ' ', numbers_from(0), [&](VertexId vertex) {
    std::uint64_t known = used.load(std::memory_order_relaxed);
    while (known <= vertex &&
           !used.compare_exchange_weak(known, vertex + std::uint64_t{1}, std::memory_order_relaxed)) {
    }
  });
  return task.graph.vertices() - used.load(std::memory_order_relaxed);
}

/// The largest weight of METIS, which counts with signed numbers of 32 bits unless it is built otherwise.
constexpr std::uint64_t kMostWeight = (std::uint64_t{1} << 31) - 1;

/// Checks whether METIS can take the graph as it is, and throws Error if not.
void check_undirected(const Export& task, const RowBlocks& blocks) {
  const Graph& graph = task.graph;
  std::atomic<std::uint64_t> asymmetry{0}, surplus{0};  // read after the workers have ended
  parallel_for(task.workers, blocks.count(), "checking", task.progress, [&](int, std::uint64_t block) {
    std::uint64_t difference = 0, loops_and_duplicates = 0;
    blocks.visit(block, [&](PlainId row, std::uint64_t index) {
      const PlainId target = graph.targets()[index];
      const Weight weight = task.weights ? graph.weights().at(index) : Weight();
      difference += edge_hash(row, target, weight) - edge_hash(target, row, weight);
      const bool duplicate = index > graph.offsets()[row] && target == graph.targets()[index - 1];
      if (target == row || duplicate) ++loops_and_duplicates;
      if (task.weights && !(weight.is_whole() && weight.bits() >= 1 && weight.bits() <= kMostWeight))
        throw Error(fmt::format(
            "{}: METIS takes weights that are whole numbers from 1 to 2147483647, but the edge from "
            "vertex {} to {} weighs {}{}",
            task.output, row + 1, target + std::uint64_t{1}, to_text(weight),
            opt::no_weights.hint("; {} leaves weights out")));
    });
    asymmetry.fetch_add(difference, std::memory_order_relaxed);
    surplus.fetch_add(loops_and_duplicates, std::memory_order_relaxed);
  });
  const char* wrong = nullptr;
  if (surplus.load(std::memory_order_relaxed) != 0) wrong = "has self loops or duplicate edges";
  if (asymmetry.load(std::memory_order_relaxed) != 0) wrong = "is directed";
  if (wrong == nullptr) return;
  throw Error(
      fmt::format("{}: METIS takes undirected graphs without self loops and duplicate edges, but this graph "
                  "{}; convert it with {} {}",
                  task.output, wrong, opt::undirected, opt::simple));
}

}  // namespace

WriteSummary write_gap_text(const Export& task) {
  TextOutput output(task.output);
  WriteSummary summary{task.graph.edges()};
  if (task.names) {
    const VertexNames names(task.graph);
    check_beginning(task, names);
    summary.lost_vertices = append_named_edges(
        output, task, names, ' ',
        [&](std::string& text, std::string_view name) { append_plain(text, name, task.output); });
  } else {
    summary.first_id = 0;
    summary.lost_vertices = append_numbered_edges(output, task);
  }
  summary.bytes = output.commit();
  return summary;
}

WriteSummary write_table(const Export& task, char separator) {
  TextOutput output(task.output);
  output.append(task.weights ? fmt::format("source{0}target{0}weight\n", separator)
                             : fmt::format("source{}target\n", separator));
  const std::uint64_t lost = append_named_edges(
      output, task, VertexNames(task.graph), separator,
      [&](std::string& text, std::string_view name) { append_name(text, name, separator); });
  return {task.graph.edges(), output.commit(), {}, lost};
}

WriteSummary write_matrix_market(const Export& task) {
  const std::uint64_t vertices = task.graph.vertices();
  TextOutput output(task.output);
  output.append(fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n",
                            !task.weights                           ? "pattern"
                            : is_whole(task.graph.weights().type()) ? "integer"
                                                                    : "real",
                            vertices, vertices, task.graph.edges()));
  append_edges(output, task, ' ', numbers_from(1), [](VertexId) {});
  return {task.graph.edges(), output.commit(), 1, 0};
}

TextOutput::TextOutput(const std::string& path) : path_(path) {
  check_packed_ending(path);
  if (path != "-") file_.emplace(path);
}

std::string TextOutput::packed(std::string text) const {
  return text.empty() ? text : graph::packed(path_, std::move(text));
}

void TextOutput::append_packed(std::string_view text) {
  if (file_) file_->write(text.data(), text.size(), bytes_);
  bytes_ += text.size();
  if (file_) return;
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(fmt::format("stdout: cannot write: {}", reason(errno)));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::uint64_t TextOutput::commit() {
  refuse_changed_files();
  if (!file_) return bytes_;
  // Even an empty text has some bytes when it is compressed.
  if (bytes_ == 0) append_packed(graph::packed(path_, {}));
  file_->commit();
  return bytes_;
}

void append_blocks(TextOutput& output, const Export& task, std::uint64_t count,
                   const std::function<void(std::uint64_t block, std::string& text)>& format) {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t next = 0;  // block that is appended next; count: none, after a failure
  std::vector<std::string> texts(static_cast<std::size_t>(task.workers));
  parallel_for(task.workers, count, "writing", task.progress, [&](int worker, std::uint64_t block) {
    try {
      std::string& text = texts[static_cast<std::size_t>(worker)];
      text.clear();
      format(block, text);
      text = output.packed(std::move(text));
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return next == block || next == count; });
      if (next == count) return;
      output.append_packed(text);
      ++next;
    } catch (...) {
      const std::lock_guard lock(mutex);
      next = count;
      changed.notify_all();
      throw;
    }
    changed.notify_all();
  });
}

RowBlocks::RowBlocks(const Graph& graph) : graph_(graph) { graph.verify_offsets(0, graph.vertices()); }

std::uint64_t RowBlocks::row_of(std::uint64_t position) const {
  const auto is_behind = [&](std::uint64_t row) { return graph_.offsets()[row] + row > position; };
  return first_of(std::uint64_t{0}, graph_.vertices(), is_behind) - 1;
}

WriteSummary write_metis(const Export& task) {
  const Graph& graph = task.graph;
  const RowBlocks blocks(graph);
  TextOutput output(task.output);
  check_undirected(task, blocks);
  output.append(fmt::format("{} {}{}\n", graph.vertices(), graph.edges() / 2, task.weights ? " 001" : ""));
  append_blocks(output, task, blocks.count(), [&](std::uint64_t block, std::string& text) {
    const auto put = [&](PlainId row, std::uint64_t index) {
      if (index > graph.offsets()[row]) text += ' ';
      append_number(text, graph.targets()[index] + std::uint64_t{1});
      if (task.weights) append_number(text += ' ', graph.weights().at(index).bits());
    };
    blocks.visit(block, put, [&](PlainId) { text += '\n'; });
  });
  return {graph.edges(), output.commit(), 1, 0};
}

}  // namespace edgewire::graph
