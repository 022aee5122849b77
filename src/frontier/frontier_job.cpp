#include "frontier/frontier_job.h"

#include <fmt/core.h>

#include "base/error.h"
#include "launch/agreement.h"
#include "options/kernels.h"
#include "partition/row_shares.h"
#include "process/barrier.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint32_t kRange = 1 << 14;  // number of vertices that a worker takes at a time

const Graph& checked(const Graph& graph, const Options& options) {
  check(options, graph);
  return graph;
}

/// Returns the rows of the file where the process owns all vertices, so that their ids are their numbers.
/// They are empty where an id is wider than a number.
template <class Id = PlainId>
KnownRows rows_of_file(const Graph& graph) {
  if constexpr (std::is_same_v<Id, std::uint32_t>)
    return {graph.offsets(), numbered<KnownNumber>(std::span<const Id>(plain(graph.targets())))};
  else
    return {};
}

}  // namespace

void check(const Options& options, const Graph& graph) {
  process::check(options.process);
  partition::check_ownership_name(options.ownership, partition::kVertexOwnershipNames);
  if (partition::owns_edges(options.ownership))
    throw UsageError(
        fmt::format("{}: processes would own edges, which pagerank, ppr and spmv can do: name hash, ranges "
                    "or a partition file",
                    opt::ownership(options.ownership)));
  if (options.record_bytes != sizeof(Record) && options.record_bytes != kWideRecordBytes &&
      options.record_bytes != kShortRecordBytes)
    throw UsageError(
        fmt::format("record_bytes: {} is not the size of a Record ({}), ShortRecord ({}) or WideRecord ({})",
                    options.record_bytes, sizeof(Record), kShortRecordBytes, kWideRecordBytes));
  if (options.for_tasks && !options.disks.devices.empty())
    throw UsageError("for_tasks: tasks read rows of other processes from memory, not from disks");
  if (options.disks.weighted) graph::expect_weights(graph);
}

void expect_vertex(const Graph& graph, VertexId vertex) {
  if (vertex >= graph.vertices())
    throw UsageError(fmt::format("source: {} is no vertex of {}, which has {}", PlainId{vertex}, graph.path(),
                                 graph.vertices()));
}

Job::Job(launch::Bootstrap& bootstrap, const Graph& graph, const Options& options)
    : bootstrap_(bootstrap),
      graph_(checked(graph, options)),
      process_(bootstrap, options.process),
      listener_(options.listener),
      progress_(options.progress),
      owned_rows_(graph),
      record_bytes_(options.record_bytes),
      weighted_(options.disks.weighted),
      rows_(rows_of_file(graph)),
      weights_(graph.offsets(), weighted_ ? graph.weights() : graph::Weights()) {
  launch::check_agreement(bootstrap,
                          {{"the kernel", options.kernel},
                           {"the graph", fmt::format("{:016x} ({} vertices, {} edges)", graph.checksum(),
                                                     graph.vertices(), graph.edges())},
                           {"the ownership", partition::fact_of(options.ownership)},
                           {"the transport", std::string(link().name())},
                           {"the number of workers", std::to_string(options.process.workers)},
                           {"the reading of rows", word_of(opt::rows, options.rows)},
                           {"the check of integrity", options.process.integrity ? "yes" : "no"},
                           {"the number of disks for edges", std::to_string(options.disks.devices.size())}});
  if (!options.disks.devices.empty()) {
    const auto processes = static_cast<std::uint64_t>(bootstrap.size());
    // Throws Error where memory does not suffice.
    options.disks.budget({(graph.vertices() + processes - 1) / processes, 0});
  }
  ownership_ = partition::make_ownership(bootstrap, graph, options.ownership);
  owned_ = ownership_->count(rank());
  if (options.for_tasks) {
    pool().for_each((graph.vertices() + kRange - 1) / kRange, [&](int, std::uint64_t piece) {
      graph_.verify_rows(piece * kRange, std::min(graph_.vertices(), (piece + 1) * kRange));
    });
  } else {
    const bool from_disks = !options.disks.devices.empty();
    owned_rows_ =
        partition::load_rows(bootstrap, process_, graph, *ownership_,
                             {.weights = weighted_, .reading = from_disks ? RowReading::own : options.rows});
    for_each_range([&](int, LocalNumber first, LocalNumber last) {
      const std::uint64_t begin = ownership_->vertex(rank(), first),
                          end = std::uint64_t{ownership_->vertex(rank(), LocalNumber(last - 1))} + 1;
      if (!from_disks)
        owned_rows_.verify(begin, end);
      else if (owned_rows_.in_file())
        graph.verify_offsets(begin, end);
    });
    if (from_disks)
      pages_ = std::make_unique<RowPages>(pool(), owned_rows_, *ownership_, bootstrap.rank(), options.disks);
    records_.emplace(bootstrap, process_, options.record_bytes);
    if (is_only()) {
      boundary_.emplace(std::span<const VertexId>(), *ownership_, rank(), *records_);
    } else {
      if (pages_)
        boundary_.emplace(pages_->take_boundary(), *ownership_, rank(), *records_);
      else
        boundary_.emplace(graph, all_ids(), *ownership_, rank(), pool(), *records_);
      wait_for_all();  // all sent records have arrived before this process waits for anything else
    }
  }
  if (on_disks()) {
    owned_rows_.forget_edges();
    make_readers(options.disks);
  }
  seconds_load_ = seconds_since(start_);
}

