// Weights as text: one way to read them for all formats.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/file/weights.h"
#include "graph/read/edge_sink.h"
#include "graph/read/input.h"

namespace edgewire::graph {

/// The first weight of an input that a graph file rounds. Thread safe.
class RoundedWeights {
 public:
  /// The reason why a weight is rounded.
  enum class Cause {
    digits,  ///< the text has more digits than a double holds
    mixed    ///< a u64 holds the whole number, but no double does: it is rounded where others are not whole
  };

  explicit RoundedWeights(std::span<Input* const> inputs) : inputs_(inputs) {}

  /// Notes a weight. `text` lies in piece.text.
  void add(const Input& input, const Piece& piece, std::string_view text, Cause cause);
  /// Says once, by `note`, what was rounded in a graph of such weights. All readers call it.
  void tell(EdgeSink& sink, WeightType type, const std::function<void(const std::string&)>& note) const;

 private:
  struct Place {
    std::uint64_t key;  ///< key that orders places: by the input, then by the byte
    std::uint64_t offset;
    std::uint64_t line;  ///< line of a stream
    const Input* input;
    std::string text;
  };
  std::string line_of(const Place& place, Cause cause) const;

  std::span<Input* const> inputs_;
  mutable std::mutex mutex_;
  std::optional<Place> digits_, mixed_;  ///< first place of each cause
};

/// A reader of the weights of a piece.
class WeightReader {
 public:
  /// Makes a reader. `rounded` may be null. All outlive it.
  WeightReader(const Input& input, const Piece& piece, RoundedWeights* rounded) noexcept
      : input_(input), piece_(piece), rounded_(rounded) {}

  /// Reads the weight that `field` says, which lies in the piece. Throws Error with path, line and column.
  Weight read(std::string_view field) { return read(field, field.data()); }
  /// Does the same where `field` may lie elsewhere, since the piece has it in another form: with double
  /// quotes in it. `at`: its place in the piece.
  Weight read(std::string_view field, const char* at) { return read(field, at, field); }

 private:
  /// Reads a weight. `text`: the field, or another way to write the same number.
  Weight read(std::string_view field, const char* at, std::string_view text);
  void round(std::string_view field, RoundedWeights::Cause cause);

  const Input& input_;
  const Piece& piece_;
  RoundedWeights* rounded_;
  /// Whether this piece has had one: later ones are not the first.
  bool any_digits_ = false, any_mixed_ = false;
};

/// Reads attributes as NetworkX writes them, from their { to `end`, that of the line. Returns the place after
/// their }, or null. `weight` becomes the text of the value of 'weight', or stays empty.
const char* read_attributes(const char* at, const char* end, std::string_view& weight);

}  // namespace edgewire::graph
