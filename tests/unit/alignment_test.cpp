#include "perf/bench/alignment.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "task_runs.h"

namespace edgewire::bench {

using namespace tasks;
namespace {

Best align(const Cut& cut, const Alignment& alignment) {
  Registry registry;
  const auto root = add_alignment(registry, std::make_shared<const Alignment>(alignment));
  const std::string bytes = result_of(cut, registry, root, {}, 2);
  INFO(bytes);
  return from_bytes<Best>(bytes);
}

void check_same(const Best& one, const Best& other) {
  CHECK(one.score == other.score);
  CHECK(one.end_a == other.end_a);
  CHECK(one.end_b == other.end_b);
}

TEST_CASE("alignments that can be counted by hand") {
  struct Known {
    std::string a, b;
    Best best;
  };
  // A match scores 2, a mismatch costs 3, a gap 5 and 2 for each letter.
  for (const auto& [a, b, best] : std::vector<Known>{{"ACGT", "ACGT", {8, 4, 4}},
                                                     {"AAAA", "CCCC", {0, 0, 0}},
                                                     {"A", "CA", {2, 1, 2}},
                                                     {"GGACGT", "ACGTCC", {8, 6, 4}},
                                                     {"AAAATTTTCCCC", "AAAATTTTGCCCC", {19, 12, 12}},
                                                     {"AAAATTTTGGCCCCC", "AAAATTTTCCCCC", {17, 15, 13}},
                                                     {"AAAATTTTTTTT", "AAAACTTTTTTTT", {19, 12, 12}},
                                                     {"ACAC", "ACTTAC", {4, 2, 2}}}) {
    check_same(align_plainly(a, b, {}), best);
    const auto rows = static_cast<std::uint32_t>(a.size()), columns = static_cast<std::uint32_t>(b.size());
    check_same(align({2, 1, "shm"}, {a, b, {}, rows, columns}), best);
    check_same(align({1, 1, "shm"}, {a, b, {}, 1, 1}), best);
  }
}

TEST_CASE("blocks of any shape, in any number of processes, give the alignment of the plain reference") {
  const auto [a, b] = related_sequences(400, 7);
  for (const Scoring& scoring :
       {Scoring{}, Scoring{1, 1, 0, 1}, Scoring{5, 4, 10, 0}, Scoring{1, 0, 20, 1}}) {
    const Best known = align_plainly(a, b, scoring);
    CHECK(known.score > 50);
    for (const auto& [rows, columns] :
         std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 1}, {7, 3}, {1, 50}, {13, 13}})
      check_same(align({2, 1, "shm"}, {a, b, scoring, rows, columns}), known);
  }
  for (const Cut& cut : kCuts) check_same(align(cut, {a, b, {}, 11, 6}), align_plainly(a, b, {}));
}

TEST_CASE("generated sequences are alike, and the same for the same seed") {
  const auto [a, b] = related_sequences(5'000, 3);
  CHECK(a.size() == 5'000);
  CHECK(b.size() > 4'800);
  CHECK(b.size() < 5'200);
  CHECK(related_sequences(5'000, 3) == std::pair(a, b));
  CHECK(related_sequences(5'000, 4).first != a);
  CHECK(align_plainly(a, b, {}).score > 5'000);
}

TEST_CASE("FASTA files") {
  const auto folder = std::filesystem::temp_directory_path() / ("edgewire-fasta-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const auto read = [&](const std::string& text) {
    std::ofstream(folder / "a.fa", std::ios::binary) << text;
    try {
      return read_fasta(folder / "a.fa");
    } catch (const Error& error) {
      return std::string(error.what()).substr(folder.string().size() + 1);
    }
  };
  CHECK(read(">one\nACgt\n\nTT\n") == "ACGTTT");
  CHECK(read(">one two\r\nAC\r\n>next\nGG\n") == "AC");
  CHECK(read("\n>protein\nMKV*") == "MKV*");
  CHECK(read("ACGT\n").find("a.fa:1: this is no FASTA file") == 0);
  CHECK(read(">one\nAC GT\n") == "a.fa:2: a sequence has letters only, not the byte 32");
  CHECK(read(">one\n>two\nAC\n") == "a.fa: it holds no sequence");
  CHECK(read("") == "a.fa: it holds no sequence");
  CHECK_THROWS_WITH_AS(read_fasta(folder / "none.fa"),
                       doctest::Contains("none.fa: cannot read: No such file"), Error);
  CHECK_THROWS_WITH_AS(read_fasta(folder), doctest::Contains("cannot read: Is a directory"), Error);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace edgewire::bench
