#include "kernels/path.h"

#include <algorithm>

#include "base/error.h"
#include "kernels/bfs/bfs.h"
#include "launch/packing.h"

namespace edgewire::kernels {

namespace {

constexpr PlainId kNone = Bfs::kNoParent;

void refuse_circle() { throw Error("the parents of vertices lead round in a circle"); }

/// Returns the vertices before `vertex` as far as this process knows them: the last one is the source, a
/// vertex of another process, or kNone. In a circle they are more than the graph has.
std::vector<VertexId> follow(const frontier::Job& job, std::span<const PlainId> parents, VertexId source,
                             VertexId vertex) {
  std::vector<VertexId> piece;
  while (vertex != source && vertex != kNone && piece.size() <= job.graph().vertices()) {
    const Home home = job.ownership().home(vertex);
    if (home.owner != job.rank()) break;
    piece.push_back(vertex = VertexId(parents[home.local]));
  }
  return piece;
}

}  // namespace

/// Returns the path. In each round the owner of the last vertex that is known sends the ones before it.
std::vector<VertexId> path_to(frontier::Job& job, std::span<const PlainId> parents, VertexId source,
                              VertexId target) {
  job.expect_vertex(source);
  job.expect_vertex(target);
  std::vector<VertexId> path{target};
  while (path.back() != source) {
    const std::uint32_t owner = job.ownership().home(path.back()).owner;
    const auto mine = follow(job, parents, source, path.back());
    const auto pieces = job.bootstrap().allgather(launch::pack(mine));
    const auto piece = launch::unpack<VertexId>(pieces[owner], owner);
    if (piece.empty() || path.size() + piece.size() > job.graph().vertices() + 1) refuse_circle();
    path.insert(path.end(), piece.begin(), piece.end());
    if (path.back() == kNone) return {};
    job.expect_vertex(path.back());
  }
  std::ranges::reverse(path);
  return path;
}

std::vector<VertexId> path_to(std::span<const PlainId> parents, VertexId source, VertexId target) {
  std::vector<VertexId> path{target};
  while (path.back() != source) {
    const VertexId before(parents[path.back()]);
    if (before == kNone) return {};
    if (path.size() > parents.size()) refuse_circle();
    path.push_back(before);
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace edgewire::kernels
