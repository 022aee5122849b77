// The loops of a program over slots. Inbox and outbox move untyped values; these loops know their types, and
// are called once for each chunk.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "edgewire/detail/codec.h"
#include "edgewire/numbering.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// The pair that is sent where ids are sent. `id` is the LocalNumber at the receiver. It is packed, so that
/// it has 12 bytes where the value has 8, and 20 where it has 16.
template <class Message>
struct [[gnu::packed]] IdValue {
  std::uint32_t id;
  Message value;
};
static_assert(sizeof(IdValue<float>) == 8 && sizeof(IdValue<double>) == 12);

/// Slots to fill: messages, pairs of id and message (`ids` is set), codes of 16 bits (`codec` is set), or
/// bits.
struct OutgoingSlots {
  std::byte* data = nullptr;
  std::size_t count = 0;
  const LocalNumber* ids = nullptr;  ///< [slot]
  bool ids_are_there = false;        ///< the slots were filled before
  const Codec* codec = nullptr;
  float* residuals = nullptr;     ///< [slot], see Codec
  const float* scales = nullptr;  ///< [slot], what a value is multiplied by before it is encoded; null: by 1
  bool bits = false;
  unsigned first_bit = 0;  ///< slot i is bit first_bit + i of `data`, from the lowest of each byte on
};

/// Slots that have arrived: messages, codes of 16 bits (`codec` is set), or bits.
struct ArrivedSlots {
  const std::byte* data = nullptr;
  std::span<const OwnedIndex> targets{};  ///< [slot]
  OwnedIndex begin{};                     ///< of the first accumulator
  const Codec* codec = nullptr;
  bool bits = false;
  unsigned first_bit = 0;  ///< as that of OutgoingSlots
};

/// Slots with ids that have arrived.
struct ArrivedPairs {
  const std::byte* data = nullptr;
  std::size_t count = 0;
  NumberedBy<LocalNumber, std::span<const OwnedIndex>> indexes{};
  OwnedIndex begin{};       ///< of the first accumulator
  std::uint32_t width = 0;  ///< accumulators
};

/// The functions that inbox and outbox ask of a program. Accumulators and messages are arrays of the
/// program's types.
class SlotLoops {
 public:
  virtual ~SlotLoops() = default;
  virtual std::size_t message_bytes() const noexcept = 0;
  virtual std::size_t totals_bytes() const noexcept = 0;
  /// Fills slot i with accumulator i, rounded to a message.
  virtual void fill_partial_sums(const OutgoingSlots& slots, const std::byte* accumulators) noexcept = 0;
  /// Fills slot i with the message of the owned vertex indexes[i], or, if there are weights, with what it
  /// becomes on an edge of weight weights[i].
  virtual void fill_messages(const OutgoingSlots& slots, const OwnedIndex* indexes,
                             const double* weights) noexcept = 0;
  virtual void add_slots(const ArrivedSlots& slots, std::byte* accumulators) noexcept = 0;
  /// Returns the first id that is of no vertex there; kNoId: all are right.
  virtual std::uint64_t add_pairs(const ArrivedPairs& pairs, std::byte* accumulators) noexcept = 0;
  /// Returns the power of two by which the messages of each of these owned vertices are multiplied before
  /// they are rounded to 16 bits, from -126 to 126. Returns none where all are 0.
  virtual std::vector<std::int16_t> powers(std::span<const OwnedIndex> indexes) const = 0;
  /// `scales`: [slot], what a decoded value is multiplied by; empty: by 1.
  virtual void decode(const Codec& codec, std::span<const std::uint16_t> codes, std::span<const float> scales,
                      std::byte* messages) noexcept = 0;
  /// Slot i is bit i of `bits`.
  virtual void decode_bits(const std::byte* bits, std::size_t count, std::byte* messages) noexcept = 0;
  static constexpr std::uint64_t kNoId = std::numeric_limits<std::uint64_t>::max();
};

