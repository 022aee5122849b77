// How ComponentsApart links components of several processes.
#include <algorithm>

#include "base/mixing.h"
#include "frontier/components_apart.h"

namespace edgewire::frontier {

void ComponentsApart::hang(std::uint32_t n, std::uint32_t below) noexcept {
  if (n < known_)
    forest_.set_above(n, below);
  else
    far_above_[n - known_] = below;
}

std::uint32_t ComponentsApart::root(std::uint32_t n) const noexcept {
  for (std::uint32_t next = above(n); next != n; next = above(n)) n = next;
  return n;
}

/// Halves the path on its way (Tarjan, van Leeuwen: "Worst-case analysis of set union algorithms", 1984).
std::uint32_t ComponentsApart::root_by_halves(std::uint32_t n) noexcept {
  for (;;) {
    const std::uint32_t next = above(n), top = above(next);
    if (top == next) return top;
    hang(n, top);
    n = top;
  }
}

/// The name of a component, or the label that it has in the end.
std::uint32_t ComponentsApart::id(std::uint32_t n) const noexcept {
  return n < known_ ? std::uint32_t{boundary_.vertex(KnownNumber(n))} : far_ids_[n - known_];
}

/// What is higher hangs below what is lower. The same in all processes, and never the same for two names.
std::uint64_t ComponentsApart::order(std::uint32_t n) const noexcept {
  return hashed_ ? mix64(id(n)) : id(n);
}

std::uint32_t ComponentsApart::owner_of(std::uint32_t n) const noexcept {
  return n < known_ ? rank_ : job_.ownership().place(VertexId(far_ids_[n - known_])).owner;
}

/// The number of a component that a process has named.
std::uint32_t ComponentsApart::number_of(std::uint32_t vertex) {
  if (vertex >= job_.graph().vertices()) throw Error("a process has sent a vertex that does not exist");
  const plan::Place place = job_.ownership().place(VertexId(vertex));
  if (place.owner == rank_) return place.local;
  if (far_ids_.size() * 2 >= table_.size()) grow_table();
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = mix64(vertex) & mask;; at = (at + 1) & mask) {
    const std::uint32_t n = table_[at];
    if (n != kNone && far_ids_[n - known_] == vertex) return n;
    if (n != kNone) continue;
    const std::uint64_t next = std::uint64_t{known_} + far_ids_.size();
    if (next >= kNone) throw Error("a process has heard of too many components");
    table_[at] = static_cast<std::uint32_t>(next);
    far_ids_.push_back(vertex);
    far_above_.push_back(table_[at]);
    return table_[at];
  }
}

void ComponentsApart::grow_table() {
  table_.assign(std::max<std::size_t>(64, table_.size() * 2), kNone);
  for (std::size_t i = 0; i < far_ids_.size(); ++i) {
    std::size_t at = mix64(far_ids_[i]) & (table_.size() - 1);
    while (table_[at] != kNone) at = (at + 1) & (table_.size() - 1);
    table_[at] = known_ + static_cast<std::uint32_t>(i);
  }
}

void ComponentsApart::link(std::uint32_t n, std::uint32_t m) {
  std::uint32_t high = root_by_halves(n), low = root_by_halves(m);
  if (high == low) return;
  if (order(high) < order(low)) std::swap(high, low);
  hang(high, low);
  pending_.push_back(high);
  if (hashed_ && high < owned_) hung_.push_back(high);
}

/// Until nobody has anything to tell.
void ComponentsApart::link_pending(SuperstepLog& log) {
  for (;;) {
    const std::uint64_t pending = job_.sum_of_all(std::array<std::uint64_t, 1>{pending_.size()})[0];
    if (pending == 0) return;
    if (!hashed_ || pending <= few_) log.step(kGather, [this](Superstep& done) { tell(done, true); });
    log.step(kTell, [this](Superstep& done) { tell(done, false); });
    if (!hashed_) return;  // process 0 knew all, and has told what it found
  }
}

/// Tells the owners of components below which ones they hang, or process 0.
void ComponentsApart::tell(Superstep& done, bool to_one) {
  if (to_one && rank_ == 0) {
    job_.records().finish(0,
                          [this](Record record) { link(number_of(record.vertex), number_of(record.value)); });
    return;
  }
  const auto take = [this](Record record) { link(number_of(record.vertex), number_of(record.value)); };
  for (const std::uint32_t n : std::exchange(pending_, {})) {
    const std::uint32_t to = to_one ? 0 : owner_of(n);
    if (to == rank_) continue;
    job_.records().send(0, static_cast<int>(to), Record{id(n), id(root_by_halves(n))}, take);
    ++done.frontier;
  }
  job_.records().finish(0, take);
}

