#include "frontier/gathered_components.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/error.h"
#include "frontier/known_values.h"
#include "frontier/names.h"

namespace edgewire::frontier {

namespace {

constexpr std::uint32_t kValueBits = 32;

unsigned bits_of(std::uint64_t number) noexcept {
  return std::max(1U, static_cast<unsigned>(std::bit_width(number)));
}

/// How many members a set has below each of its members.
class MembersBelow {
 public:
  explicit MembersBelow(const Bits& set) : set_(set), before_(set.words()) {
    std::uint32_t members = 0;
    for (std::size_t w = 0; w < before_.size(); ++w) {
      before_[w] = members;
      members += static_cast<std::uint32_t>(std::popcount(set.word(w)));
    }
  }
  std::uint32_t operator()(std::uint32_t member) const noexcept {
    const std::uint64_t below = (std::uint64_t{1} << member % Bits::kBits) - 1;
    return before_[member / Bits::kBits] +
           static_cast<std::uint32_t>(std::popcount(set_.word(member / Bits::kBits) & below));
  }

 private:
  const Bits& set_;
  std::vector<std::uint32_t> before_;  ///< [word]
};

std::uint64_t members_of(const Bits& set) noexcept {
  std::uint64_t members = 0;
  for (const Bits::Word word : set.all_words()) members += static_cast<unsigned>(std::popcount(word));
  return members;
}

[[noreturn]] void refuse_list() { throw Error("a process has sent components that it cannot have"); }

}  // namespace

ComponentList::ComponentList(std::uint32_t processes, std::uint32_t owned, Size size)
    : processes_(processes),
      owned_(owned),
      size_(size),
      name_bits_(bits_of(size.components)),
      owner_bits_(bits_of(owned)),
      as_bits_(PackedNumbers::words(owned, 1) < PackedNumbers::words(size.components, owner_bits_)),
      names_begin_(owners_begin() + (as_bits_ ? PackedNumbers::words(owned, 1)
                                              : PackedNumbers::words(size.components, owner_bits_))),
      length_(names_begin_ + PackedNumbers::words(size.names, name_bits_)) {}

void ComponentList::put_owners(const Bits& named) {
  if (as_bits_) {
    for (std::uint64_t i = 0; i < PackedNumbers::words(owned_, 1); ++i)
      values_[owners_begin() + i] = static_cast<std::uint32_t>(named.word(i / 2) >> (i % 2 * kValueBits));
    return;
  }
  PackedNumbers out(values_.data() + owners_begin(), owner_bits_);
  std::uint64_t next = 0;
  for (const std::uint32_t owned : named.members()) out.put(next++, owned);
}

std::vector<LocalNumber> ComponentList::owners() {
  std::vector<LocalNumber> owners;
  owners.reserve(size_.components);
  if (as_bits_) {
    for (std::uint32_t i = 0; i < PackedNumbers::words(owned_, 1); ++i)
      for (std::uint32_t left = values_[owners_begin() + i]; left != 0; left &= left - 1)
        owners.emplace_back(i * kValueBits + static_cast<std::uint32_t>(std::countr_zero(left)));
  } else {
    const PackedNumbers in(values_.data() + owners_begin(), owner_bits_);
    for (std::uint64_t i = 0; i < size_.components; ++i) owners.emplace_back(in[i]);
  }
  if (owners.size() != size_.components || std::ranges::any_of(owners, [&](auto o) { return o >= owned_; }))
    refuse_list();
  return owners;
}

GatheredComponents::GatheredComponents(FrontierJob& job, const Bits& named, std::uint64_t names,
                                       GatheredRoom room)
    : job_(job), named_(named), processes_(static_cast<std::uint32_t>(job.bootstrap().size())), begins_{0} {
  const auto all = job.records().share(std::array{names, members_of(named), std::uint64_t{job.known()}});
  std::uint64_t bytes = 0;
  bool numbered = true;  // in 4 bytes
  for (std::uint32_t p = 0; p < processes_; ++p) {
    const ComponentList::Size size{all[3 * p], all[3 * p + 1], all[3 * p + 2]};
    if (size.components > job.ownership().count(p)) refuse_list();
    lists_.emplace_back(processes_, job.ownership().count(p), size);
    begins_.push_back(begins_.back() + size.components);
    bytes += lists_.back().bytes() + size.components * (sizeof(std::uint32_t) + sizeof(VertexId));
    numbered = numbered && size.names < Forest::kNone;
  }
  if (processes_ == 2 && lists_[0].size().names != lists_[1].size().names) refuse_list();
  fits_ = numbered && begins_.back() < Forest::kNone &&
          (processes_ == 2 || bytes <= std::max(room.bytes, room.bytes_a_vertex * all[2]));
}

void GatheredComponents::tell(std::span<const std::uint32_t> roots, std::span<const std::uint64_t> counts,
                              std::uint32_t shared) {
  ComponentList& mine = lists_[job_.rank()];
  const MembersBelow number(named_);
  mine.make_room();
  mine.shared() = shared == Forest::kNone ? mine.none() : number(shared);
  for (std::uint32_t peer = 0; peer < processes_; ++peer)
    mine.names_for(peer) = static_cast<std::uint32_t>(counts[peer]);
  mine.put_owners(named_);
  PackedNumbers names = mine.names();
  for (std::uint64_t i = 0; i < roots.size(); ++i)
    names.put(i, roots[i] == Forest::kNone ? mine.none() : number(roots[i]));
  const auto sent = [&](std::uint32_t peer) { return peer == 0 ? mine.length() : 0; };
  const auto taken = [&](std::uint32_t peer) { return job_.rank() == 0 ? lists_[peer].length() : 0; };
  for (std::uint32_t peer = 1; peer < processes_ && job_.rank() == 0; ++peer) lists_[peer].make_room();
  job_.pool().run([&](int lane) {
    exchange_lists(
        job_, lane, sent, taken, [&](std::uint32_t, std::uint64_t i) { return mine.value(i); },
        [&](std::uint32_t peer, std::uint64_t i, std::uint32_t value) { lists_[peer].value(i) = value; });
  });
  if (job_.rank() != 0) mine = ComponentList(processes_, job_.owned(), mine.size());  // lets go of the values
}

GatheredComponents::Answer GatheredComponents::link() {
  if (job_.rank() != 0) return take_answer();
  Forest forest(static_cast<std::uint32_t>(begins_.back()));
  forest.separate(0, forest.size());
  check_counts();
  std::vector<std::uint64_t> next(processes_);
  for (std::uint32_t p = 0; p < processes_; ++p) {
    const auto some = pieces_of(p, next);
    job_.pool().for_each(some.size(), [&](int, std::uint64_t i) { link_piece(forest, some[i]); });
  }
  std::uint32_t last = Forest::kNone;  // of those that processes share
  for (std::uint32_t p = 0; p < processes_; ++p) {
    const std::uint32_t shared = lists_[p].shared();
    if (shared > lists_[p].none()) refuse_list();
    if (shared == lists_[p].none()) continue;
    const auto number = static_cast<std::uint32_t>(begins_[p] + shared);
    if (last != Forest::kNone) forest.link(last, number);
    last = number;
  }
  return send_answers(forest, find_labels(forest));
}

/// Both of two processes must have as many names for each other, and each one as many as it has said.
void GatheredComponents::check_counts() {
  for (std::uint32_t p = 0; p < processes_; ++p) {
    std::uint64_t names = 0;
    for (std::uint32_t q = 0; q < processes_; ++q) {
      names += lists_[p].names_for(q);
      if (lists_[p].names_for(q) != lists_[q].names_for(p)) refuse_list();
    }
    if (names != lists_[p].size().names) refuse_list();
  }
}

/// What any worker can link at any time: the names that p and the processes behind it have for each other. To
/// be called for one p after the other; next[q] is where the names of q for p begin.
std::vector<GatheredComponents::Piece> GatheredComponents::pieces_of(std::uint32_t p,
                                                                     std::vector<std::uint64_t>& next) {
  std::vector<Piece> some;
  std::uint64_t at = next[p];
  for (std::uint32_t q = p + 1; q < processes_; ++q) {
    const std::uint64_t count = lists_[p].names_for(q);
    for (std::uint64_t i = 0; i < count; i += kPiece)
      some.push_back({p, q, at + i, next[q] + i, std::min(kPiece, count - i)});
    at += count;
    next[q] += count;
  }
  return some;
}

void GatheredComponents::link_piece(Forest& forest, const Piece& piece) {
  constexpr std::uint64_t kAhead = 16;
  const PackedNumbers names_p = lists_[piece.p].names(), names_q = lists_[piece.q].names();
  const std::uint32_t none_p = lists_[piece.p].none(), none_q = lists_[piece.q].none();
  const auto begin_p = static_cast<std::uint32_t>(begins_[piece.p]),
             begin_q = static_cast<std::uint32_t>(begins_[piece.q]);
  for (std::uint64_t i = 0; i < piece.count; ++i) {
    if (piece.count - i > kAhead) {
      forest.fetch(begin_p + names_p[piece.at_p + i + kAhead]);
      forest.fetch(begin_q + names_q[piece.at_q + i + kAhead]);
    }
    const std::uint32_t p = names_p[piece.at_p + i], q = names_q[piece.at_q + i];
    if (p > none_p || q > none_q) refuse_list();
    if (p != none_p && q != none_q) forest.link(begin_p + p, begin_q + q);
  }
}

/// Returns the root of a component that more than half of those of other processes are in, if there is one,
/// or of any other (Boyer, Moore: "MJRTY: a fast majority vote algorithm", 1991).
std::uint32_t GatheredComponents::find_labels(Forest& forest) {
  // Ascending, by one thread: what a number hangs below hangs below its root.
  forest.compress(0, forest.size());
  labels_.resize(forest.size());
  for (std::uint32_t p = 0; p < processes_; ++p) {
    std::uint64_t next = begins_[p];
    job_.ownership().visit([&](const auto& scheme) {
      for (const LocalNumber owner : lists_[p].owners()) labels_[next++] = scheme.vertex(p, owner);
    });
  }
  std::uint32_t most = 0, votes = 0;
  for (std::uint32_t n = 0; n < forest.size(); ++n) {
    const std::uint32_t root = forest.root(n);
    labels_[root] = std::min(labels_[root], labels_[n]);
    if (n < begins_[1]) continue;
    if (votes == 0) most = root;
    votes = root == most ? votes + 1 : votes - 1;
  }
  return most;
}

GatheredComponents::Answer GatheredComponents::answer_for(std::uint32_t process, const Forest& forest,
                                                          std::uint32_t common) const {
  Answer answer;
  const auto first = static_cast<std::uint32_t>(begins_[process]),
             last = static_cast<std::uint32_t>(begins_[process + 1]);
  if (first < last) answer.common = labels_[common];
  for (std::uint32_t begin = first; begin < last; begin += std::min(Bits::kBits, last - begin)) {
    Bits::Word word = 0;
    for (std::uint32_t n = begin; n - begin < Bits::kBits && n < last; ++n) {
      const std::uint32_t root = forest.root(n);
      word |= Bits::Word{root == common} << (n - begin);
      if (root != common) answer.others.push_back(labels_[root]);
    }
    answer.bits.push_back(word);
  }
  return answer;
}

GatheredComponents::Answer GatheredComponents::send_answers(const Forest& forest, std::uint32_t common) {
  const auto take = [](Record) { refuse_list(); };
  for (std::uint32_t peer = 1; peer < processes_; ++peer) {
    const Answer answer = answer_for(peer, forest, common);
    const auto send = [&](Record record) { job_.records().send(0, static_cast<int>(peer), record, take); };
    for (const Bits::Word some : answer.bits) send(record_of(some));
    Names names;
    for (const VertexId label : answer.others) names.put(label, send);
    names.end(send);
  }
  job_.records().finish(0, take, {labels_.empty() ? std::uint64_t{0} : labels_[common]});
  return answer_for(0, forest, common);
}

GatheredComponents::Answer GatheredComponents::take_answer() {
  Answer answer;
  const std::uint64_t mine = lists_[job_.rank()].size().components;
  const std::uint64_t words = (mine + Bits::kBits - 1) / Bits::kBits;
  std::vector<PlainId> others;
  std::uint64_t common = 0;
  job_.records().finish(0, [&](Record record) {
    if (answer.bits.size() == words) {
      Names::take(record, others);
      return;
    }
    answer.bits.push_back(word_of(record));
    common += static_cast<unsigned>(std::popcount(answer.bits.back()));
  });
  if (answer.bits.size() != words || common > mine) refuse_list();
  if (mine % Bits::kBits != 0 && answer.bits.back() >> mine % Bits::kBits != 0) refuse_list();
  Names::check(others, mine - common);
  const auto vertex = [&](std::uint64_t id) {
    if (id >= job_.graph().vertices()) refuse_list();
    return VertexId(static_cast<PlainId>(id));
  };
  if (mine > 0) answer.common = vertex(job_.records().note(0, 0)[0]);
  for (std::uint64_t i = 0; i < mine - common; ++i) answer.others.push_back(vertex(others[i]));
  return answer;
}

}  // namespace edgewire::frontier
