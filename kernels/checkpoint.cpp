#include "kernels/checkpoint.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "error.h"
#include "graph/output_file.h"

namespace edgewire::kernels {
namespace {

constexpr std::string_view kFirstLine = "edgewire checkpoint 2";
using Magic = std::array<char, 8>;
constexpr Magic kValues{'E', 'W', 'S', 'T', 'A', 'T', 'E', '2'};
constexpr Magic kIds{'E', 'W', 'O', 'W', 'N', 'E', 'R', '2'};

/// Then come `count` values or ids, in the order of the process that wrote them.
struct Header {
  Magic magic{};
  std::uint64_t run = 0;
  std::uint64_t iteration = 0;  ///< 0 before ids
  std::uint32_t rank = 0;
  std::uint32_t processes = 0;
  std::uint64_t count = 0;
  engine::Scalars scalars{};
  std::uint64_t checksum = 0;  ///< XXH3 of all, this field being 0
};
static_assert(sizeof(Header) == 64 && sizeof(std::uint32_t) == sizeof(float));

std::uint64_t checksum(Header header, std::span<const std::byte> content) {
  header.checksum = 0;
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (state == nullptr) throw Error("no memory for a checksum");
  XXH3_64bits_reset(state.get());
  XXH3_64bits_update(state.get(), &header, sizeof header);
  XXH3_64bits_update(state.get(), content.data(), content.size());
  return XXH3_64bits_digest(state.get());
}

void write_file(const std::string& path, Header header, std::span<const std::byte> content) {
  header.checksum = checksum(header, content);
  graph::OutputFile file(path);
  file.reserve(sizeof header + content.size());
  file.write(&header, sizeof header, 0);
  file.write(content.data(), content.size(), sizeof header);
  file.commit();
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
    return fmt::format("{}{:016x}\n", body, XXH3_64bits(body.data(), body.size()));
  }
};

Manifest read_manifest(const std::string& folder) {
  const std::string path = manifest_path(folder);
  std::ifstream file(path);
  if (!file) throw Error(fmt::format("{}: no checkpoint there", folder));
  std::stringstream text;
  text << file.rdbuf();
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

template <class T>
struct Part {
  Header header;
  std::vector<T> items;
};

/// Rank's file of this kind. Throws Error that names it when it is not whole or not of this checkpoint.
template <class T>
Part<T> read_part(const std::string& path, const Magic& magic, const Manifest& manifest, std::uint32_t rank,
                  std::uint64_t vertices) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("{}: a part of the checkpoint is missing", path));
  Part<T> part;
  const auto read = [&](void* data, std::size_t bytes) {
    if (!file.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes)))
      throw Error(fmt::format("{}: the file is cut short", path));
  };
  read(&part.header, sizeof part.header);
  if (part.header.magic != magic || part.header.count > vertices)
    throw Error(fmt::format("{}: not a part of a checkpoint", path));
  part.items.resize(part.header.count);
  read(part.items.data(), part.items.size() * sizeof(T));
  if (part.header.checksum != checksum(part.header, std::as_bytes(std::span(part.items))) ||
      file.peek() != EOF)
    throw Error(fmt::format("{}: wrong checksum", path));
  if (part.header.run != manifest.run || part.header.rank != rank ||
      part.header.processes != manifest.processes ||
      part.header.iteration != (magic == kIds ? 0 : manifest.iteration))
    throw Error(fmt::format("{}: belongs to another checkpoint", path));
  return part;
}

}  // namespace

Checkpoint::Checkpoint(launch::WireUp& wire, DenseJob& job, std::string folder, std::string what,
                       const std::string& resumed)
    : wire_(wire), job_(job), folder_(std::move(folder)), what_(std::move(what)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw Error(fmt::format("{}: cannot make the folder: {}", folder_, error.message()));
  if (wire.rank() == 0 && std::filesystem::exists(manifest_path(folder_)) &&
      !(std::filesystem::exists(resumed) && std::filesystem::equivalent(resumed, folder_)))
    throw Error(fmt::format("{}: there is a checkpoint already (--resume continues it)", folder_));
  std::random_device random;
  run_ = std::stoull(wire.allgather(std::to_string(std::uint64_t{random()} << 32 | random()))[0]);
}

