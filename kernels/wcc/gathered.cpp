#include "kernels/wcc/gathered.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "base/error.h"
#include "frontier/known_values.h"
#include "kernels/leading_label.h"

namespace edgewire::kernels {

namespace {

constexpr std::uint32_t kValueBits = 32;

unsigned bits_of(std::uint64_t number) noexcept {
  return std::max(1U, static_cast<unsigned>(std::bit_width(number)));
}
/// Returns the number of values that say which of `components` have the label of most: whole records.
std::uint64_t values_of_answer(std::uint64_t components) noexcept {
  return (components + 2 * kValueBits - 1) / (2 * kValueBits) * 2;
}

[[noreturn]] void refuse_list() { throw Error("a process has sent components that it cannot have"); }

}  // namespace

ComponentList::ComponentList(std::uint32_t processes, std::uint32_t owned, Size size)
    : owned_(owned),
      size_(size),
      name_bits_(bits_of(size.components)),
      root_bits_(bits_of(owned)),
      as_bits_(PackedNumbers::words(owned, 1) < PackedNumbers::words(size.components, root_bits_)),
      roots_begin_(1 + std::uint64_t{processes}),
      names_begin_(roots_begin_ + (as_bits_ ? PackedNumbers::words(owned, 1)
                                            : PackedNumbers::words(size.components, root_bits_))),
      length_(names_begin_ + PackedNumbers::words(size.names, name_bits_)) {}

void ComponentList::put_roots(const Bits& roots) {
  PackedNumbers out(values_.data() + roots_begin_, as_bits_ ? 1 : root_bits_);
  std::uint64_t next = 0;
  for (const std::uint32_t root : roots.members()) out.put(as_bits_ ? root : next++, as_bits_ ? 1 : root);
}

std::vector<LocalNumber> ComponentList::roots() {
  const PackedNumbers in(values_.data() + roots_begin_, as_bits_ ? 1 : root_bits_);
  std::vector<LocalNumber> roots;
  roots.reserve(size_.components);
  for (std::uint32_t i = 0; i < (as_bits_ ? owned_ : size_.components); ++i)
    if (!as_bits_ || in[i] != 0) roots.emplace_back(as_bits_ ? i : in[i]);
  if (roots.size() != size_.components || std::ranges::any_of(roots, [&](auto r) { return r >= owned_; }))
    refuse_list();
  return roots;
}

std::vector<PlainId> pack_labels(std::span<const PlainId> labels, PlainId most) {
  std::vector<PlainId> values(values_of_answer(labels.size()));
  const auto has_most = [&](std::uint64_t i) { return labels[i] == most; };
  for (std::uint64_t i = 0; i < values.size(); ++i)
    values[i] = frontier::value_of_bits(i, labels.size(), has_most);
  std::ranges::copy_if(labels, std::back_inserter(values), [=](PlainId label) { return label != most; });
  if (values.size() % 2 != 0) values.push_back(kNoVertex);
  return values;
}

std::vector<PlainId> unpack_labels(std::span<const PlainId> values, std::uint64_t components, PlainId most) {
  std::uint64_t next = values_of_answer(components);
  if (values.size() < next) refuse_list();
  std::vector<PlainId> labels;
  for (std::uint64_t i = 0; i < components; ++i) {
    const bool has_most = (values[i / kValueBits] >> i % kValueBits & 1) != 0;
    if (!has_most && next == values.size()) refuse_list();
    labels.push_back(has_most ? most : values[next++]);
  }
  if (values.size() != next + next % 2) refuse_list();
  return labels;
}

GatheredComponents::GatheredComponents(frontier::Job& job, const OpenComponents& open, GatheredRoom room)
    : job_(job), open_(open), processes_(static_cast<std::uint32_t>(job.bootstrap().size())), begins_{0} {
  const auto all = job.records().allgather(
      std::array{open.names(), std::uint64_t{open.count()}, std::uint64_t{job.known()}});
  std::uint64_t bytes = 0;
  bool numbered = true;  // whether sizes fit 4 bytes
  for (std::uint32_t p = 0; p < processes_; ++p) {
    const ComponentList::Size size{all[3 * p], all[3 * p + 1]};
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

void GatheredComponents::tell() {
  const bool takes = job_.rank() == 0;
  ComponentList& mine = lists_[job_.rank()];
  mine.make_room();
  mine.giant() = open_.number(open_.giant);
  mine.put_roots(open_.roots());
  PackedNumbers names = mine.names();
  std::uint64_t next = 0;
  for (std::uint32_t peer = 0; peer < processes_; ++peer) {
    mine.names_for(peer) = static_cast<std::uint32_t>(open_.named[peer].size());
    for (const std::uint32_t root : open_.named[peer]) names.put(next++, open_.number(root));
    if (takes && peer != 0) lists_[peer].make_room();
  }
  job_.pool().run([&](int lane) {
    frontier::exchange_lists(
        job_, lane, [&](std::uint32_t peer) { return peer == 0 ? mine.length() : 0; },
        [&](std::uint32_t peer) { return takes ? lists_[peer].length() : 0; },
        [&](std::uint32_t, std::uint64_t i) { return mine.value(i); },
        [&](std::uint32_t peer, std::uint64_t i, std::uint32_t value) { lists_[peer].value(i) = value; });
  });
  if (!takes) mine = ComponentList(processes_, job_.owned(), mine.size());  // frees the values
}

std::vector<PlainId> GatheredComponents::link() {
  if (job_.rank() != 0) return take_labels();
  check_lists();
  Forest forest(static_cast<std::uint32_t>(begins_.back()));
  forest.make_sets(0, forest.size());
  link_names(forest);
  link_giants(forest);
  auto labels = labels_of(forest);
  lists_.clear();  // answers take their memory
  send_labels(labels);
  labels.resize(begins_[1]);
  return labels;
}

/// Checks the lists. Two processes must have as many names for each other, and all as they said.
void GatheredComponents::check_lists() {
  for (std::uint32_t p = 0; p < processes_; ++p) {
    std::uint64_t names = 0;
    for (std::uint32_t q = 0; q < processes_; ++q) {
      names += lists_[p].names_for(q);
      if (lists_[p].names_for(q) != lists_[q].names_for(p)) refuse_list();
    }
    if (names != lists_[p].size().names || lists_[p].giant() > lists_[p].none()) refuse_list();
  }
}

/// Links the components that two processes have named for the same vertex. Workers link pieces in any order.
void GatheredComponents::link_names(Forest& forest) {
  constexpr std::uint64_t kPiece = 1 << 14;
  std::vector<std::uint64_t> next(processes_);  // start of a process's names for the next peer, [process]
  for (std::uint32_t p = 0; p < processes_; ++p) {
    std::vector<Piece> pieces;
    for (std::uint32_t q = p + 1; q < processes_; ++q) {
      const std::uint64_t count = lists_[p].names_for(q);
      for (std::uint64_t i = 0; i < count; i += kPiece)
        pieces.push_back({p, q, next[p] + i, next[q] + i, std::min(kPiece, count - i)});
      next[p] += count;
      next[q] += count;
    }
    job_.pool().for_each(pieces.size(), [&](int, std::uint64_t i) { link_piece(forest, pieces[i]); });
  }
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

void GatheredComponents::link_giants(Forest& forest) {
  std::uint32_t last = Forest::kNone;
  for (std::uint32_t p = 0; p < processes_; ++p) {
    if (lists_[p].giant() == lists_[p].none()) continue;
    const auto giant = static_cast<std::uint32_t>(begins_[p] + lists_[p].giant());
    if (last != Forest::kNone) forest.link(last, giant);
    last = giant;
  }
}

/// Returns the smallest vertex of each component, which all of its numbers have as their label.
std::vector<PlainId> GatheredComponents::labels_of(Forest& forest) {
  forest.compress(0, forest.size());  // one thread goes up in order, so the parent of a parent is its root
  std::vector<PlainId> labels(forest.size());
  for (std::uint32_t p = 0; p < processes_; ++p) {
    std::uint64_t next = begins_[p];
    job_.ownership().visit([&](const auto& scheme) {
      for (const LocalNumber root : lists_[p].roots()) labels[next++] = scheme.vertex(p, root);
    });
  }
  for (std::uint32_t n = 0; n < forest.size(); ++n) {
    PlainId& least = labels[forest.parent(n)];
    least = std::min(least, labels[n]);
  }
  for (std::uint32_t n = 0; n < forest.size(); ++n) labels[n] = labels[forest.parent(n)];
  return labels;
}

/// Tells each process the labels of its components. `labels`: those of all components. Most components have a
/// label that more than half of those of other processes have, if there is one.
void GatheredComponents::send_labels(std::span<const PlainId> labels) {
  const auto refuse = [](frontier::Record) { refuse_list(); };
  LeadingLabel leading;
  for (const PlainId label : labels.subspan(begins_[1])) leading.add(label, 1);
  for (std::uint32_t peer = 1; peer < processes_; ++peer) {
    const auto values =
        pack_labels(labels.subspan(begins_[peer], begins_[peer + 1] - begins_[peer]), leading.label());
    for (std::size_t i = 0; i < values.size(); i += 2)
      job_.records().send(0, static_cast<int>(peer), frontier::Record{values[i], values[i + 1]}, refuse);
  }
  job_.records().finish(0, refuse, {leading.label()});
}

std::vector<PlainId> GatheredComponents::take_labels() {
  std::vector<PlainId> values;
  job_.records().finish(0, [&](frontier::Record record) {
    values.push_back(record.vertex);
    values.push_back(record.value);
  });
  const auto most = static_cast<PlainId>(job_.records().note(0, 0)[0]);
  auto labels = unpack_labels(values, open_.count(), most);
  if (std::ranges::any_of(labels, [&](PlainId label) { return label >= job_.graph().vertices(); }))
    refuse_list();
  return labels;
}

}  // namespace edgewire::kernels
