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

constexpr std::string_view kFirstLine = "edgewire checkpoint 1";

/// Then come `count` ids and as many values, in the order of the process that wrote them.
struct Header {
  std::array<char, 8> magic{'E', 'W', 'S', 'T', 'A', 'T', 'E', '1'};
  std::uint64_t run = 0;
  std::uint64_t iteration = 0;
  std::uint32_t rank = 0;
  std::uint32_t processes = 0;
  std::uint64_t count = 0;
  engine::Scalars scalars{};
  std::uint64_t checksum = 0;  ///< XXH3 of all, this field being 0
};
static_assert(sizeof(Header) == 64 && sizeof(std::uint32_t) == sizeof(float));

std::uint64_t checksum(Header header, std::span<const std::uint32_t> ids, std::span<const float> values) {
  header.checksum = 0;
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  if (state == nullptr) throw Error("no memory for a checksum");
  XXH3_64bits_reset(state.get());
  XXH3_64bits_update(state.get(), &header, sizeof header);
  XXH3_64bits_update(state.get(), ids.data(), ids.size_bytes());
  XXH3_64bits_update(state.get(), values.data(), values.size_bytes());
  return XXH3_64bits_digest(state.get());
}

std::string values_path(const std::string& folder, std::uint64_t iteration, std::uint32_t rank) {
  return fmt::format("{}/values.{}.{}", folder, iteration, rank);
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

struct Part {
  Header header;
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
};

Part read_part(const std::string& folder, const Manifest& manifest, std::uint32_t rank,
               std::uint64_t vertices) {
  const std::string path = values_path(folder, manifest.iteration, rank);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("{}: a part of the checkpoint is missing", path));
  Part part;
  const auto read = [&](void* data, std::size_t bytes) {
    if (!file.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes)))
      throw Error(fmt::format("{}: the file is cut short", path));
  };
  read(&part.header, sizeof part.header);
  if (part.header.magic != Header{}.magic || part.header.count > vertices)
    throw Error(fmt::format("{}: not a part of a checkpoint", path));
  part.ids.resize(part.header.count);
  part.values.resize(part.header.count);
  read(part.ids.data(), part.ids.size() * sizeof(std::uint32_t));
  read(part.values.data(), part.values.size() * sizeof(float));
  if (part.header.checksum != checksum(part.header, part.ids, part.values) || file.peek() != EOF)
    throw Error(fmt::format("{}: wrong checksum", path));
  if (part.header.run != manifest.run || part.header.iteration != manifest.iteration ||
      part.header.rank != rank || part.header.processes != manifest.processes)
    throw Error(fmt::format("{}: belongs to another checkpoint", path));
  return part;
}

}  // namespace

Checkpoint::Checkpoint(launch::WireUp& wire, std::string folder, std::string what, const std::string& resumed)
    : wire_(wire), folder_(std::move(folder)), what_(std::move(what)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw Error(fmt::format("{}: cannot make the folder: {}", folder_, error.message()));
  if (wire.rank() == 0 && std::filesystem::exists(manifest_path(folder_)) &&
      !(std::filesystem::exists(resumed) && std::filesystem::equivalent(resumed, folder_)))
    throw Error(fmt::format("{}: there is a checkpoint already (--resume continues it)", folder_));
  std::random_device random;
  run_ = std::stoull(wire.allgather(std::to_string(std::uint64_t{random()} << 32 | random()))[0]);
}

std::string Checkpoint::path_of(std::uint64_t iteration) const {
  return values_path(folder_, iteration, static_cast<std::uint32_t>(wire_.rank()));
}

void Checkpoint::write(std::uint64_t iteration, std::span<const std::uint32_t> ids,
                       std::span<const float> values, const engine::Scalars& scalars) {
  // The last one is in its manifest by now, so that the one before it is not needed any more.
  for (; iterations_.size() > 1; iterations_.erase(iterations_.begin()))
    std::filesystem::remove(path_of(iterations_.front()));
  Header header;
  header.run = run_;
  header.iteration = iteration;
  header.rank = static_cast<std::uint32_t>(wire_.rank());
  header.processes = static_cast<std::uint32_t>(wire_.size());
  header.count = ids.size();
  header.scalars = scalars;
  header.checksum = checksum(header, ids, values);
  graph::OutputFile file(path_of(iteration));
  file.reserve(sizeof header + ids.size_bytes() + values.size_bytes());
  file.write(&header, sizeof header, 0);
  file.write(ids.data(), ids.size_bytes(), sizeof header);
  file.write(values.data(), values.size_bytes(), sizeof header + ids.size_bytes());
  file.commit();
  iterations_.push_back(iteration);
}

void Checkpoint::commit(std::uint64_t iteration) {
  if (wire_.rank() != 0) return;
  const Manifest manifest{what_, run_, iteration, static_cast<std::uint32_t>(wire_.size())};
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
  if (rank < manifest.processes) {
    Part part = read_part(folder, manifest, rank, vertices);
    if (std::ranges::equal(part.ids, own.ids())) {
      state.values = std::move(part.values);
      state.scalars = part.header.scalars;
      state.has_scalars = true;
      return state;
    }
  }
  state.values.resize(own.count());
  std::vector<bool> found(own.count());
  for (std::uint32_t other = 0; other < manifest.processes; ++other) {
    const Part part = read_part(folder, manifest, other, vertices);
    for (std::size_t i = 0; i < part.ids.size(); ++i) {
      if (part.ids[i] >= vertices)
        throw Error(
            fmt::format("{}: not a part of a checkpoint", values_path(folder, manifest.iteration, other)));
      const plan::Place place = job.ownership().place(part.ids[i]);
      if (place.owner != rank) continue;
      const std::uint32_t index = own.indexes()[place.local];
      state.values[index] = part.values[i];
      found[index] = true;
    }
  }
  if (std::ranges::find(found, false) != found.end())
    throw Error(fmt::format("{}: the checkpoint does not hold all vertices", folder));
  return state;
}

}  // namespace edgewire::kernels
