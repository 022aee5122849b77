#include "graph/weights.h"

#include <fmt/format.h>

#include <iterator>
#include <limits>

namespace edgewire::graph {

namespace {

bool is_float(double number) { return static_cast<double>(static_cast<float>(number)) == number; }

void add_to(WeightFacts& facts, std::span<const std::uint64_t> weights) {
  for (const std::uint64_t weight : weights) {
    facts.least = std::min(facts.least, weight);
    facts.largest = std::max(facts.largest, weight);
  }
  constexpr std::uint64_t kFloats = 1 << 24;  // and all below
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

}  // namespace edgewire::graph
