#include "edgewire/detail/codec.h"
#include "base/rooms.h"
#include "dense/plan/volume.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>

using edgewire::exchange::Codec;
using edgewire::plan::Encoding;

namespace {
constexpr std::array kEncodings{Encoding::bf16, Encoding::f16, Encoding::u16};
}

TEST_CASE("values are rounded to the nearest, within the promised relative error") {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> exponent(-17.0F, 0.0F);
  for (const auto encoding : kEncodings) {
    for (const double largest : {1.0, 1000.0, 4e9}) {
      const Codec codec(encoding, largest);
      for (int i = 0; i < 100000; ++i) {
        const auto value = static_cast<float>(largest) * std::exp2(exponent(random));
        const float back = codec.decode(codec.encode(value));
        REQUIRE(std::fabs(back - value) <= value * edgewire::plan::rounding(encoding));
      }
    }
  }
}

TEST_CASE("every code that is decoded is encoded as itself, and order is kept") {
  for (const auto encoding : kEncodings) {
    const Codec codec(encoding, 1.0);
    const std::uint16_t last = codec.encode(1e30F);
    float before = -1;
    for (std::uint32_t code = 0; code <= last; ++code) {
      const float value = codec.decode(static_cast<std::uint16_t>(code));
      REQUIRE(value > before);
      REQUIRE(codec.encode(value) == code);
      before = value;
    }
  }
}

TEST_CASE("out of range values become the nearest that is in range") {
  for (const auto encoding : kEncodings) {
    const Codec codec(encoding, 8.0);
    CHECK(codec.encode(0.0F) == 0);
    CHECK(codec.encode(-3.0F) == 0);
    CHECK(std::isfinite(codec.decode(codec.encode(INFINITY))));
    CHECK(codec.decode(codec.encode(8.0F)) == 8.0F);
  }
}

TEST_CASE("what a slot owes never exceeds one rounding, however its values change") {
  for (const auto encoding : kEncodings) {
    const Codec codec(encoding, 1.0);
    const double rounding = edgewire::plan::rounding(encoding), once = rounding / (1 - rounding);
    float residual = 0, last = 0;
    for (const float value : {0.9013F, 1e-7F, 0.0F, 0.30001F, 3e-4F, 3e-4F, 0.77F, 1e-5F, 0.5003F}) {
      const double before = std::fabs(residual);
      const double arrived = codec.decode(codec.encode(value, residual));
      CHECK(std::fabs(residual) <= rounding * (value + before) + 1e-12);
      CHECK(std::fabs(arrived - value) <= once * (value + last) + 1e-6 * value + 1e-12);
      last = value;
    }
  }
}

TEST_CASE("with error feedback the mean of what arrives is the value") {
  for (const auto encoding : kEncodings) {
    const Codec codec(encoding, 1.0);
    for (const float value : {0.123456F, 3.14159e-3F, 1.0F / 3}) {
      float residual = 0;
      double sum = 0;
      constexpr int kRounds = 4096;
      for (int i = 0; i < kRounds; ++i) sum += codec.decode(codec.encode(value, residual));
      CHECK(std::fabs(sum / kRounds - value) <= value * edgewire::plan::rounding(encoding) / 1000);
    }
  }
}
