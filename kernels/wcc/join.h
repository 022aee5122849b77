// The way processes link the components that each of them has found, where none has room for all.
//
// Of each two processes one receives the names that the other one has for the vertices that both know, and
// links them with its own. Names are linked in a union-find forest of their own, since those of other
// processes are among them. A process that gives a component a parent tells its owner; the owner links both,
// which may give another component a parent. A component with a parent takes no part any more, so the rest is
// halved in at most two such supersteps, until few are left, which process 0 links. Then owners are asked for
// roots: each answer leads at least twice as far. Parents are in an order that is a hash of their names,
// since in the order of the names a path could become one long chain; the smallest names follow at the end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mixing.h"
#include "frontier/frontier_job.h"
#include "frontier/known_values.h"
#include "frontier/superstep.h"
#include "kernels/wcc/wcc.h"

namespace edgewire::kernels {

/// The links among all processes, by the calling thread. Functions are collective; they throw Error.
class WccJoin {
 public:
  /// Makes the links. `job` and `open` outlive this. Memory: at most 40 bytes for each component of this
  /// process or of others that it receives, and 4 bytes for each root in OpenComponents::named.
  WccJoin(frontier::Job& job, const OpenComponents& open)
      : job_(job),
        open_(open),
        rank_(job.rank()),
        processes_(static_cast<std::uint32_t>(job.bootstrap().size())),
        table_(64),
        requested_(processes_),
        awaited_(processes_) {
    for (const LocalNumber root : open.roots().members<LocalNumber>())
      add(job.ownership().vertex(rank_, root));
  }

  /// Links the components that two processes have named for a vertex. Returns how many it has sent.
  std::uint64_t exchange_names() {
    const std::uint64_t mine = open_.giant == kNone ? kNoVertex : names_[open_.number(open_.giant)];
    const auto giants = job_.records().allgather({&mine, 1});
    Lists names(processes_), received(processes_);
    std::uint64_t sent = 0;
    for (std::uint32_t peer = 0; peer < processes_; ++peer) {
      if (((rank_ + peer) % 2 == 1) == (rank_ < peer)) {
        received[peer].resize(open_.named[peer].size());
        continue;
      }
      for (const std::uint32_t root : open_.named[peer])
        names[peer].push_back(root == kNone ? kNoVertex : names_[open_.number(root)]);
      sent += names[peer].size();
    }
    exchange(names, received);
    const auto first = std::ranges::find_if(giants, [](std::uint64_t name) { return name != kNoVertex; });
    if (mine != kNoVertex) link(open_.number(open_.giant), number_of(static_cast<PlainId>(*first)));
    for (std::uint32_t peer = 0; peer < processes_; ++peer)
      for (std::size_t i = 0; i < received[peer].size(); ++i) {
        if (received[peer].size() - i > kNamesAhead) fetch(received[peer][i + kNamesAhead]);
        if (const std::uint32_t root = open_.named[peer][i]; root != kNone && received[peer][i] != kNoVertex)
          link(open_.number(root), number_of(received[peer][i]));
      }
    return sent;
  }
  /// Links all components, until every owner knows the parents. Process 0 links them where it gets no more
  /// than `room`: it ends a long path of few.
  void link_all(frontier::SuperstepLog& log, std::uint64_t room) {
    for (;;) {
      const std::uint64_t pending = job_.sum_of_all(pending_.size());
      if (pending == 0) return;
      if (pending <= room)
        log.step(WccMerge::kGather, [this](frontier::Superstep& done) { send_parents(done, true); });
      log.step(WccMerge::kTell, [this](frontier::Superstep& done) { send_parents(done, false); });
    }
  }
  /// Returns, after link_all(), the smallest vertices of the components of this process, by number.
  std::vector<PlainId> labels(frontier::SuperstepLog& log) {
    const std::uint32_t own = open_.count();
    for (std::uint32_t n = 0; n < own; ++n) note(root(n), names_[n]);
    while (job_.sum_of_all(to_ask_.size()) > 0)
      log.step(WccMerge::kAsk, [this](frontier::Superstep& done) { ask_for_roots(done); });
    log.step(WccMerge::kLabel, [this](frontier::Superstep& done) {
      Lists labels(processes_), taken(processes_);
      for (std::uint32_t peer = 0; peer < processes_; ++peer) {
        for (const std::uint32_t n : requested_[peer]) labels[peer].push_back(least_[n]);
        taken[peer].resize(awaited_[peer].size());
        done.frontier += requested_[peer].size();
      }
      exchange(labels, taken);
      for (std::uint32_t peer = 0; peer < processes_; ++peer)
        for (std::size_t i = 0; i < taken[peer].size(); ++i) least_[awaited_[peer][i]] = taken[peer][i];
    });
    std::vector<PlainId> labels(own);
    for (std::uint32_t n = 0; n < own; ++n) labels[n] = least_[root(n)];
    return labels;
  }

