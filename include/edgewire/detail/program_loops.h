// The loops of any program, written once as a template.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "edgewire/detail/cpu_level.h"
#include "edgewire/detail/loops.h"
#include "edgewire/detail/memory.h"
#include "edgewire/detail/sweep.h"
#include "edgewire/detail/tile.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// A program is a class with
///   Value: what a vertex has; kept by its owner;
///   Constant: what else the owner keeps of a vertex, and never changes (a degree, say);
///   Message: what a vertex offers to its edges, 4, 8 or 16 bytes; what mirrors and partial sums are on the
///   wire; Accumulator: what a destination collects; Totals: sums over all vertices: a struct of one to eight
///   doubles; identity(), combine(a, b), along(message), along(message, weight): see Sweep;
///   message(value, constant); prepare(totals): what apply() needs of the last iteration's totals;
///   apply(value, accumulator, constant, prepared, totals): the new value; sets what the vertex adds to the
///   next totals; first_totals(values, constants): the totals before the first iteration, of one process;
///   done(totals): whether the run ends; largest(), where messages and accumulators are floats that may
///   travel in 16 bits: an upper bound of both, none of which is negative; largest(constant), where the
///   messages of single vertices have much smaller bounds, or greater ones; pack(accumulator),
///   unpack(message), where partial sums do not become messages by a cast; one_bit, a constant, where all
///   messages and accumulators are 0 or 1, and may travel as one bit.
/// All types are trivially copyable; a Message has no initializers and no constructors. message() and apply()
/// are const: several workers call them.
template <class P>
class ProgramLoops final : public Loops {
 public:
  using Value = typename P::Value;
  using Constant = typename P::Constant;
  using Message = typename P::Message;
  using Accumulator = typename P::Accumulator;
  using ProgramTotals = typename P::Totals;
  static_assert(sizeof(Message) == 4 || sizeof(Message) == 8 || sizeof(Message) == 16);
  static_assert(std::is_trivial_v<Message> && std::is_standard_layout_v<Message>,
                "messages are sent as bytes");
  static_assert(sizeof(IdValue<Message>) == sizeof(std::uint32_t) + sizeof(Message));
  static constexpr std::size_t kTotals = sizeof(ProgramTotals) / sizeof(double);

  /// `count`: owned vertices. `order`: of `tiles`. `mirror_tiles`: [peer], of the same columns, or the first
  /// of them only. All outlive it. start() comes next.
  ProgramLoops(P& program, std::uint32_t count, const Tiles& tiles, const TileOrder& order,
               std::span<const Tiles> mirror_tiles)
      : program_(program),
        tiles_(tiles),
        order_(order),
        mirror_tiles_(mirror_tiles),
        count_(count),
        values_(bytes_of<Value>(count), -1, "values", Begin::staggered),
        constants_(bytes_of<Constant>(count), -1, "constants", Begin::staggered),
        messages_(bytes_of<Message>(count), -1, "messages", Begin::staggered),
        next_(bytes_of<Message>(count), -1, "messages", Begin::staggered),
        binned_(order.bins().edges() * sizeof(Message), -1, "values of thin tiles", Begin::staggered) {}

  /// start(i): a pair of the value and the constant of the owned vertex with index i. Returns the totals
  /// before the first iteration. `pool`: the workers, a WorkerPool.
  template <class Pool, class Start>
  PackedTotals start(Pool& pool, const Start& start_at) {
    constexpr std::uint32_t kPiece = 1 << 16;
    pool.for_each((count_ + std::uint64_t{kPiece} - 1) / kPiece, [&](int, std::uint64_t piece) {
      const std::uint64_t end = std::min<std::uint64_t>(count_, (piece + 1) * kPiece);
      for (std::uint64_t i = piece * kPiece; i < end; ++i) {
        const auto [value, constant] = start_at(OwnedIndex(static_cast<std::uint32_t>(i)));
        values()[i] = value;
        constants()[i] = constant;
        messages()[i] = program_.message(value, constant);
      }
    });
    return first_totals();
  }

  /// Takes other values than those of start(), by index. Returns their totals.
  PackedTotals restart(std::span<const Value> all) {
    std::copy(all.begin(), all.end(), values().begin());
    for (std::uint32_t i = 0; i < count_; ++i) messages()[i] = program_.message(values()[i], constants()[i]);
    return first_totals();
  }

