#include "profile/job_profile.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "launch/packing.h"

namespace edgewire::profile {

ProcessFacts facts_of(const launch::Bootstrap& bootstrap, const DenseJob& job, const disk::ReadFigures& disk,
                      std::size_t iterations) {
  ProcessFacts facts;
  std::uint64_t edges = job.tiles().edges(), tiles = job.sweep_bytes(), values = 0;
  for (int p = 0; p < bootstrap.size(); ++p) {
    edges += job.mirror_tiles()[static_cast<std::size_t>(p)].edges();
    tiles += job.mirror_tiles()[static_cast<std::size_t>(p)].bytes();
    const auto from = static_cast<std::size_t>(bootstrap.rank()), to = static_cast<std::size_t>(p);
    if (from == to) continue;
    values += job.traffic().at(from, to) + job.traffic().at(to, from);
    if (job.strategy() != plan::Strategy::edge) continue;
    // Edges to others are in no tile: strategy `edge` sends a value for each, by a list of their sources.
    edges += job.traffic().at(from, to);
    tiles += sizeof(std::uint32_t) * job.traffic().at(from, to);
  }
  // Bytes of a vertex: rank read and written, degree, value read, next one written.
  constexpr std::uint64_t kBytesAVertex = 24;
  facts.items = static_cast<double>(edges);
  facts.memory_bytes = tiles + kBytesAVertex * job.owned().count() + 8 * values;
  facts.working_set_bytes = tiles + 16 * std::uint64_t{job.owned().count()} + 8 * values;
  const auto count = std::max<std::uint64_t>(iterations, 1);
  facts.disk_bytes = disk.bytes_read / count;
  facts.disk_s = disk.seconds_busy / static_cast<double>(count);
  return facts;
}

ProcessFacts facts_of(frontier::Job& job, std::span<const frontier::Superstep> steps,
                      const disk::ReadFigures& disk, bool at_rank_0) {
  constexpr std::uint64_t kTarget = 4, kValue = 8;  // bytes of an edge, and of the value that it leads to
  const auto count = std::max<std::uint64_t>(steps.size(), 1);
  std::uint64_t edges = 0;
  for (const auto& one : steps) edges += one.edges;
  const auto processes = static_cast<std::uint64_t>(job.bootstrap().size());
  if (at_rank_0) edges = launch::allreduce(job.bootstrap(), edges, std::plus<>()) / processes;
  const std::uint64_t row = job.on_disks() ? 0 : kTarget * job.graph().edges() / processes;
  ProcessFacts facts;
  facts.items = static_cast<double>(edges) / static_cast<double>(count);
  facts.memory_bytes = edges * (job.on_disks() ? kValue : kTarget + kValue) / count;
  facts.working_set_bytes = row + kValue * job.graph().vertices();
  facts.disk_bytes = disk.bytes_read / count;
  facts.disk_s = disk.seconds_busy / static_cast<double>(count);
  return facts;
}

/// Returns the facts of a load: each record is read and written, and moved in memory some times.
ProcessFacts facts_of(const LoadWork& work) {
  constexpr std::uint64_t kMoves = 4;
  const std::uint64_t moved = work.bytes_read + work.bytes_written;
  ProcessFacts facts;
  facts.items = static_cast<double>(work.records) / static_cast<double>(work.steps);
  facts.memory_bytes = (kMoves * moved + 2 * work.bytes_spilled) / work.steps;
  facts.working_set_bytes = moved;
  facts.disk_bytes = (moved + 2 * work.bytes_spilled) / work.steps;
  facts.disk_s = work.disk_s / static_cast<double>(work.steps);
  return facts;
}

LoadWatch::LoadWatch(launch::Bootstrap& bootstrap, process::LocalProcess& process,
                     const std::vector<std::string>& paths, const ProfileOptions& options, bool profiled)
    : profiler_(profiled ? std::optional<Profiler>(std::in_place, bootstrap, process, options)
                         : std::nullopt),
      balance_(bootstrap, process, paths, options.given_bits_per_s) {
  run_.emplace(profiler_ ? &*profiler_ : nullptr);
}

void LoadWatch::end_step(const std::string& name) {
  balance_.end_step(name);
  if (profiler_) profiler_->end_step(name);
}

Balance LoadWatch::gather(report::JobReport& report, const ProcessFacts& facts) {
  auto balance = balance_.gather();
  if (!profiler_) return balance;
  auto profile = profiler_->gather(facts);
  if (profile.processes.empty()) return balance;  // rank 0 has it
  profile.balance = balance;
  add_to(report, std::move(profile));
  return balance;
}

}  // namespace edgewire::profile
