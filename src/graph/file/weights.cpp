#include "graph/file/weights.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <limits>
#include <system_error>

#include "graph/read/text_lines.h"
#include "graph/read/weight_text.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

bool is_float(double number) { return static_cast<double>(static_cast<float>(number)) == number; }

void add_to(WeightFacts& facts, std::span<const std::uint64_t> weights) {
  for (const std::uint64_t weight : weights) {
    facts.least = std::min(facts.least, weight);
    facts.largest = std::max(facts.largest, weight);
  }
  constexpr std::uint64_t kFloats = 1 << 24;  // floats hold all whole numbers up to this
  if (!facts.floats || facts.largest <= kFloats) return;
  facts.floats = std::all_of(weights.begin(), weights.end(),
                             [](std::uint64_t weight) { return is_float(static_cast<double>(weight)); });
}

template <class Number>
void add_to(WeightFacts& facts, std::span<const Number> weights) {
  for (const Number number : weights) {
    const Weight weight(number);
    facts.whole = facts.whole && weight.is_whole();
    facts.floats = facts.floats && is_float(weight.number());
    if (!weight.is_whole()) continue;
    facts.least = std::min(facts.least, weight.bits());
    facts.largest = std::max(facts.largest, weight.bits());
  }
}

__extension__ using Wide = unsigned __int128;

/// Returns the digits of a number from the first to the last that is not 0.
std::string significant_digits(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c == 'e' || c == 'E') break;
    if (is_digit(c) && (c != '0' || !digits.empty())) digits += c;
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits;
}

/// Returns the text of a number with E where Fortran has written D.
std::string with_e(std::string text) {
  std::ranges::replace(text, 'D', 'E');
  std::ranges::replace(text, 'd', 'e');
  return text;
}

/// Returns whether a short decimal fraction differs from the double that it became by less than half a unit
/// of its last digit, so that it comes back. It returns false also where 128 bits are too few to tell.
bool is_near(std::string_view text, double value) {
  constexpr std::size_t kMostDigits = 19;  // digits that 64 bits hold
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

/// Returns whether a double, printed with as many digits as its text has, is that text again.
bool comes_back(std::string_view text, double value) {
  // Number of digits that always come back.
  constexpr std::size_t kAlways = std::numeric_limits<double>::digits10;
  const bool normal = std::abs(value) >= std::numeric_limits<double>::min();
  // Characters that are no significant digits, in fractions.
  const std::size_t others = text.starts_with("0.") ? 2 : 1;
  if (normal && text.size() <= kAlways + others) return true;
  if (normal && is_near(text, value)) return true;
  constexpr std::size_t kMost = 767;  // most digits that a double has
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

/// Returns the place after a string in single or double quotes that begins at `at`; null: it does not end.
const char* after_string(const char* at, const char* end) {
  const char quote = *at;
  for (++at; at < end && *at != quote; ++at)
    if (*at == '\\') ++at;
  return at < end ? at + 1 : nullptr;
}

/// Returns the place after a value, at the comma or brace that ends it; null: there is none.
const char* after_value(const char* at, const char* end) {
  for (int depth = 0; at != end; ++at) {
    if (depth == 0 && (*at == ',' || *at == '}')) return at;
    if (*at == '\'' || *at == '"') {
      at = after_string(at, end);
      if (at == nullptr) return nullptr;
      --at;
    } else if (*at == '{' || *at == '[' || *at == '(') {
      ++depth;
    } else if (*at == '}' || *at == ']' || *at == ')') {
      --depth;
    }
  }
  return nullptr;
}

const char* after_spaces(const char* at, const char* end) {
  return std::find_if(at, end, [](char c) { return c != ' '; });
}

}  // namespace

void append_text(std::string& text, Weight weight) {
  if (weight.is_whole()) {
    const fmt::format_int digits(weight.bits());
    text.append(digits.data(), digits.size());
  } else {
    fmt::format_to(std::back_inserter(text), "{}", weight.number());
  }
}

std::string to_text(Weight weight) {
  std::string text;
  append_text(text, weight);
  return text;
}

void WeightFacts::add(Weights weights) noexcept {
  any = any || !weights.empty();
  weights.visit([this](const auto numbers) { add_to(*this, numbers); });
}

void WeightFacts::add(const WeightFacts& others) noexcept {
  least = std::min(least, others.least);
  largest = std::max(largest, others.largest);
  any = any || others.any;
  whole = whole && others.whole;
  floats = floats && others.floats;
}

WeightType WeightFacts::type() const noexcept {
  if (any && whole)
    return largest <= std::numeric_limits<std::uint32_t>::max() ? WeightType::u32 : WeightType::u64;
  return floats ? WeightType::f32 : WeightType::f64;
}

Weight WeightReader::read(std::string_view field, const char* at, std::string_view text) {
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
  if (error == std::errc() && value_end != end && (*value_end == 'D' || *value_end == 'd'))
    return read(field, at, with_e(std::string(text)));
  const auto refuse = [&](const char* what) {
    input_.fail_line(piece_, at, what + opt::no_weights.hint("; {} reads no weights"));
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
  const std::string text = with_e(place.text);
  const std::size_t sign = text.starts_with('+') ? 1 : 0;
  std::from_chars(text.data() + sign, text.data() + text.size(), value);
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

const char* read_attributes(const char* at, const char* end, std::string_view& weight) {
  at = after_spaces(at + 1, end);
  while (at != end && *at != '}') {
    if (*at != '\'' && *at != '"') return nullptr;
    const char* const key = at;
    at = after_string(at, end);
    if (at == nullptr) return nullptr;
    const bool is_weight = std::string_view(key + 1, at - 1) == "weight";
    at = after_spaces(at, end);
    if (at == end || *at != ':') return nullptr;
    at = after_spaces(at + 1, end);
    const char* const value = at;
    at = after_value(at, end);
    if (at == nullptr) return nullptr;
    if (is_weight) weight = {value, at};
    if (*at == ',') at = after_spaces(at + 1, end);
  }
  return at == end ? nullptr : at + 1;
}

}  // namespace edgewire::graph