 private:
  static constexpr std::uint32_t kNone = OpenComponents::kNone;
  static constexpr std::size_t kNamesAhead = 16;    // number of names that are fetched before they are linked
  using Lists = std::vector<std::vector<PlainId>>;  // lists by peer
  struct Slot {
    PlainId name;
    std::uint32_t number = kNone;  ///< number; kNone: free
  };
  struct Question {
    std::uint32_t peer, number;
    PlainId least;
  };

  /// Gives the name a number.
  std::uint32_t add(PlainId name) {
    const auto number = static_cast<std::uint32_t>(names_.size());
    if (number == kNone) throw Error("a process has heard of too many components");
    if (names_.size() * 3 >= table_.size() * 2) {
      table_.assign(table_.size() * 2, Slot{});
      for (std::uint32_t n = 0; n < number; ++n) table_[slot_of(names_[n])] = {names_[n], n};
    }
    table_[slot_of(name)] = {name, number};
    parents_.push_back(number);
    names_.push_back(name);
    least_.push_back(kNoVertex);
    return number;
  }
  /// Returns the number of a component that a process has named.
  std::uint32_t number_of(PlainId name) {
    if (const Slot& found = table_[slot_of(name)]; found.number != kNone) return found.number;
    if (name >= job_.graph().vertices()) throw Error("a process has sent a vertex that does not exist");
    if (job_.ownership().home(VertexId(name)).owner == rank_)
      throw Error("a process has named a component that its owner has not");
    return add(name);
  }
  /// Returns where the name is in the table, or the free slot where it belongs.
  std::size_t slot_of(PlainId name) const noexcept {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = mix64(name) & mask;
    while (table_[at].number != kNone && table_[at].name != name) at = (at + 1) & mask;
    return at;
  }
  void fetch(PlainId name) const noexcept {
    __builtin_prefetch(table_.data() + (mix64(name) & (table_.size() - 1)));
  }
  std::uint32_t owner_of(std::uint32_t n) const noexcept {
    return job_.ownership().home(VertexId(names_[n])).owner;
  }
  /// Returns the order by which a root is lower than all others of its tree, in all processes the same.
  std::uint64_t order(std::uint32_t n) const noexcept { return mix64(names_[n]); }
  /// Returns the root; halves the path (Tarjan, van Leeuwen: "Worst-case analysis of set union algorithms",
  /// 1984).
  std::uint32_t root(std::uint32_t n) noexcept {
    while (parents_[n] != n) n = parents_[n] = parents_[parents_[n]];
    return n;
  }
  void link(std::uint32_t n, std::uint32_t m) {
    std::uint32_t high = root(n), low = root(m);
    if (high == low) return;
    if (order(high) < order(low)) std::swap(high, low);
    parents_[high] = low;
    pending_.push_back(high);
  }
  /// Sends the parents of components to their owners, or to process 0, and links those that arrive.
  void send_parents(frontier::Superstep& done, bool to_one) {
    std::vector<frontier::Record> received;
    const auto take = [&](frontier::Record record) { received.push_back(record); };
    const bool sends = !to_one || rank_ != 0;
    for (const std::uint32_t n : sends ? std::exchange(pending_, {}) : std::vector<std::uint32_t>()) {
      const std::uint32_t to = to_one ? 0 : owner_of(n);
      if (to == rank_) continue;
      job_.records().send(0, static_cast<int>(to), frontier::Record{names_[n], names_[root(n)]}, take);
      ++done.frontier;
    }
    job_.records().finish(0, take);
    for (std::size_t i = 0; i < received.size(); ++i) {
      if (received.size() - i > kNamesAhead) {
        fetch(received[i + kNamesAhead].vertex);
        fetch(received[i + kNamesAhead].value);
      }
      const std::uint32_t child = number_of(received[i].vertex);
      link(child, number_of(received[i].value));
    }
  }
  /// Notes that the vertex is in the component of the root.
  void note(std::uint32_t root, PlainId vertex) {
    if (vertex >= least_[root]) return;
    least_[root] = vertex;
    if (root >= open_.count()) to_ask_.push_back(root);
  }
  /// Asks owners for the parents of the roots that this process knows, and tells them the smallest vertex
  /// below each. A root that is one at its owner, too, gets a label later.
  void ask_for_roots(frontier::Superstep& done) {
    std::vector<std::vector<std::uint32_t>> asked(processes_);
    std::vector<Question> questions;
    const auto take = [&](int peer, frontier::Record record) {
      questions.push_back({static_cast<std::uint32_t>(peer), number_of(record.vertex), record.value});
    };
    std::ranges::sort(to_ask_);
    to_ask_.erase(std::unique(to_ask_.begin(), to_ask_.end()), to_ask_.end());
    for (const std::uint32_t n : std::exchange(to_ask_, {})) {
      const std::uint32_t owner = owner_of(n);
      asked[owner].push_back(n);
      job_.records().send(0, static_cast<int>(owner), frontier::Record{names_[n], least_[n]}, take);
      ++done.frontier;
    }
    job_.records().finish(0, take);
    Lists answers(processes_), received(processes_);
    for (const Question& one : questions) {
      if (one.number >= open_.count()) throw Error("a process has asked for a vertex of another one");
      const std::uint32_t top = root(one.number);
      const bool is_last = top < open_.count();
      answers[one.peer].push_back(is_last ? kNoVertex : names_[top]);
      if (!is_last) continue;
      note(top, one.least);
      requested_[one.peer].push_back(top);
    }
    for (std::uint32_t peer = 0; peer < processes_; ++peer) received[peer].resize(asked[peer].size());
    exchange(answers, received);
    for (std::uint32_t peer = 0; peer < processes_; ++peer)
      for (std::size_t i = 0; i < asked[peer].size(); ++i) {
        const std::uint32_t n = asked[peer][i];
        if (received[peer][i] == kNoVertex) {
          awaited_[peer].push_back(n);
          continue;
        }
        const std::uint32_t top = root(number_of(received[peer][i]));
        if (order(top) >= order(n)) throw Error("a process has named a vertex as a root that is none");
        parents_[n] = top;
        note(top, least_[n]);
      }
  }
  /// Sends one list from each process to each peer; both know its length.
  void exchange(const Lists& sent, Lists& taken) {
    job_.pool().run([&](int lane) {
      frontier::exchange_lists(
          job_, lane, [&](std::uint32_t peer) -> std::uint64_t { return sent[peer].size(); },
          [&](std::uint32_t peer) -> std::uint64_t { return taken[peer].size(); },
          [&](std::uint32_t peer, std::uint64_t i) { return sent[peer][i]; },
          [&](std::uint32_t peer, std::uint64_t i, PlainId value) { taken[peer][i] = value; });
    });
  }

  frontier::Job& job_;
  const OpenComponents& open_;
  std::uint32_t rank_, processes_;
  // Components of this process have the numbers of `open_`; those of others follow as they become known.
  std::vector<std::uint32_t> parents_;
  std::vector<PlainId> names_;
  std::vector<PlainId> least_;          ///< smallest vertex that is known to be in the component of a root
  std::vector<Slot> table_;             ///< numbers by a hash of their names
  std::vector<std::uint32_t> pending_;  ///< components whose owners do not know their parent
  std::vector<std::uint32_t> to_ask_;   ///< roots of other processes
  /// Roots here whose labels a peer has asked for, and the peer's roots that are asked for, [peer].
  std::vector<std::vector<std::uint32_t>> requested_, awaited_;
};

}  // namespace edgewire::kernels
