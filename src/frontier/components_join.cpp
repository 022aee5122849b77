// How ComponentsApart links components of several processes.
#include <algorithm>

#include "base/error.h"
#include "base/mixing.h"
#include "frontier/components_apart.h"
#include "frontier/names.h"

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
PlainId ComponentsApart::id(std::uint32_t n) const noexcept {
  return n < known_ ? PlainId{boundary_.vertex(KnownNumber(n))} : far_ids_[n - known_];
}

std::uint32_t ComponentsApart::owner_of(std::uint32_t n) const noexcept {
  return n < known_ ? rank_ : job_.ownership().place(VertexId(far_ids_[n - known_])).owner;
}

/// Of a component that a process has named.
partition::Place ComponentsApart::place_of(PlainId vertex) const {
  if (vertex >= job_.graph().vertices()) throw Error("a process has sent a vertex that does not exist");
  return job_.ownership().place(VertexId(vertex));
}

/// Into the cache: what number_of() and link() look at first.
void ComponentsApart::fetch(PlainId vertex) const {
  const partition::Place place = place_of(vertex);
  if (place.owner == rank_)
    forest_.fetch(place.local);
  else if (!table_.empty())
    __builtin_prefetch(&table_[mix64(vertex) & (table_.size() - 1)]);
}

/// The number of a component that a process has named.
std::uint32_t ComponentsApart::number_of(PlainId vertex) {
  const partition::Place place = place_of(vertex);
  if (place.owner == rank_) return place.local;
  if (far_ids_.size() * 3 >= table_.size() * 2) grow_table();
  Slot& slot = slot_of(vertex);
  if (slot.number != kNone) return slot.number;
  slot = {vertex, add_far(vertex)};
  return slot.number;
}

/// A number for a component of another process, or for a label.
std::uint32_t ComponentsApart::add_far(PlainId vertex) {
  const std::uint64_t next = std::uint64_t{known_} + far_ids_.size();
  if (next >= kNone) throw Error("a process has heard of too many components");
  far_ids_.push_back(vertex);
  far_above_.push_back(static_cast<std::uint32_t>(next));
  return static_cast<std::uint32_t>(next);
}

/// The slot of the vertex, or the free one where it belongs.
ComponentsApart::Slot& ComponentsApart::slot_of(PlainId vertex) noexcept {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = mix64(vertex) & mask;
  while (table_[at].number != kNone && table_[at].vertex != vertex) at = (at + 1) & mask;
  return table_[at];
}

void ComponentsApart::grow_table() {
  table_.assign(std::max<std::size_t>(64, table_.size() * 2), Slot{});
  for (std::uint32_t i = 0; i < far_ids_.size(); ++i) slot_of(far_ids_[i]) = {far_ids_[i], known_ + i};
}

void ComponentsApart::link(std::uint32_t n, std::uint32_t m) {
  std::uint32_t high = root_by_halves(n), low = root_by_halves(m);
  if (high == low) return;
  if (order(high) < order(low)) std::swap(high, low);
  hang(high, low);
  pending_.push_back(high);
  if (high < owned_) hung_.push_back(high);
}

/// Until nobody has anything to tell. Nobody knows all: process 0 is only to end a long path of few.
void ComponentsApart::link_pending(SuperstepLog& log) {
  for (;;) {
    const std::uint64_t pending = job_.sum_of_all(std::array<std::uint64_t, 1>{pending_.size()})[0];
    if (pending == 0) return;
    if (pending <= room_.left) log.step(kGather, [this](Superstep& done) { tell(done, true); });
    log.step(kTell, [this](Superstep& done) { tell(done, false); });
  }
}

/// Links what arrives, some at once, so that what has to be looked at is fetched meanwhile.
class ComponentsApart::Pairs {
 public:
  explicit Pairs(ComponentsApart& parts) noexcept : parts_(parts) {}
  void take(Record pair) {
    parts_.fetch(pair.vertex);
    if (pair.value != fetched_) parts_.fetch(pair.value);
    fetched_ = pair.value;
    some_[count_++] = pair;
    if (count_ == some_.size()) link();
  }
  void link() {
    for (const Record pair : std::span(some_).first(std::exchange(count_, 0))) {
      if (pair.value != linked_) number_ = parts_.number_of(pair.value);
      linked_ = pair.value;  // many hang below the same one
      parts_.link(parts_.number_of(pair.vertex), number_);
    }
  }

 private:
  ComponentsApart& parts_;
  std::array<Record, 32> some_{};
  std::size_t count_ = 0;
  PlainId fetched_ = kNoVertex, linked_ = kNoVertex;
  std::uint32_t number_ = kNone;
};

/// Tells the owners of components below which ones they hang, or process 0.
void ComponentsApart::tell(Superstep& done, bool to_one) {
  Pairs pairs(*this);
  const auto take = [&](Record record) { pairs.take(record); };
  const bool sends = !to_one || rank_ != 0;
  for (const std::uint32_t n : sends ? std::exchange(pending_, {}) : std::vector<std::uint32_t>()) {
    const std::uint32_t to = to_one ? 0 : owner_of(n);
    if (to == rank_) continue;
    job_.records().send(0, static_cast<int>(to), Record{id(n), id(root_by_halves(n))}, take);
    ++done.frontier;
  }
  job_.records().finish(0, take);
  pairs.link();
}

/// The vertex is in the component of the root.
void ComponentsApart::note(std::uint32_t root, PlainId vertex) {
  if (root >= least_.size()) least_.resize(known_ + far_ids_.size(), kNoVertex);
  if (vertex >= least_[root]) return;
  if (root >= owned_)
    to_ask_.push_back(root);
  else if (least_[root] == kNoVertex)
    noted_.push_back(root);
  least_[root] = vertex;
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
  std::vector<std::vector<std::uint32_t>> asked(processes_);
  std::vector<std::vector<PlainId>> answers(processes_);
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
    names[one.peer].put(top < owned_ ? kNoVertex : id(top), [&](Record record) {
      job_.records().send(0, static_cast<int>(one.peer), record, take);
    });
  }
  for (std::uint32_t peer = 0; peer < processes_; ++peer)
    names[peer].end([&](Record record) { job_.records().send(0, static_cast<int>(peer), record, take); });
  job_.records().finish(0, take);
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    Names::check(answers[peer], asked[peer].size());
    for (std::size_t i = 0; i < asked[peer].size(); ++i) {
      const std::uint32_t n = asked[peer][i];
      const PlainId name = answers[peer][i];
      if (name == kNoVertex) {
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
  for (const std::uint32_t n : noted_) {
    if (least_[n] >= id(n) || above(n) != n) continue;
    hang(n, add_far(least_[n]));
  }
  std::vector<std::vector<PlainId>> labels(processes_);
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
