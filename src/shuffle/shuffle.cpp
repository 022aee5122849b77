#include "shuffle/shuffle.h"

#include "launch/packing.h"
#include "process/barrier.h"

namespace edgewire::shuffle {

void commit_parts(launch::Bootstrap& bootstrap, std::span<const std::unique_ptr<OutputFile>> parts,
                  OutputFolder& folder) {
  OutputFile::commit_all(parts);
  try {
    bootstrap.allgather("named");
  } catch (...) {
    for (const auto& part : parts) part->remove_named();
    throw;
  }
  folder.keep();
}

Shuffle::Shuffle(launch::Bootstrap& bootstrap, process::LocalProcess& process, ShuffleOptions options)
    : bootstrap_(bootstrap),
      process_(process),
      options_(std::move(options)),
      rank_(static_cast<std::uint32_t>(bootstrap.rank())),
      size_(static_cast<std::uint32_t>(bootstrap.size())) {
  const int workers = process.pool().workers();
  for (int lane = 0; lane < workers; ++lane) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->queue.watch(process.pool(), lane);
  }
  for (std::uint32_t p = 0; p < size_; ++p) owners_.resize(first_of(p + 1), p);
  if (size_ > 1) stream_.emplace(bootstrap, process, options_.shape.stride());
}

void Shuffle::choose_splitters(const std::vector<std::byte>& sample) {
  std::vector<std::byte> all;
  std::optional<process::WaitTold> wait(process_.pool());
  const auto parts = bootstrap_.allgather(launch::pack(sample));
  wait.reset();
  for (const std::string& part : parts) {
    const auto bytes = std::as_bytes(std::span(part));
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  splitters_.emplace(options_.shape, all, options_.partitions);
  process_.pool().run([&](int lane) {  // the worker's own thread touches the memory first
    Worker& mine = worker(lane);
    mine.buffer.emplace(options_.shape, options_.plan.buffer_records, -1);
    if (options_.spreads_same) mine.same.resize(options_.partitions);
    mine.spilled.emplace(options_.shape, options_.temp, mine.queue, bootstrap_.health());
  });
}

void Shuffle::spill(Worker& worker) const {
  if (worker.buffer->size() == 0) return;
  worker.buffer->sort();
  worker.spilled->append(*worker.buffer,
                         worker.buffer->cuts(*splitters_, first_partition(), last_partition()));
  worker.buffer->clear();
}

/// Spills everything where anything was spilled, so that merging has the memory of the buffers.
void Shuffle::settle() {
  if (size_ > 1) process::barrier(bootstrap_, process_.link());  // all sent records have left this process
  const bool spilled =
      std::ranges::any_of(workers_, [](const auto& w) { return !w->spilled->runs().empty(); });
  process_.pool().run([&](int lane) {
    Worker& mine = worker(lane);
    if (spilled) {
      spill(mine);
      mine.buffer.reset();
      mine.merging = topology::NodeMemory(options_.plan.merge_bytes, -1, "runs that are merged");
      // Merges runs until those of all workers can be merged at once.
      while (const std::size_t count =
                 runs_to_merge(options_.plan, process_.pool().workers(), mine.spilled->runs().size()))
        mine.spilled->merge_first(count, mine.merging.as<std::byte>());
      mine.spilled->settle();
    } else {
      mine.buffer->sort();
      mine.cuts = mine.buffer->cuts(*splitters_, first_partition(), last_partition());
    }
  });
  for (const auto& one : workers_) runs_ += one->spilled->runs().size();
  if (options_.spreads_same) count_same();
}

void Shuffle::count_same() {
  std::vector<std::uint64_t> mine(options_.partitions);
  const auto add_kept = [&](const Cuts& cuts) {
    for (std::uint32_t p = first_partition(); p + 1 < last_partition(); ++p) {
      const std::size_t part = p - first_partition();
      if (p + 2 < options_.partitions && splitters_->same(p, p + 1)) continue;
      mine[p] += cuts[2 * part + 2] - cuts[2 * part + 1];
    }
  };
  for (const auto& from : workers_) {
    for (std::uint32_t p = 0; p < options_.partitions; ++p) mine[p] += from->same[p];
    if (from->buffer) add_kept(from->cuts);
    for (const auto& run : from->spilled->runs()) add_kept(run);
  }
  const process::WaitTold wait(process_.pool());
  same_ = launch::allreduce(bootstrap_, mine, std::plus<>());
  for (std::uint32_t p = options_.partitions - 1; p-- > 1;)
    if (splitters_->same(p - 1, p)) same_[p - 1] = same_[p];
}

std::pair<std::uint64_t, std::uint64_t> Shuffle::copies(std::uint32_t partition) const {
  if (!options_.spreads_same) return {0, 0};
  const bool first = partition == 0, last = partition + 1 == options_.partitions;
  const auto before_cut = [&](std::uint32_t p) { return splitters_->before_cut(p, same_[p]); };
  if (!first && !last && splitters_->same(partition - 1, partition))
    return {before_cut(partition) - before_cut(partition - 1), 0};
  return {first ? 0 : same_[partition - 1] - before_cut(partition - 1), last ? 0 : before_cut(partition)};
}

std::uint64_t Shuffle::records(std::uint32_t partition) const {
  const std::size_t part = partition - first_partition();
  const auto [before, behind] = copies(partition);
  std::uint64_t count = before + behind;
  const auto add = [&](const Cuts& cuts) {
    const auto [first, last] = stretch(cuts, part);
    count += last - first;
  };
  for (const auto& from : workers_) {
    if (from->buffer) add(from->cuts);
    std::ranges::for_each(from->spilled->runs(), add);
  }
  return count;
}

std::deque<Cursor> Shuffle::cursors_of(int lane, std::uint32_t part) {
  Worker& mine = worker(lane);
  const std::size_t chunk = runs_ == 0 ? 0 : Cursor::bytes_of_each(options_.plan.merge_bytes, runs_);
  std::deque<Cursor> cursors;
  for (const auto& from : workers_) {
    if (from->buffer) {
      const auto [first, last] = stretch(from->cuts, part);
      cursors.emplace_back(options_.shape, *from->buffer, first, last);
    }
    for (const auto& run : from->spilled->runs()) {
      const auto [first, last] = stretch(run, part);
      cursors.emplace_back(options_.shape, *from->spilled, mine.queue, first, last,
                           mine.merging.as<std::byte>().subspan(cursors.size() * chunk, chunk));
    }
  }
  return cursors;
}

std::uint64_t Shuffle::bytes_spilled() const {
  std::uint64_t bytes = 0;
  for (const auto& one : workers_) bytes += one->spilled->bytes_written();
  return bytes;
}

}  // namespace edgewire::shuffle
