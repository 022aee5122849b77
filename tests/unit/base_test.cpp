#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/bits.h"
#include "base/digit_sort.h"
#include "base/median.h"
#include "base/mixing.h"
#include "base/release.h"
#include "base/usage.h"

namespace edgewire {
namespace {

TEST_CASE("the median is the value in the middle, or the mean of two") {
  CHECK(median({3}) == 3);
  CHECK(median({5, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(median_of_sorted(std::vector<double>{1, 3}) == 2);
}

TEST_CASE("a set made of its members gives them back") {
  const std::vector<std::uint32_t> members{0, 1, 63, 64, 127, 128, 190};
  CHECK(Bits(191, members).members() == members);
}

TEST_CASE("some numbers of a set are set at once, within a word or over two") {
  Bits bits(200);
  bits.set_some(0, 0b101);
  bits.set_some(62, 0b1111);
  bits.set_some(128, 1);
  bits.set_some(168, 1U << 31);
  CHECK(bits.members() == std::vector<std::uint32_t>{0, 2, 62, 63, 64, 65, 128, 199});
}

TEST_CASE("of several threads that set a bit one has set it" * doctest::test_suite("schedules")) {
  constexpr std::uint32_t kSize = 1000;
  Bits bits(kSize);
  SharedBits shared(kSize, true);
  std::atomic<std::uint32_t> firsts{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint32_t i = 0; i < kSize; i += 3) {
        firsts += bits.set(i) ? 1 : 0;
        shared.add(i);
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(firsts == 334);
  CHECK(bits.members() == shared.members());
  CHECK(bits.members().size() == 334);
  CHECK(bits.test(999));
  CHECK(!bits.test(998));
}

TEST_CASE("words of a set are cleared as wholes") {
  Bits bits(200, std::vector<std::uint32_t>{0, 63, 64, 100, 130});
  bits.clear_words_of(std::vector<std::uint32_t>{70, 199});
  CHECK(bits.members() == std::vector<std::uint32_t>{0, 63, 130});
  bits.set_word(1, 5);
  CHECK(bits.word(1) == 5);
  CHECK(bits.members() == std::vector<std::uint32_t>{0, 63, 64, 66, 130});
  bits.clear();
  CHECK(bits.members().empty());
}

TEST_CASE("a set knows how many of its numbers are below another one") {
  const std::vector<std::uint64_t> members{0, 3, 63, 64, 190};
  const RankedBits set(Bits(191, members));
  CHECK(set.count() == 5);
  CHECK(set.members() == members);
  for (std::size_t i = 0; i < members.size(); ++i) CHECK(set.below(members[i]) == i);
  CHECK(set.has(63));
  CHECK_FALSE(set.has(65));
  CHECK(set.below(189) == 4);
}

TEST_CASE("numbers are sorted by their low bits, and equal ones keep their order") {
  for (const int bits : {0, 1, 11, 12, 20, 33, 64}) {
    CAPTURE(bits);
    const std::uint64_t mask = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    std::vector<std::uint64_t> items(3000), other(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = mix64(i % 2000) << 7 | mix64(i) >> 57;
    std::vector<std::uint64_t> expected = items;
    std::stable_sort(expected.begin(), expected.end(),
                     [mask](std::uint64_t a, std::uint64_t b) { return (a & mask) < (b & mask); });
    CHECK(std::ranges::equal(digit_sort(std::span(items), std::span(other), bits), expected));
  }
}

TEST_CASE("the generator makes the numbers of its paper's reference") {
  SplitMix64 random(0);  // the first numbers of its reference program
  CHECK(random.next() == 0xE220A8397B1DCDAF);
  CHECK(random.next() == 0x6E789E6AA1B965F4);
  CHECK(random.next() == 0x06C45D188009454F);
}

TEST_CASE("what is released takes no memory") {
  std::vector<int> numbers(1000);
  std::string text(1000, 'x');
  release(numbers);
  release(text);
  CHECK((numbers.empty() && numbers.capacity() == 0));
  CHECK((text.empty() && text.capacity() < 100));
}

TEST_CASE("a process has used time of cores, and memory") {
  const double before = process_cpu_seconds();
  const std::vector<char> memory(64 << 20, 1);  // touched
  CHECK(peak_memory_bytes() >= memory.size());
  CHECK(process_cpu_seconds() >= before);
}

TEST_CASE("a forked process does not count the memory of its parent") {
  constexpr std::size_t kBytes = 64 << 20;
  const std::vector<char> parents(kBytes, 1);  // touched
  const pid_t child = fork();
  if (child == 0) {
    leave_out_parents_memory();
    const std::uint64_t first = peak_memory_bytes();
    const std::vector<char> memory(kBytes / 2, 1);
    const std::uint64_t second = peak_memory_bytes();
#if defined(__SANITIZE_THREAD__)
    constexpr std::size_t kMost = 8 * kBytes;  // the sanitizer keeps some words for each
#else
    constexpr std::size_t kMost = kBytes;
#endif
    _exit(first < kBytes / 4 && second >= memory.size() && second < kMost ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
}  // namespace edgewire
