#include "graph/read/webgraph_rows.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "webgraph_writer.h"

namespace edgewire::graph {

namespace {

struct NamedCode {
  BitCode code;
  std::string name;
  std::uint64_t parameter;
  std::uint64_t most;  ///< that the test writes
};

const std::vector<NamedCode>& named_codes() {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 50;
  static const std::vector<NamedCode> codes = {
      {BitCode::gamma, "GAMMA", 3, kHuge},   {BitCode::delta, "DELTA", 3, kHuge},
      {BitCode::unary, "UNARY", 3, 3000},    {BitCode::nibble, "NIBBLE", 3, kHuge},
      {BitCode::zeta, "ZETA", 1, kHuge},     {BitCode::zeta, "ZETA", 2, kHuge},
      {BitCode::zeta, "ZETA", 3, kHuge},     {BitCode::zeta, "ZETA", 7, kHuge},
      {BitCode::golomb, "GOLOMB", 1, 2000},  {BitCode::golomb, "GOLOMB", 3, 9000},
      {BitCode::golomb, "GOLOMB", 64, 9000}, {BitCode::golomb, "GOLOMB", 1'000'003, kHuge >> 20}};
  return codes;
}

std::vector<std::uint64_t> numbers_up_to(std::uint64_t most) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t n = 0; n <= std::min<std::uint64_t>(most, 5000); ++n) numbers.push_back(n);
  for (std::uint64_t power = 8192; power <= most; power *= 2)
    numbers.insert(numbers.end(), {power - 1, power, power + 1});
  return numbers;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

TEST_CASE("each code gives the numbers that were written") {
  for (const NamedCode& one : named_codes()) {
    CAPTURE(one.name);
    CAPTURE(one.parameter);
    BitWriter writer;
    writer.bit(true);  // no code begins at a byte by right
    const auto numbers = numbers_up_to(one.most);
    for (const std::uint64_t number : numbers) writer.code(one.name, number, one.parameter);
    const BitCodeReader reader(one.code, one.parameter);
    BitStream bits(bytes_of(writer.bytes()));
    bits.at = 1;
    std::size_t wrong = 0;
    for (const std::uint64_t number : numbers) wrong += reader.read(bits) == number ? 0U : 1U;
    CHECK(wrong == 0);
    CHECK(bits.at == writer.bits());
  }
}

TEST_CASE("a code that is cut off, or too long, is refused") {
  for (const NamedCode& one : named_codes()) {
    CAPTURE(one.name);
    const BitCodeReader reader(one.code, one.parameter);
    const std::string zeros(40, '\0');
    BitStream bits(bytes_of(zeros));
    CHECK_THROWS_AS(reader.read(bits), Error);
    BitWriter writer;
    writer.code(one.name, std::min<std::uint64_t>(one.most, 2000), one.parameter);
    for (std::size_t length = 0; length + 1 < writer.bytes().size(); ++length) {
      const std::string part = writer.bytes().substr(0, length);
      BitStream cut(bytes_of(part));
      CHECK_THROWS_WITH_AS(reader.read(cut), doctest::Contains("the file ends within"), Error);
    }
  }
}

}  // namespace edgewire::graph
