#include "kernels/cdlp/cdlp.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "base/error.h"
#include "edgewire/graph.h"
#include "options/kernels.h"

namespace edgewire::kernels {

Cdlp::Cdlp(frontier::Job& job)
    : job_(job),
      rows_(job),
      steps_(job, nullptr, &rows_.boundary()),
      label_memory_(known() * sizeof(PlainId), -1, "labels", topology::Begin::staggered),
      labels_(label_memory_.as<PlainId>()),
      next_(job.owned()),
      news_(known(), job.pool().workers() > 1),
      voters_(knows_only_owned() ? known() : 0, job.pool().workers() > 1),
      led_by_(known()),
      workers_(static_cast<std::size_t>(job.pool().workers())) {
  for (LocalNumber local{}; local < job.owned(); ++local) {
    labels_[local] = next_[local] = job.ownership().vertex(job.rank(), local);
    owned_edges_ += rows_.out(local).size();
  }
  for (KnownNumber n(job.owned()); n < known(); ++n) labels_[n] = rows_.boundary().vertex(n);
}

/// Goes on from these labels. All vertices have news: which labels the last round had changed is not known.
void Cdlp::resume(std::uint64_t rounds, std::vector<PlainId> labels) {
  const std::uint64_t vertices = job_.graph().vertices();
  if (labels.size() != next_.size()) throw Error("the labels are those of other vertices");
  for (const PlainId label : labels)
    if (label >= vertices)
      throw Error(
          fmt::format("a label of the checkpoint is {}, but the graph has {} vertices", label, vertices));
  next_ = std::move(labels);
  done_ = rounds;
  first_ = false;
  adopt();
  job_.wait_for_all();
  for (std::size_t w = 0; w < news_.words(); ++w)
    news_.set_word(w, ~Bits::Word{0} >> (w + 1 == news_.words() ? news_.words() * Bits::kBits - known() : 0));
}

std::vector<frontier::Superstep> Cdlp::run(std::uint64_t rounds,
                                           const std::function<void(std::uint64_t)>& after_round) {
  if (rounds == 0) throw UsageError(fmt::format("{} must be at least 1", opt::iterations));
  frontier::SuperstepLog log(job_);
  bool changed = true;
  for (std::uint64_t done = done_; changed && done < rounds;) {
    log.step(0, workers_, [&] {
      round();
      std::uint64_t changes = 0;
      for (const Worker& worker : workers_) changes += worker.changed;
      changed = job_.sum_of_all(changes) > 0;
    });
    after_round(++done);
  }
  job_.wait_for_all();
  return log.take();
}

void Cdlp::round() {
  if (!first_) {
    find_leader();
    mark_voters();
  }
  for (Worker& worker : workers_) worker.changed = worker.changed_degree = 0;
  job_.for_each_range([this](int w, LocalNumber first, LocalNumber last) {
    vote(workers_[static_cast<std::size_t>(w)], first, last);
  });
  news_.clear();
  first_ = false;
  adopt();
}

inline bool Cdlp::has_news(Row neighbours) const noexcept {
  return std::ranges::any_of(neighbours, [&](KnownNumber u) { return news_.test(u); });
}

void Cdlp::vote(Worker& worker, LocalNumber first, LocalNumber last) {
  for (LocalNumber local = first; local < last; ++local) {
    if (marked_ && !voters_.test(local)) continue;
    const Row out = rows_.out(local), in = rows_.in(local);
    if (out.empty() && in.empty()) continue;
    if (!first_ && !marked_ && !has_news(out) && !has_news(in)) continue;
    next_[local] = winner(worker, out, in);
  }
}

PlainId Cdlp::winner(Worker& worker, Row out, Row in) const {
  ++worker.vertices;
  worker.edges += out.size() + in.size();
  const std::size_t votes = out.size() + in.size();
  if (first_ && in.empty() && job_.graph().simple())
    return labels_[out.front()];  // all labels differ, and rows are in the order of ids
  if (votes <= 4) return winner_of_few<4>(out, in);
  if (led_ && leader_wins(out, in)) return leader_;
  if (votes <= 8) return winner_of_few<8>(out, in);
  worker.votes.start(std::min(votes, labels_.size()));
  count(worker, out);
  count(worker, in);
  return worker.votes.winner();
}

/// Returns whether the leading label has more than half of the votes. The bits fit the cache, labels do not.
bool Cdlp::leader_wins(Row out, Row in) const noexcept {
  constexpr std::size_t kStride = 64;
  const std::size_t need = (out.size() + in.size()) / 2 + 1;
  std::size_t votes = 0, left = out.size() + in.size();
  for (auto row : {out, in}) {
    while (!row.empty()) {
      const auto some = row.first(std::min(row.size(), kStride));
      for (const KnownNumber u : some) votes += led_by_.test(u);
      left -= some.size();
      if (votes >= need) return true;
      if (votes + left < need) return false;
      row = row.subspan(some.size());
    }
  }
  return false;
}

/// Compares each label with all, `Most` at once in registers.
template <std::size_t Most>
PlainId Cdlp::winner_of_few(Row out, Row in) const {
  using Slot = VoteTable::Slot;
  std::array<PlainId, Most> heard;
  heard.fill(kNoVertex);  // kNoVertex is no vertex's label
  std::size_t votes = 0;
  for (const KnownNumber u : out) heard[votes++] = labels_[u];
  for (const KnownNumber u : in) heard[votes++] = labels_[u];
  Slot best = 0;
  for (std::size_t i = 0; i < votes; ++i) {
    std::uint32_t count = 0;
    for (const PlainId label : heard) count += label == heard[i];
    best = std::max(best, Slot{count} << VoteTable::kLabelBits | static_cast<PlainId>(~heard[i]));
  }
  return ~static_cast<PlainId>(best);
}

/// Counts labels. They are fetched first and counted then, so that the processor has many fetches under way:
/// a wrong guess in the counting does not hold them up.
void Cdlp::count(Worker& worker, Row neighbours) const {
  std::array<PlainId, 1024> heard;
  while (!neighbours.empty()) {
    const auto some = neighbours.first(std::min(neighbours.size(), heard.size()));
    for (std::size_t i = 0; i < some.size(); ++i) heard[i] = labels_[some[i]];
    worker.votes.add(std::span(heard).first(some.size()));
    neighbours = neighbours.subspan(some.size());
  }
}

/// Makes the new labels visible to neighbours in all processes.
void Cdlp::adopt() {
  for (Worker& worker : workers_) worker.leading = {};
  job_.for_each_range([this](int w, LocalNumber first, LocalNumber last) {
    Worker& worker = workers_[static_cast<std::size_t>(w)];
    for (LocalNumber local = first; local < last; ++local) {
      const std::uint64_t degree = rows_.out(local).size();
      worker.leading.add(next_[local], degree);
      if (labels_[local] == next_[local]) continue;
      labels_[local] = next_[local];
      news_.add(local);
      ++worker.changed;
      worker.changed_degree += degree + rows_.in(local).size();
    }
  });
  steps_.broadcast(
      news_.all_words(), [this](LocalNumber local) { return labels_[local]; },
      [this](KnownNumber number, PlainId label) {
        if (label >= job_.graph().vertices()) throw Error("a process has sent a label that is no vertex");
        labels_[number] = label;
        news_.add(number);
        return false;
      });
}

/// Finds the label that leads. In most graphs one label soon has most vertices. Which one is a guess from the
/// owned vertices, and so is whether more than half of all edges lead to them.
void Cdlp::find_leader() {
  LeadingLabel leading;
  for (const Worker& worker : workers_) leading.add(worker.leading);
  leader_ = leading.label();
  job_.pool().run([&](int lane) {
    const auto mine = job_.pool().part(lane, led_by_.words());
    std::uint64_t degree = 0;
    for (std::uint64_t w = mine.first; w < mine.last; ++w) {
      Bits::Word word = 0;
      const std::uint64_t first = w * Bits::kBits,
                          last = std::min<std::uint64_t>(first + Bits::kBits, known());
      for (std::uint64_t n = first; n < last; ++n) {
        if (labels_[n] != leader_) continue;
        word |= Bits::Word{1} << n % Bits::kBits;
        if (n >= job_.owned()) continue;
        const LocalNumber local(static_cast<std::uint32_t>(n));
        degree += rows_.out(local).size();
      }
      led_by_.set_word(w, word);
    }
    workers_[static_cast<std::size_t>(lane)].leading_degree = degree;
  });
  std::uint64_t degree = 0;
  for (const Worker& worker : workers_) degree += worker.leading_degree;
  led_ = degree > owned_edges_ / 2;
}

/// Marks the vertices that vote. Where few labels have changed, their vertices tell their neighbours, which
/// reads less than if all looked for news. It needs the rows of all neighbours.
void Cdlp::mark_voters() {
  constexpr std::uint64_t kFewer = 16;
  std::uint64_t degree = 0;
  for (const Worker& worker : workers_) degree += worker.changed_degree;
  marked_ = knows_only_owned() && degree < job_.graph().edges() / kFewer;
  if (!marked_) return;
  voters_.clear();
  job_.pool().run([&](int lane) {
    const auto [first, last] = job_.pool().part(lane, news_.words());
    for (std::uint64_t w = first; w < last; ++w) {
      for (Bits::Word word = news_.word(w); word != 0; word &= word - 1) {
        const LocalNumber v(static_cast<std::uint32_t>(w * Bits::kBits) +
                            static_cast<std::uint32_t>(std::countr_zero(word)));
        voters_.add_all(rows_.out(v));
        voters_.add_all(rows_.in(v));
      }
    }
  });
}

}  // namespace edgewire::kernels