  /// Returns the values, by index of the owned vertices.
  std::span<Value> values() noexcept { return values_.as<Value>().first(count_); }
  /// Returns the memory of values(), which are gone then.
  NodeMemory take_values() noexcept { return std::move(values_); }

  // ---- Loops ----------------------------------------------------------------------------------------
  std::size_t message_bytes() const noexcept override { return sizeof(Message); }
  std::size_t totals_bytes() const noexcept override { return sizeof(ProgramTotals); }
  std::size_t accumulator_bytes() const noexcept override { return sizeof(Accumulator); }
  std::optional<double> largest() const noexcept override {
    if constexpr (kRounds<P>) return program_.largest();
    return {};
  }
  bool is_one_bit() const noexcept override { return kOneBit<P>; }

  std::vector<VertexArray> arrays() const override {
    return {{std::as_bytes(values_.as<Value>()), sizeof(Value), false},
            {std::as_bytes(constants_.as<Constant>()), sizeof(Constant), false},
            {std::as_bytes(messages_.as<Message>()), sizeof(Message), true},
            {std::as_bytes(next_.as<Message>()), sizeof(Message), true},
            {std::as_bytes(binned_.as<Message>()), sizeof(Message), true}};
  }
  const TileOrder& order() const noexcept override { return order_; }
  void scatter(std::size_t strip) noexcept override {
    order_.bins().scatter(strip, messages_.as<const Message>().data(), binned_.as<Message>().data());
  }
  void compute(int worker, std::size_t group, std::byte* accumulators) noexcept override {
    sweep_group<P>(tiles_, order_, group, messages_.as<const Message>().data(), cast(accumulators), worker,
                   binned_.as<const Message>().data());
  }

  std::vector<std::vector<int>> mirrors_by_column() const override {
    std::vector<std::vector<int>> peers(tiles_.columns());
    for (std::size_t p = 0; p < mirror_tiles_.size(); ++p)
      for (std::size_t c = 0; c < mirror_tiles_[p].columns(); ++c)
        if (mirror_tiles_[p].bytes(c) > 0) peers[c].push_back(static_cast<int>(p));
    return peers;
  }
  void add_mirrors(int peer, const std::byte* mirrors, std::size_t column,
                   std::byte* accumulators) noexcept override {
    for (const auto words : mirror_tiles_[static_cast<std::size_t>(peer)].column_data(column))
      Sweep<typename EdgesOf<P>::Type>::add(words, reinterpret_cast<const Message*>(mirrors),
                                            cast(accumulators));
  }

  void round(std::byte* accumulators, std::size_t count) noexcept override {
    for (Accumulator& one : std::span(cast(accumulators), count)) one = unpack<P>(pack<P>(one));
  }
  void store(std::uint32_t first, const std::byte* accumulators, std::size_t count) noexcept override {
    Message* const stored = next_.as<Message>().data() + first;
    for (std::size_t i = 0; i < count; ++i) stored[i] = pack<P>(cast(accumulators)[i]);
  }
  void load(std::uint32_t first, std::byte* accumulators, std::size_t count) noexcept override {
    const Message* const stored = next_.as<const Message>().data() + first;
    for (std::size_t i = 0; i < count; ++i) cast(accumulators)[i] = unpack<P>(stored[i]);
  }

  PackedTotals apply(std::uint32_t first, const std::byte* accumulators, std::size_t count,
                     const PackedTotals& last) noexcept override {
    Value* const values = values_.as<Value>().data() + first;
    Message* const next = next_.as<Message>().data() + first;
    const Constant* const constants = constants_.as<const Constant>().data() + first;
    const Accumulator* const sums = cast(accumulators);
    const P program =
        program_;  // a copy, which no store below can change: what depends on it alone leaves the loop
    const auto prepared = program.prepare(totals_as<ProgramTotals>(last));
    // Eight parts of each total, so that the additions do not wait for each other.
    constexpr std::size_t kParts = 8;
    double parts[kTotals][kParts] = {};
    const auto vertex = [&](std::size_t i, std::size_t part) {
      const Constant constant = constants[i];
      ProgramTotals own;
      const Value value = program.apply(values[i], sums[i], constant, prepared, own);
      values[i] = value;
      next[i] = program.message(value, constant);
      const auto added = std::bit_cast<std::array<double, kTotals>>(own);
      for (std::size_t k = 0; k < kTotals; ++k) parts[k][part] += added[k];
    };
    run_for_cpu([&] {
      std::size_t i = 0;
      for (; i + kParts <= count; i += kParts) {
        for (std::size_t part = 0; part < kParts; ++part) vertex(i + part, part);
      }
      for (; i < count; ++i) vertex(i, 0);
    });
    PackedTotals totals{};
    for (std::size_t k = 0; k < kTotals; ++k)
      for (const double part : parts[k]) totals[k] += part;
    return totals;
  }

