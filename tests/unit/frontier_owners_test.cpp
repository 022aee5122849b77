// Owners tell other processes of their vertices: all that know a vertex, or those that have told of it.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "bootstraps.h"
#include "edgewire/frontier.h"
#include "frontier_graphs.h"
#include "graph_test.h"
#include "library_test.h"

namespace edgewire {

namespace {

/// A value of three widths, which says the same three times in 16 bytes.
struct WideValue {
  std::uint64_t value = 0;
  std::uint32_t again = 0, third = 0;
};
template <class Value>
Value value_of(std::uint32_t number) {
  if constexpr (std::is_same_v<Value, WideValue>)
    return {number * std::uint64_t{1'000'003}, number, ~number};
  else
    return Value{number} * 3;
}
template <class Value>
bool says(const Value& value, std::uint32_t number) {
  const Value right = value_of<Value>(number);
  if constexpr (std::is_same_v<Value, WideValue>)
    return value.value == right.value && value.again == right.again && value.third == right.third;
  else
    return value == right;
}

/// The vertices that a process hears of, and how often.
using Heard = std::map<std::uint32_t, int>;

std::vector<graph::Edge> random_edges(std::uint32_t vertices) {
  std::minstd_rand random(11);
  std::vector<graph::Edge> edges;
  for (std::uint32_t i = 0; i < 4 * vertices; ++i)
    edges.emplace_back(static_cast<std::uint32_t>(random() % vertices),
                       static_cast<std::uint32_t>(random() % vertices), 1.0F);
  return edges;
}

template <class Value>
void check_words_of_owners(std::uint32_t vertices) {
  const auto edges = random_edges(vertices);
  const graph::BuiltGraph built(vertices, edges);
  for_each_cut([&](const JobOptions& options, int processes) {
    in_processes(processes, [&](launch::Bootstrap& bootstrap) {
      FrontierJob<Value> job(bootstrap, built.graph, "words of owners", options);
      const auto is_here = [&](std::uint32_t v) { return job.home(VertexId(v)).owner == job.rank(); };
      Heard told_of, known;  // the vertices of others that edges out of odd ones lead to, and out of all
      for (const auto& [source, target, weight] : edges) {
        if (!is_here(source) || is_here(target)) continue;
        known[target] = 1;
        if (source % 2 == 1) told_of[target] = 1;
      }
      std::mutex mutex;
      Heard heard;
      std::atomic<int> wrong = 0;
      const auto take = [&](KnownNumber v, const Value& value) {
        const std::uint32_t id = job.vertex(v);
        if (v < job.owned() || !says(value, id)) ++wrong;
        const std::lock_guard lock(mutex);
        ++heard[id];
        return id % 6 == 0;
      };
      const auto id_if_even = [&](LocalNumber v) {
        const std::uint32_t id = job.vertex(v);
        return id % 2 == 0 ? std::optional(value_of<Value>(id)) : std::nullopt;
      };
      const auto only = [](Heard all, std::uint32_t factor) {
        std::erase_if(all, [&](const auto& one) { return one.first % factor != 0; });
        return all;
      };
      for (int turn = 0; turn < 2; ++turn) {
        std::vector<std::uint64_t> thirds(job.owned() / 64 + std::size_t{1});
        for (LocalNumber v{}; v < job.owned(); ++v)
          if (job.vertex(v) % 3 == 0) thirds[v / 64] |= std::uint64_t{1} << v % 64;
        heard.clear();
        Heard news;
        for (const KnownNumber v : job.broadcast(thirds, id_if_even, take)) ++news[job.vertex(v)];
        CHECK(heard == only(known, 6));
        CHECK(news == only(known, 6));

        std::vector<Told> told;
        std::vector<std::atomic<std::uint32_t>> sums(job.known());
        std::vector<LocalNumber> odd;
        for (const LocalNumber v : job.all())
          if (job.vertex(v) % 2 == 1) odd.push_back(v);
        job.superstep(
            odd,
            [](const FrontierRow& row, const auto& tell) {
              for (const KnownNumber v : row.targets) tell(v, value_of<Value>(1));
            },
            [&](KnownNumber v, const Value& value) {
              if (!says(value, 1)) ++wrong;
              return Once{sums[v]++ == 0 && v >= job.owned()};
            },
            [&](KnownNumber) { return value_of<Value>(1); }, &told);
        heard.clear();
        job.answer(told, id_if_even, take);
        CHECK(heard == only(told_of, 2));
        std::atomic<int> said = 0;  // owners are not told of vertices whose answer was news
        job.superstep(
            std::vector<LocalNumber>(), [](const FrontierRow&, const auto&) {},
            [](KnownNumber, const Value&) { return true; },
            [&](KnownNumber) {
              ++said;
              return value_of<Value>(1);
            });
        CHECK(said == 0);
        const auto inner = job.within(job.all(), [&](const FrontierRow& row, const auto& tell) {
          if (job.degree(row.vertex) != row.targets.size()) ++wrong;
          tell(KnownNumber(row.vertex), value_of<Value>(7));
        });
        CHECK(inner.empty());
      }
      CHECK(wrong == 0);
    });
  });
}

}  // namespace

TEST_CASE("owners tell all who know a vertex, or answer those alone who have told them of it") {
  check_words_of_owners<std::uint32_t>(700);
  check_words_of_owners<std::uint64_t>(700);
  check_words_of_owners<WideValue>(700);
}

TEST_CASE("a record of two goes on where a ring ends") {
  check_words_of_owners<WideValue>(60'000);  // both turns are more than a ring holds
}

TEST_CASE("a broadcast has room for all owned vertices") {
  const graph::BuiltGraph built(700, random_edges(700));
  const auto alone = launch::alone();
  FrontierJob<std::uint32_t> job(*alone, built.graph, "words of owners");
  const std::vector<std::uint64_t> few(10);
  const auto nothing = [](const auto&...) { return 0U; };
  CHECK(graph::error_of([&] { job.broadcast(few, nothing, FrontierJob<std::uint32_t>::NoNews{}); }) ==
        "broadcast: 10 words have no room for 700 vertices");
}

}  // namespace edgewire
