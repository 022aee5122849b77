#include "dense/job/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/output_file.h"
#include "launch/agreement.h"
#include "options/kernels.h"

namespace edgewire::job {
namespace {

constexpr std::string_view kFirstLine = "edgewire checkpoint 4";

constexpr std::size_t kIdWords = sizeof(VertexId) / sizeof(std::uint32_t);

std::size_t value_words(const Checkpointed& of) { return of.value_bytes / sizeof(std::uint32_t); }

/// Returns the computation and the graph in words.
std::string what(const Checkpointed& of) {
  return fmt::format("{}, graph {:016x} with {} vertices and {} edges", of.state, of.graph.checksum(),
                     of.graph.vertices(), of.graph.edges());
}

std::string values_path(const std::string& folder, std::uint64_t iteration, std::uint32_t rank) {
  return fmt::format("{}/values.{}.{}", folder, iteration, rank);
}
std::string ids_path(const std::string& folder, std::uint64_t run, std::uint32_t rank) {
  return fmt::format("{}/ids.{:016x}.{}", folder, run, rank);
}
std::string manifest_path(const std::string& folder) { return folder + "/manifest"; }

struct Manifest {
  std::string what;
  std::uint64_t run = 0;
  std::uint64_t iteration = 0;
  std::uint32_t processes = 0;

  std::string text() const {
    const std::string body = fmt::format("{}\n{}\nrun {:x} iteration {} processes {}\n", kFirstLine, what,
                                         run, iteration, processes);
    return fmt::format("{}{:016x}\n", body, checksum(body.data(), body.size()));
  }
};

Manifest read_manifest(const std::string& folder) {
  const std::string path = manifest_path(folder);
  if (std::error_code none; !std::filesystem::exists(path, none) && !none)
    throw Error(fmt::format("{}: there is no checkpoint", folder));
  const MappedFile file(path);
  constexpr std::uint64_t kMostBytes = 1 << 16;
  std::stringstream text(
      std::string(reinterpret_cast<const char*>(file.data()), std::min(file.bytes(), kMostBytes)));
  Manifest found;
  std::string first, run, iteration, processes;
  std::getline(text, first);
  std::getline(text, found.what);
  text >> run >> std::hex >> found.run >> iteration >> std::dec >> found.iteration >> processes >>
      found.processes;
  if (first != kFirstLine || !text || found.text() != text.str() || found.processes == 0)
    throw Error(fmt::format("{}: it is not a whole manifest of a checkpoint", path));
  return found;
}

/// Reads rank's file of this kind. Throws Error that names it when it is not whole or not of this checkpoint.
CheckpointPart read_part(const std::string& path, const Magic& magic, const Manifest& manifest,
                         std::uint32_t rank, std::uint64_t most) {
  auto part = read_checkpoint_file(path, magic, most);
  if (part.header.run != manifest.run || part.header.rank != rank ||
      part.header.processes != manifest.processes ||
      part.header.iteration != (magic == kIds ? 0 : manifest.iteration))
    throw Error(fmt::format("{}: it belongs to another checkpoint", path));
  return part;
}

}  // namespace

Checkpoint::Checkpoint(Checkpointed of, std::string folder, const std::string& resumed)
    : of_(std::move(of)), folder_(std::move(folder)), file_(value_words(of_) * of_.ids.size()) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw Error(fmt::format("{}: cannot make the folder: {}", folder_, reason(error.value())));
  const bool first = of_.bootstrap.rank() == 0;
  if (first) output_target(manifest_path(folder_));  // this may refuse the path
  if (first && std::filesystem::exists(manifest_path(folder_)) &&
      !(std::filesystem::exists(resumed) && std::filesystem::equivalent(resumed, folder_)))
    throw Error(fmt::format("{}: there is a checkpoint already ({} continues it)", folder_, opt::resume));
  run_ = launch::new_generation(of_.bootstrap);
}

CheckpointHeader Checkpoint::header(const Magic& magic, std::uint64_t iteration) const {
  return {magic, run_, iteration, static_cast<std::uint32_t>(of_.bootstrap.rank()),
          static_cast<std::uint32_t>(of_.bootstrap.size())};
}

void Checkpoint::start(std::uint64_t iteration, std::span<const std::byte> values,
                       const detail::PackedTotals& totals) {
  refuse_changed_files();
  auto head = header(kValues, iteration);
  head.totals = exchange::totals_as<CheckpointHeader::Totals>(totals);
  file_.fill(head, values);
  last_ = iteration;
  ++started_;
  iterations_.push_back(iteration);
  writing_ = std::async(std::launch::async, [this] { write(); });
}