/// The form that partial sums have on the wire: that of messages. A program whose accumulators are not
/// converted by a cast has pack() and unpack().
template <class P>
typename P::Message pack(const typename P::Accumulator& accumulator) noexcept {
  if constexpr (requires { P::pack(accumulator); })
    return P::pack(accumulator);
  else
    return static_cast<typename P::Message>(accumulator);
}
template <class P>
typename P::Accumulator unpack(const typename P::Message& message) noexcept {
  if constexpr (requires { P::unpack(message); })
    return P::unpack(message);
  else
    return static_cast<typename P::Accumulator>(message);
}

/// Says whether values can be rounded to 16 bits: only bounded floats that are not negative can. A program
/// says so by largest().
template <class P>
inline constexpr bool kRounds = requires(const P& program) {
  program.largest();
};

/// Says whether a program bounds the messages of each vertex by itself: largest(constant).
template <class P>
inline constexpr bool kBoundsEach = requires(const P& program, const typename P::Constant& constant) {
  program.largest(constant);
};

/// Says whether messages and partial sums are 0 or 1, so that one bit of each can travel. A program says so
/// by `static constexpr bool one_bit = true`.
template <class P>
inline constexpr bool kOneBit = requires {
  requires P::one_bit;
};

/// Returns bit `i` of these bytes.
inline unsigned bit_at(const std::byte* bytes, std::size_t i) noexcept {
  return std::to_integer<unsigned>(bytes[i / 8]) >> (i % 8) & 1;
}

/// Lists that are read once, front to back, are asked for so many entries ahead: the processor by itself asks
/// for less.
inline constexpr std::size_t kAhead = 512;

/// value(i): the message for slot i.
template <class P, class Value>
void fill_slots(const OutgoingSlots& slots, const Value& value) noexcept {
  using Message = typename P::Message;
  if (slots.bits) {
    if constexpr (kOneBit<P>) {
      unsigned byte = 0;
      const std::size_t end = slots.first_bit + slots.count;
      for (std::size_t at = slots.first_bit; at < end; ++at) {
        byte |= unsigned{value(at - slots.first_bit) != 0} << at % 8;
        if (at % 8 != 7 && at + 1 != end) continue;
        slots.data[at / 8] = static_cast<std::byte>(byte);
        byte = 0;
      }
    }
    return;
  }
  if (slots.ids == nullptr && slots.codec == nullptr) {
    auto* messages = reinterpret_cast<Message*>(slots.data);
    for (std::size_t i = 0; i < slots.count; ++i) messages[i] = value(i);
    return;
  }
  if (slots.codec != nullptr) {
    if constexpr (kRounds<P>) {
      auto* codes = reinterpret_cast<std::uint16_t*>(slots.data);
      if (slots.scales == nullptr) {
        for (std::size_t i = 0; i < slots.count; ++i)
          codes[i] = slots.codec->encode(static_cast<float>(value(i)), slots.residuals[i]);
      } else {
        for (std::size_t i = 0; i < slots.count; ++i)
          codes[i] = slots.codec->encode(static_cast<float>(value(i)) * slots.scales[i], slots.residuals[i]);
      }
    }
    return;
  }
  auto* pairs = reinterpret_cast<IdValue<Message>*>(slots.data);
  if (slots.ids_are_there) {
    for (std::size_t i = 0; i < slots.count; ++i) pairs[i].value = value(i);
    return;
  }
  for (std::size_t i = 0; i < slots.count; ++i) {
    __builtin_prefetch(slots.ids + std::min(i + kAhead, slots.count));
    pairs[i] = {slots.ids[i], value(i)};
  }
}

