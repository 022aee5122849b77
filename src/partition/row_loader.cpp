#include "partition/row_loader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "channel/record_stream.h"
#include "launch/packing.h"
#include "options/kernels.h"
#include "partition/row_shares.h"
#include "process/barrier.h"

namespace edgewire::partition {

namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint32_t);  // unit of records
constexpr std::uint64_t kRowsAtOnce = 1 << 12;             // rows that are verified, then sent, at a time
constexpr std::size_t kSentAtOnce = std::size_t{1} << 16;  // bytes that are sent at a time

std::vector<std::uint64_t> numbers_of(const RowRanges& ranges) {
  std::vector<std::uint64_t> numbers;
  for (const auto& one : ranges) numbers.insert(numbers.end(), {one.first, one.last});
  return numbers;
}

RowRanges ranges_of(std::span<const std::uint64_t> numbers, std::size_t rank, std::uint64_t vertices) {
  RowRanges ranges;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) {
    const graph::RowRange one{numbers[i], numbers[i + 1]};
    if (one.first > one.last || one.last > vertices || (i > 0 && one.first < ranges.back().last))
      throw Error(fmt::format("rank {} sent faulty ranges of rows", rank));
    ranges.push_back(one);
  }
  return ranges;
}

/// Returns the rows that each process can read: by process. Collective.
std::vector<RowRanges> rows_of_all(launch::Bootstrap& bootstrap, const Graph& graph) {
  const auto messages = bootstrap.allgather(launch::pack(numbers_of(graph.rows_here())));
  std::vector<RowRanges> all;
  for (std::size_t p = 0; p < messages.size(); ++p)
    all.push_back(ranges_of(launch::unpack<std::uint64_t>(messages[p], p), p, graph.vertices()));
  return all;
}

/// Rows on their way to their owners: who reads which ones is known to all, and they come in the order of
/// their vertices, so that nothing says whose they are.
class RowLoader {
 public:
  RowLoader(launch::Bootstrap& bootstrap, process::LocalProcess& process, const Graph& graph,
            const Ownership& ownership, std::span<const RowRanges> here)
      : bootstrap_(bootstrap),
        process_(process),
        graph_(graph),
        ownership_(ownership),
        rank_(static_cast<std::uint32_t>(bootstrap.rank())),
        lanes_(static_cast<std::size_t>(process.pool().workers())),
        link_(process.ring_link()),
        stream_(bootstrap, process, *link_, kWordBytes) {
    share_out(here);
  }

  OwnedRows load(const RowContent& content) {
    RowMemory rows;
    rows.begins = load_degrees();
    topology::NodeMemory weights;
    if (content.targets) {
      rows.entries =
          topology::NodeMemory(rows.begins.back() * sizeof(VertexId), -1, "rows of owned vertices");
      const auto targets = graph_.targets();
      load_entries(rows.begins, rows.entries, sizeof(VertexId), [&](std::uint64_t begin, std::uint64_t end) {
        return std::as_bytes(targets.subspan(begin, end - begin));
      });
      check_targets(rows.entries);
    }
    if (content.weights) {
      const auto all = graph_.weights();
      const std::size_t bytes = graph::bytes_of(all.type());
      weights = topology::NodeMemory(rows.begins.back() * bytes, -1, "weights of owned vertices' edges");
      load_entries(rows.begins, weights, bytes, [&](std::uint64_t begin, std::uint64_t end) {
        return all.subspan(begin, end - begin).bytes();
      });
    }
    process_.pool().run([&](int lane) {
      for (const auto& one : mine_[static_cast<std::size_t>(lane)]) graph_.release_rows(one.first, one.last);
    });
    process::barrier(bootstrap_, *link_);  // all rows have arrived
    bootstrap_.allgather("");              // no process uses the link any more
    return {graph_, ownership_, std::move(rows), std::move(weights)};
  }

 private:
  /// The places of the bytes that a peer sends on a lane, and the number that have not come.
  struct Arrivals {
    std::vector<std::span<std::byte>> stretches;
    std::size_t next = 0;
  };