Job::Job(launch::Bootstrap& alone, const Graph& graph, std::optional<KnownRows> rows)
    : bootstrap_(alone),
      graph_(graph),
      process_(alone),
      listener_(Options{}.listener),
      ownership_(partition::Ownership::hash(graph.vertices(), 1)),
      owned_rows_(graph),
      owned_(ownership_->count(0)),
      weighted_(false),
      has_rows_(!kIds64 || rows),
      rows_(rows ? *rows : rows_of_file(graph)) {
  records_.emplace(alone, process_, sizeof(Record));
  boundary_.emplace(std::span<const VertexId>(), *ownership_, rank(), *records_);
}

void Job::make_rows() {
  if ((numbering() == nullptr && has_rows_) || on_disks() || own_rows_) return;
  const bool in_file = owned_rows_.in_file();
  if (in_file)
    own_rows_.emplace(copy_rows(numbering()));
  else
    own_rows_.emplace(owned_rows_.take(), numbering(), pool());
  rows_ = own_rows_->rows();
  has_rows_ = true;
  if (!in_file) {
    weights_ = KnownWeights(owned_rows_.begins(), owned_rows_.weights());
    return;
  }
  if (!weighted_) {
    const auto [first, last] = partition::span_of_owned(*ownership_, rank());
    owned_rows_.release_pages(first, last);  // the pages are not read any more
    return;
  }
  weights_begin_.resize(owned());
  for_each_range([this](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber local = first; local < last; ++local)
      weights_begin_[local] = graph_.offsets()[ownership_->vertex(rank(), local)];
  });
  weights_ = KnownWeights(weights_begin_, graph_.weights());
}

OwnKnownRows Job::copy_rows(const Boundary* boundary) {
  const auto row_of = [this](LocalNumber local) {
    thread_local std::vector<VertexId> room;
    return ids_of(local, room);
  };
  return {owned(), boundary, pool(), row_of};
}

void Job::expect_records(std::size_t bytes) const {
  if (!records_) throw UsageError("for_tasks: this kernel sends records, and the job left the link to tasks");
  if (bytes != record_bytes_ && bootstrap_.size() > 1)
    throw UsageError(
        fmt::format("record_bytes: this kernel sends records of {} bytes, not of {}", bytes, record_bytes_));
}

