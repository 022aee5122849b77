// Files of the plan cache that are wrong and have the right checksums. A job uses them as far as they can be
// a plan of its graph, or makes the plan anew. It never ends because of them.
#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <random>
#include <thread>

#include "../unit/bootstraps.h"
#include "../unit/graph_test.h"
#include "base/array_file.h"
#include "dense/job/dense_job.h"
#include "dense/job/plan_cache.h"
#include "fuzz.h"
#include "kernels/runs.h"

namespace edgewire::job {

namespace {

using graph::read_file;
using graph::TemporaryDirectory;
using graph::write_file;

/// The sections of a plan file, and all that is needed to write it again.
struct PlanParts {
  std::string key;
  std::uint64_t generation = 0;
  std::vector<std::string> sections;

  explicit PlanParts(const std::string& bytes) {
    ArrayFileHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    key = bytes.substr(sizeof header, header.key_bytes);
    generation = header.generation;
    const std::size_t table = sizeof header + (header.key_bytes + 7) / 8 * 8;
    for (std::uint32_t s = 0; s < header.sections; ++s) {
      ArrayFileSection section;
      std::memcpy(&section, bytes.data() + table + s * sizeof section, sizeof section);
      sections.push_back(bytes.substr(section.offset, section.bytes));
    }
  }
  /// With right checksums.
  void write(const std::string& path) const {
    ArrayFileWriter writer;
    for (const std::string& section : sections) writer(section);
    writer.write(path, key, generation, [](std::uint64_t count, const auto& work) {
      for (std::uint64_t i = 0; i < count; ++i) work(0, i);
    });
  }
};

/// Jobs of two processes, which are threads.
struct TwoRanks {
  TemporaryDirectory folder;
  DenseOptions options;
  topology::Machine machine = topology::discover();
  std::vector<std::string> whole;  ///< [rank]: the files
  std::vector<std::uint64_t> ranks;
  PlanSource source = PlanSource::none;
  std::string note;

  TwoRanks(plan::Strategy strategy, bool weighted, const char* ownership = "hash") {
    std::minstd_rand random(7);
    std::vector<graph::Edge> edges;
    for (int e = 0; e < 3000; ++e) edges.emplace_back(random() % 300, random() % 300, 1.0F);
    graph::build(folder / "g.ew", 300, edges, {.weighted = weighted});
    options.plan_cache = folder / "";
    options.strategy = strategy;
    options.weighted = weighted;
    options.ownership = ownership;
    options.assumed_compute_rate = 1e9;
    options.assumed_link_rate = 1e9;
    ranks = run();
    REQUIRE(source == PlanSource::written);
    for (const int rank : {0, 1}) whole.push_back(read_file(file(rank)));
    CHECK(run() == ranks);
    REQUIRE(source == PlanSource::used);
  }
  std::string file(int rank) const { return folder / fmt::format("g.ew.plan-{}-of-2", rank); }
  /// The ranks of rank 0's vertices, bit by bit.
  std::vector<std::uint64_t> run() {
    const auto bootstraps = launch::bootstraps(2);
    const auto graph = Graph::open(folder / "g.ew");
    std::vector<std::uint64_t> bits;
    const auto process = [&](std::size_t rank) {
      try {
        DenseJob job(*bootstraps[rank], graph, options, machine);
        kernels::PageRank<float> pagerank({.weighted = options.weighted}, graph.vertices());
        DenseRun run(job, pagerank);
        run.iterate({.iterations = 2});
        if (rank == 1) return;
        source = job.cache_use().source;
        note = job.cache_use().note;
        for (const double value : run.values()) bits.push_back(std::bit_cast<std::uint64_t>(value));
      } catch (const std::exception& error) {
        bootstraps[rank]->health().fail(-1, error.what());
        FAIL_CHECK(std::string(error.what()));
      }
    };
    std::thread other(process, 1);
    process(0);
    other.join();
    return bits;
  }
};

std::vector<std::unique_ptr<TwoRanks>> all_kinds() {
  std::vector<std::unique_ptr<TwoRanks>> all;
  all.push_back(std::make_unique<TwoRanks>(plan::Strategy::cover, false));
  all.push_back(std::make_unique<TwoRanks>(plan::Strategy::slots, true));
  all.push_back(std::make_unique<TwoRanks>(plan::Strategy::edge, false));
  all.push_back(std::make_unique<TwoRanks>(plan::Strategy::slots, false, "hilbert"));
  all.push_back(std::make_unique<TwoRanks>(plan::Strategy::slots, true, "grid"));
  return all;
}

void check_large_indexes(TwoRanks& ranks) {
  const PlanParts parts(ranks.whole[0]);
  int refused = 0;
  for (std::size_t s = 0; s < parts.sections.size(); ++s) {
    if (parts.sections[s].size() < 2) continue;
    CAPTURE(s);
    PlanParts forged = parts;
    forged.sections[s].replace(forged.sections[s].size() - 2, 2, "\xff\xff");
    forged.write(ranks.file(0));
    write_file(ranks.file(1), ranks.whole[1]);
    const auto found = ranks.run();
    if (ranks.source == PlanSource::used) continue;
    ++refused;
    CHECK(found == ranks.ranks);
    CHECK(graph::contains(ranks.note, "plan cache not used: " + ranks.file(0)));
    CHECK(read_file(ranks.file(0)).size() == ranks.whole[0].size());
  }
  CHECK(refused >= 10);
}

TEST_CASE("a plan with one index too large is refused, whatever its checksums say") {
  TwoRanks cover(plan::Strategy::cover, false), blocks(plan::Strategy::slots, false, "hilbert");
  check_large_indexes(cover);
  check_large_indexes(blocks);
}

TEST_CASE("damaged plans with right checksums") {
  const auto all = all_kinds();
  std::vector<std::string> seeds;  // the kind, the section's number, the section
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    const auto sections = PlanParts(all[kind]->whole[0]).sections;
    for (std::size_t s = 0; s < sections.size(); ++s)
      seeds.push_back(std::string{static_cast<char>(kind), static_cast<char>(s)} + sections[s]);
  }
  fuzz::feed({.name = "plan",
              .read =
                  [&](const fuzz::Input& input) {
                    if (input.bytes.size() < 2) return "nothing";
                    TwoRanks& ranks = *all[static_cast<unsigned char>(input.bytes[0]) % all.size()];
                    PlanParts parts(ranks.whole[0]);
                    const std::size_t section =
                        static_cast<unsigned char>(input.bytes[1]) % parts.sections.size();
                    CAPTURE(section);
                    parts.sections[section] = input.bytes.substr(2);
                    parts.write(ranks.file(0));
                    write_file(ranks.file(1), ranks.whole[1]);
                    const auto found = ranks.run();
                    if (ranks.source != PlanSource::used) CHECK(found == ranks.ranks);
                    return "taken";
                  },
              .seeds = seeds,
              .twice = false});
}

}  // namespace

}  // namespace edgewire::job
