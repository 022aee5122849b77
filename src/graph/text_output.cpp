#include "graph/text_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <vector>

#include <unistd.h>

#include "base/error.h"
#include "graph/compress.h"

namespace edgewire::graph {

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
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw Error(fmt::format("stdout: cannot write: {}", reason(errno)));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void TextOutput::commit() {
  if (!file_) return;
  if (bytes_ == 0) append_packed(graph::packed(path_, {}));  // compressed, even nothing has some bytes
  file_->commit();
}

namespace {

/// Lets workers append one after the other.
class Turns {
 public:
  explicit Turns(TextOutput& output) : output_(output) {}

  /// Waits for the blocks before this one. After a failure it appends nothing.
  void append(std::uint64_t block, std::string_view text) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || next_ == block; });
    if (failed_) return;
    output_.append_packed(text);
    ++next_;
    changed_.notify_all();
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    changed_.notify_all();
  }

 private:
  TextOutput& output_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0;
  bool failed_ = false;
};

}  // namespace

void append_blocks(TextOutput& output, int workers, std::uint64_t count,
                   const std::function<void(std::uint64_t block, std::string& text)>& format,
                   const Progress& progress) {
  Turns turns(output);
  std::vector<std::string> texts(static_cast<std::size_t>(workers));
  parallel_for(
      workers, count,
      [&](int worker, std::uint64_t block) {
        try {
          std::string& text = texts[static_cast<std::size_t>(worker)];
          text.clear();
          format(block, text);
          text = output.packed(std::move(text));
          turns.append(block, text);
        } catch (...) {
          turns.fail();
          throw;
        }
      },
      "writing", progress);
}

RowBlocks::RowBlocks(const GraphFile& graph) : graph_(graph) { graph.verify_offsets(0, graph.vertices()); }

std::uint64_t RowBlocks::row_of(std::uint64_t position) const {
  std::uint64_t first = 0;
  std::uint64_t after = graph_.vertices();
  while (after - first > 1) {
    const std::uint64_t middle = first + (after - first) / 2;
    (graph_.offsets()[middle] + middle <= position ? first : after) = middle;
  }
  return first;
}

}  // namespace edgewire::graph