void Job::expect_weights(bool weighted) const {
  if (weighted && !weighted_)
    throw UsageError("this kernel needs the weights of edges: set Options::disks.weighted");
  if (weighted_ && !weighted)
    throw UsageError("this kernel leaves weights out, and the job has them: clear Options::disks.weighted");
}

void Job::expect_tasks() const {
  if (records_) throw UsageError("searches that are tasks need a job with Options::for_tasks");
}

namespace {

/// The converter of a RowReader's vertices to known numbers, and of owned numbers to vertices.
template <class Known>
class NumberedRows {
 public:
  NumberedRows(const Known& known, const TakeOwned& take) : known_(known), take_(take) {}

  std::span<const VertexId> take() {
    taken_.clear();
    for (const LocalNumber local : take_()) taken_.push_back(known_.vertex(local));
    return taken_;
  }
  FrontierRow edges(const Edges& read) {
    numbers_.clear();
    for (const VertexId v : read.targets) numbers_.push_back(known_.number(v));
    return {known_.home(read.vertex).local, numbers_, read.weights};
  }

 private:
  const Known& known_;
  const TakeOwned& take_;
  std::vector<VertexId> taken_;
  std::vector<KnownNumber> numbers_;  ///< numbers of a row
};

}  // namespace

void Job::each_row_on_disks(int worker, const TakeOwned& take,
                            const std::function<bool(const FrontierRow&)>& work) {
  visit_known([&](const auto& known) {
    NumberedRows rows(known, take);
    readers_[static_cast<std::size_t>(worker)]->each(
        [&] { return rows.take(); }, [&](const Edges& edges) { return work(rows.edges(edges)); });
  });
}

void Job::each_row_once(int worker, const TakeOwned& take, std::size_t first,
                        const std::function<bool(LocalNumber)>& wants,
                        const std::function<void(const FrontierRow&)>& work) {
  visit_known([&](const auto& known) {
    NumberedRows rows(known, take);
    readers_[static_cast<std::size_t>(worker)]->each_once(
        [&] { return rows.take(); }, first, [&](VertexId v) { return wants(known.home(v).local); },
        [&](const Edges& edges) { work(rows.edges(edges)); });
  });
}

void Job::make_readers(const RowDisks& disks) {
  constexpr std::uint64_t kCache = std::uint64_t{256} << 20;
  const auto workers = static_cast<std::size_t>(pool().workers());
  const auto budget = disks.budget({owned(), known() - owned()});
  cache_.emplace(*pages_, std::min(pages_->bytes(), budget.rest_or(kCache / 3 * 4) / 4 * 3));
  const std::uint64_t ahead = budget.read_ahead(workers);
  read_ahead_ = ahead * workers;
  for (std::size_t w = 0; w < workers; ++w) {
    readers_.push_back(std::make_unique<RowReader>(*pages_, *cache_, ahead, bootstrap_.health()));
    readers_.back()->watch(pool(), static_cast<int>(w));
  }
}

disk::ReadFigures Job::measure_disks() {
  disk::ReadFigures figures;
  figures.stored_bytes = pages_->bytes();
  figures.bytes_read = pages_->files().all_bytes_read();
  figures.bytes_written = pages_->bytes_written();
  readers_.clear();
  cache_.reset();
  bootstrap_.allgather("");  // so that all read at the same time
  figures.measure_limit(pages_->files(), read_ahead_);
  return figures;
}

void Job::wait_for_all() {
  const process::WaitTold wait(pool());
  process::barrier(bootstrap_, link());
}

void Job::for_each_range(const std::function<void(int, LocalNumber, LocalNumber)>& work) {
  pool().for_each((std::uint64_t{owned()} + kRange - 1) / kRange, [&](int worker, std::uint64_t piece) {
    const std::uint64_t first = piece * kRange, last = std::min<std::uint64_t>(owned(), first + kRange);
    work(worker, LocalNumber(static_cast<std::uint32_t>(first)),
         LocalNumber(static_cast<std::uint32_t>(last)));
  });
}

}  // namespace edgewire::frontier
