// Whether other libraries leave clean vector registers: SSE code behind a call must be as fast as before it.
#include "base/vector_registers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/seconds.h"
#include "graph/read/decompress.h"
#include "graph_inputs.h"
#include "tasks/memo.h"
#include "transport/crc32c.h"
#include "transport/sealed.h"

#if defined(__x86_64__)
#include <cpuid.h>

namespace {

using namespace edgewire;

/// Loads, multiplications and additions. Each load writes the register of the last product: with dirty upper
/// halves it waits for that product.
double turn_seconds() {
  constexpr int kPasses = 32;
  alignas(16) static const float numbers[1024] = {};
  const auto start = Clock::now();
  for (int pass = 0; pass < kPasses; ++pass) {
    const float* at = numbers;
    long left = std::size(numbers) / 16;
    asm volatile(
        "1:\n\t"
        "movaps (%0), %%xmm0\n\t mulps %%xmm8, %%xmm0\n\t addps %%xmm0, %%xmm1\n\t"
        "movaps 16(%0), %%xmm0\n\t mulps %%xmm8, %%xmm0\n\t addps %%xmm0, %%xmm2\n\t"
        "movaps 32(%0), %%xmm0\n\t mulps %%xmm8, %%xmm0\n\t addps %%xmm0, %%xmm3\n\t"
        "movaps 48(%0), %%xmm0\n\t mulps %%xmm8, %%xmm0\n\t addps %%xmm0, %%xmm4\n\t"
        "addq $64, %0\n\t decq %1\n\t jnz 1b"
        : "+r"(at), "+r"(left)
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm8", "memory", "cc");
  }
  return seconds_since(start);
}

/// Whether the processor says that upper halves are in use (XINUSE, Intel SDM volume 1, section 13.6). Always
/// false where it does not tell.
bool upper_halves_in_use() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  constexpr unsigned kState = 0xD, kTellsInUse = 1 << 2, kUpperHalves = 1 << 2;
  if (__get_cpuid_count(kState, 1, &a, &b, &c, &d) == 0 || (a & kTellsInUse) == 0) return false;
  asm volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
  return (a & kUpperHalves) != 0;
}

void make_dirty() {
  if (__builtin_cpu_supports("avx2") != 0) asm volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0" ::: "xmm0");
}

/// How many times as long a turn takes behind the call as before it: the best of many, so that other
/// processes do not matter. The first turn behind the call meets cold caches; registers stay dirty for those
/// after it.
double slowdown(const std::function<void()>& call) {
  double before = 1, after = 1;
  for (int i = 0; i < 50; ++i) {
    clear_upper_halves();
    for (int turn = 0; turn < 4; ++turn) before = std::min(before, turn_seconds());
    call();
    for (int turn = 0; turn < 4; ++turn) after = std::min(after, turn_seconds());
  }
  return after / before;
}

const std::string& text() {
  static const std::string numbers = [] {
    std::string lines;
    for (int i = 0; i < 4000; ++i) lines += std::to_string(i * i) + "\n";
    return lines;
  }();
  return numbers;
}

/// A library's function, called as the program calls it. Empty: this build has no such library.
struct Call {
  std::string name;
  std::function<void()> run;
};

Call decompression(const graph::TemporaryDirectory& folder, const std::string& format,
                   const std::string& packed) {
  if (packed.empty()) return {format, {}};
  const std::string path = folder / format;
  std::ofstream(path, std::ios::binary) << packed;
  return {format, [path] {
            graph::RawBytes raw(path);
            std::string plain(text().size(), '\0');
            CHECK(graph::plain_bytes(raw)->read(plain.data(), plain.size()) == text().size());
          }};
}

std::vector<Call> calls(const graph::TemporaryDirectory& folder) {
  const auto bytes = std::as_bytes(std::span(text()));
  const std::string secret = "secret", use = "test";
  return {
      {"crc32c, short", [=] { CHECK(transport::crc32c(bytes.first(64)) != 0); }},
      {"crc32c, long", [=] { CHECK(transport::crc32c(bytes) != 0); }},
      {"checksum, short", [=] { CHECK(checksum(bytes.first(64)) != 0); }},
      {"checksum, long", [=] { CHECK(checksum(bytes) != 0); }},
      {"checksum in pieces",
       [=] {
         Checksum checksum;
         checksum.add(bytes.data(), bytes.size());
         CHECK(checksum.value() == edgewire::checksum(bytes));
       }},
      {"seal",
       [=] { CHECK(transport::unseal(transport::seal(text(), secret, use), secret, use) == text()); }},
      {"name of a task",
       [] {
         CHECK(tasks::Memo::name_of({1, 2}, 3, {.arguments = text()}) != tasks::Name{});
       }},
      decompression(folder, "gz", graph::gzipped(text())),
      decompression(folder, "zst", graph::zstandard(text())),
      decompression(folder, "xz", graph::xz(text())),
      decompression(folder, "bz2", graph::bzip2(text())),
  };
}

}  // namespace

TEST_CASE("vector registers: a call that clears them is told from one that does not") {
  clear_upper_halves();
  CHECK_FALSE(upper_halves_in_use());
  with_clean_registers(make_dirty);
  CHECK_FALSE(upper_halves_in_use());
  // Without the clearing, this would be true and the turns of Zen 4 several times as long.
  make_dirty();
  MESSAGE("the processor tells of dirty registers: ", upper_halves_in_use());
  clear_upper_halves();
}

TEST_CASE("vector registers: libraries leave SSE code as fast as it was") {
  const graph::TemporaryDirectory folder;
  for (const Call& call : calls(folder)) {
    if (!call.run) continue;
    CAPTURE(call.name);
    CHECK(slowdown(call.run) < 1.5);
    call.run();
    CHECK_FALSE(upper_halves_in_use());
  }
}

#endif
