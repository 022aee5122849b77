// The comments at the head of an edge list that tell of its edges: those of KONECT (`% bip unweighted`, then
// `% EDGES LEFT RIGHT`) and of SNAP (`# Undirected graph: NAME`).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/convert.h"
#include "graph/read/edge_sink.h"
#include "graph/read/input.h"
#include "graph/read/readers.h"

namespace edgewire::graph {

/// The facts in the heads of an edge list in one file or several.
struct ListHead {
  enum class Edges {
    directed,    ///< goes from source to target, or the head does not say
    undirected,  ///< has each edge both ways
    bipartite    ///< has separate ids for sources and targets, each from 1 on
  };
  Edges edges = Edges::directed;
  bool weighted = false;  ///< whether the third field is a weight
  bool timed = false;     ///< whether a fourth field, where there is one, is a time
  /// The ids of a bipartite graph are from 1 to these; 0: it does not say.
  std::uint64_t left = 0, right = 0;
  std::vector<std::uint64_t> counts{};  ///< numbers of edges in the inputs that say one
  std::string path;                     ///< file that says it
  std::string line;                     ///< comment, for messages
};

/// Returns the facts of all heads together. Throws Error where one is bipartite and does not count its
/// vertices, or another one counts others.
ListHead head_of(std::span<Input* const> inputs);

/// A sink that hands on edges whose head says more than that they are directed, or their number. Targets of a
/// bipartite graph get the ids that follow those of its sources.
class HeadedSink final : public EdgeSink {
 public:
  /// Makes a sink. `sink` and `head` outlive it. Throws UsageError where options do not fit the head.
  HeadedSink(EdgeSink& sink, const ListHead& head, const ConvertOptions& options);

  int rank() const noexcept override { return sink_.rank(); }
  int size() const noexcept override { return sink_.size(); }
  bool wants_sample() const noexcept override { return sink_.wants_sample(); }
  void start(const GraphShape& shape, std::span<const std::uint64_t> sources) override {
    sink_.start(shape, sources);
  }
  void add(int worker, std::span<const std::uint64_t> ids, Weights weights) override;
  void add_narrow(int worker, std::span<const std::uint32_t> ids, Weights weights) override;
  void add_vertices(int worker, std::span<const std::uint64_t> ids) override {
    sink_.add_vertices(worker, ids);
  }
  std::uint64_t sum(std::uint64_t mine) override { return sink_.sum(mine); }
  std::uint64_t least(std::uint64_t mine) override { return sink_.least(mine); }
  BuildSummary write(std::uint32_t flags, const Progress& progress) override;

  /// Looks at edges between names. Throws Error where a name is on both sides of a bipartite graph.
  void look_at(const std::vector<LabelledPart>& parts, const std::vector<std::string_view>& names);
  /// Says, after all edges, how they were read, where that may surprise.
  void tell(bool labelled) const;

 private:
  void check_bipartite(std::span<const std::uint64_t> ids) const;
  /// Counts edges, and adds to the sum that is 0 where each is there both ways.
  template <class Id>
  void count(std::span<const Id> ids);

  EdgeSink& sink_;
  const ListHead& head_;
  const ConvertOptions& options_;
  std::atomic<std::uint64_t> asymmetry_{0}, edges_{0};  // read after the workers have ended
};

}  // namespace edgewire::graph