  /// Gives each lane of each process a part of the rows that the process reads.
  void share_out(std::span<const RowRanges> here) {
    mine_ = cut_rows(graph_, rows_to_read(graph_, here, rank_), lanes_);
    std::vector<std::uint64_t> told;
    for (const auto& ranges : mine_) {
      const auto numbers = numbers_of(ranges);
      told.push_back(numbers.size());
      told.insert(told.end(), numbers.begin(), numbers.end());
    }
    const auto messages = bootstrap_.allgather(launch::pack(told));
    std::uint64_t rows = 0;
    for (std::size_t p = 0; p < messages.size(); ++p) {
      const auto numbers = launch::unpack<std::uint64_t>(messages[p], p);
      auto left = std::span(numbers);
      auto& lanes = read_by_.emplace_back();
      for (std::size_t lane = 0; lane < lanes_; ++lane) {
        if (left.empty() || left[0] > left.size() - 1)
          throw Error(fmt::format("rank {} sent faulty ranges of rows", p));
        lanes.push_back(ranges_of(left.subspan(1, left[0]), p, graph_.vertices()));
        left = left.subspan(1 + left[0]);
        for (const auto& one : lanes.back()) rows += one.last - one.first;
      }
    }
    if (rows != graph_.vertices())
      throw Error(fmt::format("{}: the processes would read {} rows of {}: their files differ", graph_.path(),
                              rows, graph_.vertices()));
  }

  std::vector<std::uint64_t> load_degrees() {
    const std::uint32_t owned = ownership_.count(rank_);
    std::vector<std::uint32_t> degrees(owned);
    const auto offsets = graph_.offsets();
    send_all(
        [&](LocalNumber local) {
          return std::as_writable_bytes(std::span(degrees)).data() + kWordBytes * local;
        },
        [&](std::uint64_t first, std::uint64_t last) { graph_.verify_offsets(first, last); },
        [&](VertexId v, const auto& take) {
          const std::uint64_t degree = offsets[v + std::size_t{1}] - offsets[v];
          if (degree > std::numeric_limits<std::uint32_t>::max())
            throw Error(fmt::format("{}: vertex {} has {} edges, more than travel to another process: use {}",
                                    graph_.path(), PlainId{v}, degree, opt::ownership("ranges")));
          const auto word = static_cast<std::uint32_t>(degree);
          take(std::as_bytes(std::span(&word, 1)));
        });
    std::vector<std::uint64_t> begins(owned + std::size_t{1});
    for (std::size_t i = 0; i < owned; ++i) begins[i + 1] = begins[i] + degrees[i];
    if (begins.back() > graph_.edges())
      throw Error(
          fmt::format("{}: the rows of process {} have more edges than the graph", graph_.path(), rank_));
    return begins;
  }

  template <class BytesOf>
  void load_entries(const std::vector<std::uint64_t>& begins, const topology::NodeMemory& to,
                    std::size_t entry_bytes, const BytesOf& bytes_of) {
    std::byte* const data = to.as<std::byte>().data();
    const auto offsets = graph_.offsets();
    send_all([&](LocalNumber local) { return data + entry_bytes * begins[local]; },
             [&](std::uint64_t first, std::uint64_t last) { graph_.verify_rows(first, last); },
             [&](VertexId v, const auto& take) { take(bytes_of(offsets[v], offsets[v + std::size_t{1}])); });
  }

  /// Checks the targets. The senders have checked their blocks; this finds faulty senders.
  void check_targets(const topology::NodeMemory& entries) {
    const auto ids = entries.as<const PlainId>();
    process_.pool().run([&](int lane) {
      const auto [first, last] = process_.pool().part(lane, ids.size());
      PlainId largest = 0;
      for (const PlainId id : ids.subspan(first, last - first)) largest = std::max(largest, id);
      if (first < last && largest >= graph_.vertices())
        throw Error(
            fmt::format("{}: a process has sent a row with a vertex that does not exist", graph_.path()));
    });
  }

