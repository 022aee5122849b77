#include "job/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "error.h"
#include "graph/checksum.h"
#include "graph/mapped_file.h"
#include "graph/output_file.h"
#include "graph/output_target.h"
#include "launch/agreement.h"

namespace edgewire::job {
namespace {

constexpr std::string_view kFirstLine = "edgewire checkpoint 4";

/// Words of a file that hold a value.
constexpr std::size_t kValueWords = sizeof(double) / sizeof(std::uint32_t);

std::vector<double> as_values(std::span<const std::uint32_t> words) {
  std::vector<double> values(words.size() / kValueWords);
  std::memcpy(values.data(), words.data(), values.size() * sizeof(double));
  return values;
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
    return fmt::format("{}{:016x}\n", body, graph::checksum(body.data(), body.size()));
  }
};

Manifest read_manifest(const std::string& folder) {
  const std::string path = manifest_path(folder);
  if (std::error_code none; !std::filesystem::exists(path, none) && !none)
    throw Error(fmt::format("{}: no checkpoint there", folder));
  const graph::MappedFile file(path);
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
    throw Error(fmt::format("{}: not a whole manifest of a checkpoint", path));
  return found;
}

/// Rank's file of this kind. Throws Error that names it when it is not whole or not of this checkpoint.
CheckpointPart read_part(const std::string& path, const Magic& magic, const Manifest& manifest,
                         std::uint32_t rank, std::uint64_t most) {
  auto part = read_checkpoint_file(path, magic, most);
  if (part.header.run != manifest.run || part.header.rank != rank ||
      part.header.processes != manifest.processes ||
      part.header.iteration != (magic == kIds ? 0 : manifest.iteration))
    throw Error(fmt::format("{}: belongs to another checkpoint", path));
  return part;
}

}  // namespace

Checkpoint::Checkpoint(launch::Bootstrap& bootstrap, DenseJob& job, std::string folder, std::string what,
                       const std::string& resumed)
    : bootstrap_(bootstrap),
      job_(job),
      folder_(std::move(folder)),
      what_(std::move(what)),
      file_(kValueWords * job.owned().count()) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw Error(fmt::format("{}: cannot make the folder: {}", folder_, error.message()));
  if (bootstrap.rank() == 0) graph::output_target(manifest_path(folder_));  // may refuse
  if (bootstrap.rank() == 0 && std::filesystem::exists(manifest_path(folder_)) &&
      !(std::filesystem::exists(resumed) && std::filesystem::equivalent(resumed, folder_)))
    throw Error(fmt::format("{}: there is a checkpoint already (--resume continues it)", folder_));
  run_ = launch::new_generation(bootstrap);
}

CheckpointHeader Checkpoint::header(const Magic& magic) const {
  return {.magic = magic,
          .run = run_,
          .rank = static_cast<std::uint32_t>(bootstrap_.rank()),
          .processes = static_cast<std::uint32_t>(bootstrap_.size())};
}

void Checkpoint::start(std::uint64_t iteration, std::span<const double> values,
                       const exchange::Totals& totals) {
  graph::refuse_changed_files();
  auto head = header(kValues);
  head.iteration = iteration;
  head.totals = exchange::totals_as<CheckpointHeader::Totals>(totals);
  file_.fill(head, std::as_bytes(values));
  last_ = iteration;
  ++started_;
  iterations_.push_back(iteration);
  writing_ = std::async(std::launch::async, [this] { write(); });
}

/// In a thread of its own; nobody else touches file_ and iterations_ until kept() has seen its end.
void Checkpoint::write() {
  job_.pool().unpin_this_thread();
  const auto rank = static_cast<std::uint32_t>(bootstrap_.rank());
  if (iterations_.size() == 1) {
    CheckpointFile ids(job_.owned().count());
    ids.fill(header(kIds), std::as_bytes(job_.owned().ids()));
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

std::uint64_t Checkpoint::kept(bool wait) {
  if (writing_.valid() && (wait || writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready))
    writing_.get();
  return writing_.valid() ? started_ - 1 : started_;
}

void Checkpoint::finish() {
  if (started_ == 0) return;
  kept(true);
  bootstrap_.allgather("");
  if (bootstrap_.rank() == 0 && committed_ < started_) commit();
}

void Checkpoint::commit() {
  const Manifest manifest{what_, run_, last_, static_cast<std::uint32_t>(bootstrap_.size())};
  const std::string text = manifest.text();
  graph::OutputFile file(manifest_path(folder_));
  file.write(text.data(), text.size(), 0);
  file.commit();
  committed_ = started_;
}

ResumedState resume(launch::Bootstrap& bootstrap, const std::string& folder, const std::string& what,
                    const DenseJob& job) {
  const Manifest manifest = read_manifest(folder);
  for (const std::string& other : bootstrap.allgather(manifest.text()))
    if (other != manifest.text())
      throw Error(fmt::format("{}: the processes see different checkpoints", folder));
  if (manifest.what != what)
    throw Error(fmt::format("{}: a checkpoint of something else: {}; now: {}", folder, manifest.what, what));
  ResumedState state;
  state.iteration = manifest.iteration;
  const auto rank = static_cast<std::uint32_t>(bootstrap.rank());
  const auto& owned = job.owned();
  const std::uint64_t vertices = job.graph().vertices();
  const auto ids_of = [&](std::uint32_t of) {
    return read_part(ids_path(folder, manifest.run, of), kIds, manifest, of, vertices).items;
  };
  const auto values_of = [&](std::uint32_t of, std::size_t count) {
    const std::string path = values_path(folder, manifest.iteration, of);
    auto part = read_part(path, kValues, manifest, of, kValueWords * vertices);
    if (part.items.size() != kValueWords * count)
      throw Error(fmt::format("{}: belongs to another checkpoint", path));
    return part;
  };
  if (rank < manifest.processes) {
    if (const auto ids = ids_of(rank); std::ranges::equal(ids, owned.ids())) {
      auto part = values_of(rank, ids.size());
      state.values = as_values(part.items);
      state.totals = exchange::totals_of(part.header.totals);
      state.has_totals = true;
      return state;
    }
  }
  state.values.resize(owned.count());
  std::vector<bool> found(owned.count());
  for (std::uint32_t other = 0; other < manifest.processes; ++other) {
    const auto ids = ids_of(other);
    const auto values = as_values(values_of(other, ids.size()).items);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] >= vertices)
        throw Error(fmt::format("{}: not a part of a checkpoint", ids_path(folder, manifest.run, other)));
      const plan::Place place = job.ownership().place(VertexId(ids[i]));
      if (place.owner != rank) continue;
      const OwnedIndex index = owned.indexes()[place.local];
      state.values[index] = values[i];
      found[index] = true;
    }
  }
  if (std::ranges::find(found, false) != found.end())
    throw Error(fmt::format("{}: the checkpoint does not hold all vertices", folder));
  return state;
}

}  // namespace edgewire::job