/// Runs in a thread of its own. No other one touches file_ and iterations_ until written() has seen its end.
void Checkpoint::write() {
  of_.pool.unpin_this_thread();
  const auto rank = static_cast<std::uint32_t>(of_.bootstrap.rank());
  if (iterations_.size() == 1) {
    CheckpointFile ids(kIdWords * of_.ids.size());
    ids.fill(header(kIds, 0), std::as_bytes(of_.ids));
    ids.write(ids_path(folder_, run_, rank), "");
  }
  // Rank 0 has named the one before the last, or is about to: the manifest names that one or a later one.
  std::string old;
  if (iterations_.size() > 3) {
    old = values_path(folder_, iterations_.front(), rank);
    iterations_.erase(iterations_.begin());
  }
  file_.write(values_path(folder_, last_, rank), old);
}

std::uint64_t Checkpoint::written(bool wait) {
  if (writing_.valid() && (wait || writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready))
    writing_.get();
  return writing_.valid() ? started_ - 1 : started_;
}

void Checkpoint::step(std::uint64_t iteration, std::uint64_t every, std::span<const std::byte> values) {
  const bool is_next = iteration % every == 0;
  if (committed_ < started_) {
    const bool here = written(is_next) == started_;
    const auto said = of_.bootstrap.allgather(here ? "kept" : "");
    if (std::ranges::find(said, "") == said.end()) {
      if (of_.bootstrap.rank() == 0) commit();
      committed_ = started_;
    }
  }
  if (is_next) start(iteration, values);
}

void Checkpoint::finish() {
  if (started_ == 0) return;
  written(true);
  of_.bootstrap.allgather("");
  if (of_.bootstrap.rank() == 0 && committed_ < started_) commit();
}

void Checkpoint::commit() {
  const Manifest manifest{what(of_), run_, last_, static_cast<std::uint32_t>(of_.bootstrap.size())};
  const std::string text = manifest.text();
  OutputFile file(manifest_path(folder_));
  file.write(text.data(), text.size(), 0);
  file.commit();
  committed_ = started_;
}

ResumedState resume(const Checkpointed& of, const std::string& folder) {
  const Manifest manifest = read_manifest(folder);
  for (const std::string& other : of.bootstrap.allgather(manifest.text()))
    if (other != manifest.text())
      throw Error(fmt::format("{}: the processes see different checkpoints", folder));
  if (manifest.what != what(of))
    throw Error(fmt::format("{}: the checkpoint is of another computation: {}; this run: {}", folder,
                            manifest.what, what(of)));
  ResumedState state;
  state.iteration = manifest.iteration;
  const auto rank = static_cast<std::uint32_t>(of.bootstrap.rank());
  const std::uint64_t vertices = of.graph.vertices();
  const std::size_t words = value_words(of);
  const auto ids_of = [&](std::uint32_t process) {
    const std::string path = ids_path(folder, manifest.run, process);
    const auto items = read_part(path, kIds, manifest, process, kIdWords * vertices).items;
    if (items.size() % kIdWords != 0) throw Error(fmt::format("{}: it is not a part of a checkpoint", path));
    std::vector<PlainId> ids(items.size() / kIdWords);
    if (!ids.empty()) std::memcpy(ids.data(), items.data(), ids.size() * sizeof(PlainId));
    return ids;
  };
  const auto values_of = [&](std::uint32_t process, std::size_t count) {
    const std::string path = values_path(folder, manifest.iteration, process);
    auto part = read_part(path, kValues, manifest, process, words * vertices);
    if (part.items.size() != words * count)
      throw Error(fmt::format("{}: it belongs to another checkpoint", path));
    return part;
  };
  if (rank < manifest.processes) {
    if (const auto ids = ids_of(rank); std::ranges::equal(ids, of.ids)) {
      auto part = values_of(rank, ids.size());
      state.words = std::move(part.items);
      state.totals = exchange::totals_of(part.header.totals);
      state.has_totals = true;
      return state;
    }
  }
  state.words.resize(words * of.ids.size());
  std::vector<std::uint32_t> by_id(of.ids.size());  // indexes by id
  std::iota(by_id.begin(), by_id.end(), 0U);
  const auto id_of = [&](std::uint32_t i) { return of.ids[i]; };
  if (!std::ranges::is_sorted(of.ids)) std::ranges::sort(by_id, {}, id_of);
  std::vector<bool> found(of.ids.size());
  std::size_t missing = of.ids.size();
  for (std::uint32_t process = 0; missing > 0 && process < manifest.processes; ++process) {
    const auto ids = ids_of(process);
    const auto values = values_of(process, ids.size()).items;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] >= vertices)
        throw Error(
            fmt::format("{}: it is not a part of a checkpoint", ids_path(folder, manifest.run, process)));
      const auto place = std::ranges::lower_bound(by_id, ids[i], {}, id_of);
      if (place == by_id.end() || id_of(*place) != ids[i] || found[*place]) continue;
      const std::uint32_t at = *place;
      found[at] = true;
      std::copy_n(&values[words * i], words, &state.words[words * at]);
      --missing;
    }
  }
  if (missing > 0) throw Error(fmt::format("{}: the checkpoint does not hold all vertices", folder));
  return state;
}

}  // namespace edgewire::job