/// The vertex is in the component of the root.
void ComponentsApart::note(std::uint32_t root, std::uint32_t vertex) {
  if (root >= least_.size()) least_.resize(known_ + far_ids_.size(), kNone);
  if (vertex >= least_[root]) return;
  least_[root] = vertex;
  if (root >= owned_) to_ask_.push_back(root);
}

void ComponentsApart::ask_for_roots(SuperstepLog& log) {
  for (const std::uint32_t n : hung_) note(root_by_halves(n), id(n));
  while (job_.sum_of_all(std::array<std::uint64_t, 1>{to_ask_.size()})[0] > 0)
    log.step(kAsk, [this](Superstep& done) { ask(done); });
  log.step(kLabel, [this](Superstep& done) { send_labels(done); });
}

/// Asks owners below which components the roots hang that this process knows, and tells them the smallest
/// vertex below each. A root that hangs below no other one gets a label later.
void ComponentsApart::ask(Superstep& done) {
  std::vector<std::vector<std::uint32_t>> asked(processes_), answers(processes_);
  std::vector<Question> questions;
  const auto hear = [&](int peer, Record record) {
    questions.push_back({static_cast<std::uint32_t>(peer), record.vertex, record.value});
  };
  std::ranges::sort(to_ask_);
  to_ask_.erase(std::unique(to_ask_.begin(), to_ask_.end()), to_ask_.end());
  for (const std::uint32_t n : std::exchange(to_ask_, {})) {
    const std::uint32_t owner = owner_of(n);
    asked[owner].push_back(n);
    job_.records().send(0, static_cast<int>(owner), Record{id(n), least_[n]}, hear);
    ++done.frontier;
  }
  job_.records().finish(0, hear);
  const auto take = [&](int peer, Record record) {
    Names::take(record, answers[static_cast<std::size_t>(peer)]);
  };
  std::vector<Names> names(processes_);
  for (const Question& one : questions) {
    const std::uint32_t n = number_of(one.vertex);
    if (n >= owned_) throw Error("a process has asked for a vertex of another one");
    const std::uint32_t top = root_by_halves(n);
    if (top < owned_) {
      note(top, one.least);
      waiting_[one.peer].push_back(top);
    }
    names[one.peer].put(top < owned_ ? kNone : id(top), [&](Record record) {
      job_.records().send(0, static_cast<int>(one.peer), record, take);
    });
  }
  for (std::uint32_t peer = 0; peer < processes_; ++peer)
    names[peer].end([&](Record record) { job_.records().send(0, static_cast<int>(peer), record, take); });
  job_.records().finish(0, take);
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    Names::check(answers[peer], asked[peer].size());
    for (std::size_t i = 0; i < asked[peer].size(); ++i) {
      const std::uint32_t n = asked[peer][i], name = answers[peer][i];
      if (name == kNone) {
        awaited_[peer].push_back(n);
        continue;
      }
      const std::uint32_t top = root_by_halves(number_of(name));
      if (order(top) >= order(n)) throw Error("a process has named a root that is none");
      hang(n, top);
      note(top, least_[n]);
    }
  }
}

/// Roots have the smallest vertex of their component as label from here on.
void ComponentsApart::send_labels(Superstep& done) {
  for (std::uint32_t n = 0; n < std::min<std::size_t>(owned_, least_.size()); ++n) {
    if (least_[n] >= id(n) || above(n) != n) continue;
    const auto label = known_ + static_cast<std::uint32_t>(far_ids_.size());
    far_ids_.push_back(least_[n]);
    far_above_.push_back(label);
    hang(n, label);
  }
  std::vector<std::vector<std::uint32_t>> labels(processes_);
  const auto take = [&](int peer, Record record) {
    Names::take(record, labels[static_cast<std::size_t>(peer)]);
  };
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    const auto send = [&](Record record) { job_.records().send(0, static_cast<int>(peer), record, take); };
    Names names;
    for (const std::uint32_t n : waiting_[peer]) {
      names.put(id(root(n)), send);
      ++done.frontier;
    }
    names.end(send);
  }
  job_.records().finish(0, take);
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    Names::check(labels[peer], awaited_[peer].size());
    for (std::size_t i = 0; i < awaited_[peer].size(); ++i)
      far_ids_[awaited_[peer][i] - known_] = labels[peer][i];
  }
}

}  // namespace edgewire::frontier