/// Does what SlotLoops::fill_messages() says. `messages` are by index of the owned vertices.
template <class P>
void fill_messages(const OutgoingSlots& slots, const typename P::Message* messages, const OwnedIndex* indexes,
                   const double* weights) noexcept {
  constexpr std::size_t kMessagesAhead = 128;  // they are read in any order
  const auto message = [=, count = slots.count](std::size_t i) {
    __builtin_prefetch(indexes + std::min(i + kAhead, count));
    __builtin_prefetch(&messages[indexes[std::min(i + kMessagesAhead, count - 1)]]);
    return messages[indexes[i]];
  };
  if constexpr (requires(typename P::Message one) { P::along(one, 1.0F); }) {
    if (weights != nullptr)
      return fill_slots<P>(slots, [=](std::size_t i) { return pack<P>(P::along(message(i), weights[i])); });
  }
  if constexpr (requires(typename P::Message one) { P::along(one); })
    fill_slots<P>(slots, [=](std::size_t i) { return pack<P>(P::along(message(i))); });
  else
    fill_slots<P>(slots, message);  // never: such programs have weights
}

/// Does what SlotLoops::add_slots() says.
template <class P>
void add_slots(const ArrivedSlots& slots, typename P::Accumulator* accumulators) noexcept {
  const auto add = [&](const auto& value) {
    const OwnedIndex* const targets = slots.targets.data();
    for (std::size_t s = 0; s < slots.targets.size(); ++s) {
      auto& one = accumulators[targets[s] - slots.begin];
      one = P::combine(one, value(s));
    }
  };
  if (slots.bits) {
    if constexpr (kOneBit<P>)
      add([&](std::size_t s) {
        return unpack<P>(static_cast<typename P::Message>(bit_at(slots.data, slots.first_bit + s)));
      });
  } else if (slots.codec == nullptr) {
    const auto* messages = reinterpret_cast<const typename P::Message*>(slots.data);
    add([messages](std::size_t s) { return unpack<P>(messages[s]); });
  } else if constexpr (kRounds<P>) {
    const auto* codes = reinterpret_cast<const std::uint16_t*>(slots.data);
    const Codec codec = *slots.codec;
    add([codes, codec](std::size_t s) { return unpack<P>(codec.decode(codes[s])); });
  }
}

/// Does what SlotLoops::add_pairs() says. Values of a vertex follow each other (order_arrivals): four
/// of them at a time have one look-up, and accumulators of their own that do not wait for each other.
template <class P>
std::uint64_t add_pairs(const ArrivedPairs& slots, typename P::Accumulator* accumulators) noexcept {
  constexpr std::size_t kLookUpAhead = 320;
  const auto* const data = reinterpret_cast<const IdValue<typename P::Message>*>(slots.data);
  const std::span pairs(data, slots.count);
  const auto indexes = slots.indexes;
  const auto looked_up_next = [&](std::size_t s) {
    const std::uint32_t id = pairs[std::min(s + kLookUpAhead, pairs.size() - 1)].id;
    return indexes.data() + std::min<std::size_t>(id, indexes.size() - 1);
  };
  for (std::size_t s = 0; s < pairs.size();) {
    const std::uint32_t id = pairs[s].id;
    const OwnedIndex index = id < indexes.size() ? indexes[LocalNumber(id)] : OwnedIndex(~std::uint32_t{0});
    if (index - slots.begin >= slots.width) return id;
    auto& one = accumulators[index - slots.begin];
    const auto four_more = [&] {
      return pairs.size() - s >= 4 && ((pairs[s].id ^ id) | (pairs[s + 1].id ^ id) | (pairs[s + 2].id ^ id) |
                                       (pairs[s + 3].id ^ id)) == 0;
    };
    if (!four_more()) {
      __builtin_prefetch(looked_up_next(s));
      one = P::combine(one, unpack<P>(pairs[s++].value));
      continue;
    }
    std::array<typename P::Accumulator, 4> parts;
    parts.fill(P::identity());
    do {
      __builtin_prefetch(pairs.data() + std::min(s + kAhead, pairs.size()));
      __builtin_prefetch(looked_up_next(s));
      for (std::size_t i = 0; i < 4; ++i) parts[i] = P::combine(parts[i], unpack<P>(pairs[s + i].value));
      s += 4;
    } while (four_more());
    one = P::combine(one, P::combine(P::combine(parts[0], parts[2]), P::combine(parts[1], parts[3])));
  }
  return SlotLoops::kNoId;
}

}  // namespace edgewire::detail

#pragma GCC visibility pop