void Checkpoint::start(std::uint64_t iteration, std::span<const float> values,
                       const engine::Scalars& scalars) {
  copy_.assign(values.begin(), values.end());
  last_ = iteration;
  iterations_.push_back(iteration);
  writing_ = std::async(std::launch::async, [this, iteration, scalars] { write(iteration, scalars); });
}

/// In a thread of its own; nobody else touches copy_ and iterations_ until settle().
void Checkpoint::write(std::uint64_t iteration, const engine::Scalars& scalars) {
  job_.pool().unpin_this_thread();
  const auto rank = static_cast<std::uint32_t>(wire_.rank());
  // Rank 0 may still be about to name the last one in the manifest, which then names the one before it.
  // First, so that its pages are used again: fresh memory costs more than the copy.
  for (; iterations_.size() > 3; iterations_.erase(iterations_.begin()))
    std::filesystem::remove(values_path(folder_, iterations_.front(), rank));
  Header header{.run = run_, .rank = rank, .processes = static_cast<std::uint32_t>(wire_.size())};
  header.count = copy_.size();
  if (iterations_.size() == 1) {
    header.magic = kIds;
    write_file(ids_path(folder_, run_, rank), header, std::as_bytes(job_.own().ids()));
  }
  header.magic = kValues;
  header.iteration = iteration;
  header.scalars = scalars;
  write_file(values_path(folder_, iteration, rank), header, std::as_bytes(std::span(copy_)));
}

void Checkpoint::settle() { writing_.get(); }

void Checkpoint::finish() {
  if (!pending()) return;
  settle();
  wire_.allgather("");
  commit();
}

void Checkpoint::commit() {
  if (wire_.rank() != 0) return;
  const Manifest manifest{what_, run_, last_, static_cast<std::uint32_t>(wire_.size())};
  const std::string text = manifest.text();
  graph::OutputFile file(manifest_path(folder_));
  file.write(text.data(), text.size(), 0);
  file.commit();
}

ResumedState resume(launch::WireUp& wire, const std::string& folder, const std::string& what,
                    const DenseJob& job) {
  const Manifest manifest = read_manifest(folder);
  for (const std::string& other : wire.allgather(manifest.text()))
    if (other != manifest.text())
      throw Error(fmt::format("{}: the processes see different checkpoints", folder));
  if (manifest.what != what)
    throw Error(fmt::format("{}: a checkpoint of something else: {}; now: {}", folder, manifest.what, what));
  ResumedState state;
  state.iteration = manifest.iteration;
  const auto rank = static_cast<std::uint32_t>(wire.rank());
  const auto& own = job.own();
  const std::uint64_t vertices = job.graph().vertices();
  const auto ids_of = [&](std::uint32_t of) {
    return read_part<std::uint32_t>(ids_path(folder, manifest.run, of), kIds, manifest, of, vertices).items;
  };
  const auto values_of = [&](std::uint32_t of, std::size_t count) {
    const std::string path = values_path(folder, manifest.iteration, of);
    auto part = read_part<float>(path, kValues, manifest, of, vertices);
    if (part.items.size() != count) throw Error(fmt::format("{}: belongs to another checkpoint", path));
    return part;
  };
  if (rank < manifest.processes) {
    if (const auto ids = ids_of(rank); std::ranges::equal(ids, own.ids())) {
      auto part = values_of(rank, ids.size());
      state.values = std::move(part.items);
      state.scalars = part.header.scalars;
      state.has_scalars = true;
      return state;
    }
  }
  state.values.resize(own.count());
  std::vector<bool> found(own.count());
  for (std::uint32_t other = 0; other < manifest.processes; ++other) {
    const auto ids = ids_of(other);
    const auto values = values_of(other, ids.size()).items;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] >= vertices)
        throw Error(fmt::format("{}: not a part of a checkpoint", ids_path(folder, manifest.run, other)));
      const plan::Place place = job.ownership().place(ids[i]);
      if (place.owner != rank) continue;
      const std::uint32_t index = own.indexes()[place.local];
      state.values[index] = values[i];
      found[index] = true;
    }
  }
  if (std::ranges::find(found, false) != found.end())
    throw Error(fmt::format("{}: the checkpoint does not hold all vertices", folder));
  return state;
}

}  // namespace edgewire::kernels