  void advance() noexcept override { std::swap(messages_, next_); }
  bool done(const PackedTotals& totals) noexcept override {
    return program_.done(totals_as<ProgramTotals>(totals));
  }

  void fill_partial_sums(const OutgoingSlots& slots, const std::byte* accumulators) noexcept override {
    run_for_cpu([&] {
      fill_slots<P>(slots, [sums = cast(accumulators)](std::size_t i) { return pack<P>(sums[i]); });
    });
  }
  void fill_messages(const OutgoingSlots& slots, const OwnedIndex* indexes,
                     const double* weights) noexcept override {
    const Message* const messages = messages_.as<const Message>().data();
    run_scalar_for_cpu([&] { detail::fill_messages<P>(slots, messages, indexes, weights); });
  }
  void add_slots(const ArrivedSlots& slots, std::byte* accumulators) noexcept override {
    run_scalar_for_cpu([&] { detail::add_slots<P>(slots, cast(accumulators)); });
  }
  std::uint64_t add_pairs(const ArrivedPairs& pairs, std::byte* accumulators) noexcept override {
    return run_scalar_for_cpu([&] { return detail::add_pairs<P>(pairs, cast(accumulators)); });
  }
  std::vector<std::int16_t> powers(std::span<const OwnedIndex> indexes) const override {
    std::vector<std::int16_t> powers;
    if constexpr (kRounds<P> && kBoundsEach<P>) {
      const Constant* const constants = constants_.as<const Constant>().data();
      const double all = program_.largest();
      for (const OwnedIndex index : indexes) {
        const double one = program_.largest(constants[index]);
        powers.push_back(one > 0 ? static_cast<std::int16_t>(std::clamp(std::ilogb(all / one), -126, 126))
                                 : 0);
      }
      if (std::ranges::all_of(powers, [](std::int16_t power) { return power == 0; })) powers.clear();
    }
    return powers;
  }
  void decode(const Codec& codec, std::span<const std::uint16_t> codes, std::span<const float> scales,
              std::byte* messages) noexcept override {
    if constexpr (kRounds<P>) {
      auto* const out = reinterpret_cast<Message*>(messages);
      for (std::size_t i = 0; i < codes.size(); ++i) out[i] = static_cast<Message>(codec.decode(codes[i]));
      for (std::size_t i = 0; i < scales.size(); ++i) out[i] = static_cast<Message>(out[i] * scales[i]);
    }
  }

  void decode_bits(const std::byte* bits, std::size_t count, std::byte* messages) noexcept override {
    if constexpr (kOneBit<P>) {
      auto* const out = reinterpret_cast<Message*>(messages);
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Message>(bit_at(bits, i));
    }
  }

 private:
  PackedTotals first_totals() {
    return totals_of(
        program_.first_totals(std::span<const Value>(values()), std::span<const Constant>(constants())));
  }
  template <class T>
  static std::size_t bytes_of(std::uint32_t count) {
    return std::max<std::size_t>(count, 1) * sizeof(T);
  }
  static Accumulator* cast(std::byte* accumulators) noexcept {
    return reinterpret_cast<Accumulator*>(accumulators);
  }
  static const Accumulator* cast(const std::byte* accumulators) noexcept {
    return reinterpret_cast<const Accumulator*>(accumulators);
  }
  std::span<Constant> constants() noexcept { return constants_.as<Constant>().first(count_); }
  std::span<Message> messages() noexcept { return messages_.as<Message>().first(count_); }

  P& program_;
  const Tiles& tiles_;
  const TileOrder& order_;
  std::span<const Tiles> mirror_tiles_;
  std::uint32_t count_;
  NodeMemory values_, constants_, messages_, next_;
  NodeMemory binned_;  ///< values of order_.bins()
};

}  // namespace edgewire::detail

#pragma GCC visibility pop