  /// Sends the content of each row to its owner, row by row. at(local): its place for an owned vertex, or the
  /// end of all. verify(first, last) is called before rows are read. each(v, take) calls take(bytes) with the
  /// content.
  template <class At, class Verify, class Each>
  void send_all(const At& at, const Verify& verify, const Each& each) {
    process_.pool().run([&](int lane) {
      auto arrivals = expect(static_cast<std::size_t>(lane), at);
      const auto take = [&](int peer, std::span<const std::byte> bytes) {
        put(arrivals[static_cast<std::size_t>(peer)], bytes, peer);
      };
      const auto deliver = [&](Home home, std::span<const std::byte> bytes) {
        if (home.owner == rank_) {
          if (!bytes.empty()) std::memcpy(at(home.local), bytes.data(), bytes.size());
          return;
        }
        for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kSentAtOnce)))
          stream_.send(lane, static_cast<int>(home.owner), bytes.data(), std::min(bytes.size(), kSentAtOnce),
                       take);
      };
      ownership_.visit([&](const auto& scheme) {
        for (const auto& rows : mine_[static_cast<std::size_t>(lane)])
          for (std::uint64_t v = rows.first; v < rows.last; ++v) {
            if ((v - rows.first) % kRowsAtOnce == 0) verify(v, std::min(rows.last, v + kRowsAtOnce));
            const VertexId vertex(static_cast<PlainId>(v));
            each(vertex, [&](std::span<const std::byte> bytes) { deliver(scheme.home(vertex), bytes); });
          }
      });
      stream_.finish(lane, take);
      for (std::size_t p = 0; p < arrivals.size(); ++p)
        if (arrivals[p].next < arrivals[p].stretches.size())
          throw Error(fmt::format("rank {} has sent less of its rows than it has read", p));
    });
  }

  /// Returns the arrivals on this lane by peer. The rows of a range are those of owned vertices side by side.
  template <class At>
  std::vector<Arrivals> expect(std::size_t lane, const At& at) const {
    std::vector<Arrivals> arrivals(read_by_.size());
    for (std::size_t p = 0; p < arrivals.size(); ++p) {
      if (p == rank_) continue;
      for (const auto& rows : read_by_[p][lane]) {
        std::byte* const begin = at(LocalNumber(ownership_.count_below(rank_, rows.first)));
        std::byte* const end = at(LocalNumber(ownership_.count_below(rank_, rows.last)));
        if (begin < end) arrivals[p].stretches.emplace_back(begin, end);
      }
    }
    return arrivals;
  }

  static void put(Arrivals& to, std::span<const std::byte> bytes, int peer) {
    while (!bytes.empty()) {
      if (to.next == to.stretches.size())
        throw Error(fmt::format("rank {} has sent more of its rows than it has read", peer));
      auto& stretch = to.stretches[to.next];
      const std::size_t some = std::min(stretch.size(), bytes.size());
      std::memcpy(stretch.data(), bytes.data(), some);
      stretch = stretch.subspan(some);
      if (stretch.empty()) ++to.next;
      bytes = bytes.subspan(some);
    }
  }

  launch::Bootstrap& bootstrap_;
  process::LocalProcess& process_;
  const Graph& graph_;
  const Ownership& ownership_;
  std::uint32_t rank_;
  std::size_t lanes_;
  std::unique_ptr<transport::Transport> link_;
  channel::RecordStream stream_;
  std::vector<RowRanges> mine_;                  ///< rows to send by lane
  std::vector<std::vector<RowRanges>> read_by_;  ///< rows of all processes, [process][lane]
};

}  // namespace

Ownership make_ownership(launch::Bootstrap& bootstrap, const Graph& graph, const std::string& how) {
  const int processes = bootstrap.size();
  const auto create = [&] { return Ownership::create(how, graph.offsets(), processes); };
  if (processes == 1 || !Ownership::is_name_of_ranges(how)) return create();
  const auto here = rows_of_all(bootstrap, graph);
  const std::uint64_t vertices = graph.vertices();
  const bool everywhere =
      std::ranges::all_of(here, [&](const auto& ranges) { return are_all(ranges, vertices); });
  return Ownership::ranges(vertices, graph.edges(), processes, [&](std::uint64_t edge) {
    std::uint64_t first = vertices;
    for (const auto& rows : graph.rows_here())
      if (rows.first < rows.last)
        if (const auto found = first_from(graph, rows, edge); found <= rows.last)
          first = std::min(first, found);
    return everywhere ? first : launch::allreduce(bootstrap, first, std::ranges::min);
  });
}

OwnedRows load_rows(launch::Bootstrap& bootstrap, process::LocalProcess& process, const Graph& graph,
                    const Ownership& ownership, const RowContent& content) {
  if (bootstrap.size() == 1) return graph;
  const auto here = rows_of_all(bootstrap, graph);
  bool own_here = true;  // whether all processes have their rows here
  for (std::uint32_t p = 0; p < here.size() && own_here; ++p) own_here = hold_owned(here[p], ownership, p);
  const auto& nodes = bootstrap.nodes();
  const bool one_host = std::ranges::all_of(nodes, [&](int node) { return node == nodes[0]; });
  const auto all_cached = [&] {
    return launch::allreduce(bootstrap, std::uint64_t{graph.is_cached()}, std::ranges::min) != 0;
  };
  if (own_here && (one_host || ownership.is_ranges() || content.reading == RowReading::own ||
                   (content.reading == RowReading::automatic && all_cached())))
    return graph;
  return RowLoader(bootstrap, process, graph, ownership, here).load(content);
}

}  // namespace edgewire::partition
