#include "graph/weight_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace edgewire::graph {

namespace {

__extension__ using Wide = unsigned __int128;

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// The digits of a number from the first to the last that is not 0.
std::string significant_digits(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c == 'e' || c == 'E') break;
    if (is_digit(c) && (c != '0' || !digits.empty())) digits += c;
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits;
}

/// Whether a short decimal fraction differs from the double that it became by less than half a unit of its
/// last digit, so that it comes back. False also where 128 bits are too few to tell.
bool is_near(std::string_view text, double value) {
  constexpr std::size_t kMostDigits = 19;  // that 64 bits hold
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.size() > kMostDigits + 1) return false;
  std::uint64_t digits = 0, scale = 1;
  bool point = false;
  for (const char c : text) {
    if (!is_digit(c) && (c != '.' || point)) return false;
    point = point || c == '.';
    if (c == '.') continue;
    digits = digits * 10 + static_cast<std::uint64_t>(c - '0');
    if (point) scale *= 10;
  }
  constexpr int kBits = std::numeric_limits<double>::digits;
  int exponent = 0;  // the value is mantissa / 2^-exponent
  const auto mantissa = static_cast<std::uint64_t>(std::frexp(std::abs(value), &exponent) * 0x1p53);
  exponent -= kBits;
  if (exponent >= 0 || static_cast<int>(std::bit_width(digits)) - exponent > 127) return false;
  const Wide kept = static_cast<Wide>(mantissa) * scale, said = static_cast<Wide>(digits) << -exponent;
  return (kept > said ? kept - said : said - kept) < Wide{1} << (-exponent - 1);
}

/// Whether a double, printed with as many digits as its text has, is that text again.
bool comes_back(std::string_view text, double value) {
  constexpr std::size_t kAlways = std::numeric_limits<double>::digits10;  // so many digits come back
  const bool normal = std::abs(value) >= std::numeric_limits<double>::min();
  const std::size_t others = text.starts_with("0.") ? 2 : 1;  // no digits that count, in what is not whole
  if (normal && text.size() <= kAlways + others) return true;
  if (normal && is_near(text, value)) return true;
  constexpr std::size_t kMost = 767;  // digits that a double has
  std::array<char, kMost + 16> printed;
  const auto print = [&](auto... how) {
    const auto end = std::to_chars(printed.begin(), printed.end(), value, how...).ptr;
    return std::string_view(printed.data(), static_cast<std::size_t>(end - printed.data()));
  };
  const std::string digits = significant_digits(text);
  if (digits.empty() || (normal && digits.size() <= kAlways)) return true;
  if (digits.size() > kMost) return false;
  constexpr auto kScientific = std::chars_format::scientific;
  return significant_digits(print(kScientific)) == digits ||
         significant_digits(print(kScientific, static_cast<int>(digits.size()) - 1)) == digits;
}

bool is_double(std::uint64_t whole) {
  constexpr int kBits = std::numeric_limits<double>::digits;
  return static_cast<int>(std::bit_width(whole)) - std::countr_zero(whole) <= kBits;
}

}  // namespace

Weight WeightReader::read(std::string_view field) {
  std::string_view text = field;
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  std::uint64_t whole = 0;
  const auto [whole_end, whole_error] = std::from_chars(text.data(), end, whole);
  if (whole_error == std::errc() && whole_end == end) {
    if (!any_mixed_ && !is_double(whole)) round(field, RoundedWeights::Cause::mixed);
    return whole;
  }
  double value = 0;
  const auto [value_end, error] = std::from_chars(text.data(), end, value);
  const auto refuse = [&](const char* what) {
    input_.fail_line(piece_, field.data(), fmt::format("{}; --no-weights reads no weights", what));
  };
  if (error == std::errc::invalid_argument || value_end != end) refuse("expected a weight (a number)");
  const bool vanished = value == 0 && !significant_digits(text).empty();
  if (error != std::errc() || vanished) refuse("the weight is beyond the range of 64-bit numbers");
  if (!std::isfinite(value)) refuse("the weight is not a finite number");
  if (!any_digits_ && !comes_back(text, value)) round(field, RoundedWeights::Cause::digits);
  return value;
}

void WeightReader::round(std::string_view field, RoundedWeights::Cause cause) {
  (cause == RoundedWeights::Cause::digits ? any_digits_ : any_mixed_) = true;
  if (rounded_ != nullptr) rounded_->add(input_, piece_, field, cause);
}

void RoundedWeights::add(const Input& input, const Piece& piece, std::string_view text, Cause cause) {
  constexpr int kOffsetBits = 48;
  const auto place =
      static_cast<std::uint64_t>(std::find(inputs_.begin(), inputs_.end(), &input) - inputs_.begin());
  const std::uint64_t offset = piece.offset + static_cast<std::uint64_t>(text.data() - piece.text.data());
  const std::uint64_t key = place << kOffsetBits | offset;
  const std::lock_guard lock(mutex_);
  std::optional<Place>& first = cause == Cause::digits ? digits_ : mixed_;
  if (first && first->key < key) return;
  first = {key, offset, input.streamed() ? input.line_of(piece, text.data()) : 0, &input, std::string(text)};
}

std::string RoundedWeights::line_of(const Place& place, Cause cause) const {
  const std::uint64_t line = place.input->streamed() ? place.line : place.input->line_at(place.offset);
  double value = 0;
  const std::size_t sign = place.text.starts_with('+') ? 1 : 0;
  std::from_chars(place.text.data() + sign, place.text.data() + place.text.size(), value);
  constexpr std::size_t kShown = 60;
  const bool long_text = place.text.size() > kShown;
  return fmt::format("{}: line {}: weight {}{} is kept as {}: {}", place.input->path(), line,
                     place.text.substr(0, kShown), long_text ? "..." : "", to_text(value),
                     cause == Cause::digits
                         ? "a weight has 64 bits (the same goes for others that have more)"
                         : "some weights are negative or not whole, so all become floating-point numbers");
}

void RoundedWeights::tell(EdgeSink& sink, WeightType type,
                          const std::function<void(const std::string&)>& note) const {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const bool mixed = mixed_ && !is_whole(type) && !(digits_ && digits_->key < mixed_->key);
  const std::optional<Place>& first = mixed ? mixed_ : digits_;
  const std::uint64_t mine = first ? first->key : kNone;
  if (sink.least(mine) != mine || !first || !note) return;
  note(line_of(*first, mixed ? Cause::mixed : Cause::digits));
}

}  // namespace edgewire::graph
