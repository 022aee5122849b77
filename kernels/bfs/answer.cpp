#include "kernels/bfs/answer.h"

#include <algorithm>
#include <functional>

#include "kernels/path.h"
#include "launch/packing.h"

namespace edgewire::kernels {

namespace {

std::vector<process::Candidate<std::uint64_t>> farthest(const frontier::Job& job, std::uint64_t count,
                                                        const std::vector<std::uint32_t>& levels) {
  process::TopK<std::uint64_t> highest(count);
  for (LocalNumber local{}; count > 0 && local < levels.size(); ++local)
    if (levels[local] != Bfs::kNone) highest.add({levels[local], job.ownership().vertex(job.rank(), local)});
  return highest.take();
}

}  // namespace

BfsAnswer answer_of(frontier::Job& job, const Bfs& search, VertexId source, const BfsQuestion& question) {
  const auto& levels = search.levels();
  BfsAnswer answer{.farthest = farthest(job, question.farthest, levels)};
  // A search that is a task does this within its measured time. So there is no branch, which nobody could
  // predict.
  std::uint32_t reached = 0, levels_reached = 0;
  for (const std::uint32_t level : levels) {
    const std::uint32_t above = level + 1;  // this is 0 for kNone
    levels_reached = std::max(levels_reached, above);
    reached += std::uint32_t{above != 0};
  }
  answer.reached = reached;
  answer.depth = levels_reached == 0 ? 0 : levels_reached - 1;
  answer.edges = job.rank() == 0 ? search.reached_edges() : 0;
  if (question.target) answer.path = path_to(job, search.parents(), source, *question.target);
  if (job.rank() > 0) answer.path.clear();
  return answer;
}

BfsAnswer join_answers(launch::Bootstrap& bootstrap, const BfsAnswer& mine, std::uint64_t farthest) {
  BfsAnswer all;
  all.reached = launch::allreduce(bootstrap, mine.reached, std::plus<>());
  all.depth = launch::allreduce(bootstrap, mine.depth, std::ranges::max);
  all.edges = launch::allreduce(bootstrap, mine.edges, std::plus<>());
  all.farthest = process::top_k_of_all(bootstrap, farthest, mine.farthest);
  const auto paths = bootstrap.gather(launch::pack(mine.path));
  for (std::size_t p = 0; p < paths.size(); ++p)
    if (!paths[p].empty()) all.path = launch::unpack<VertexId>(paths[p], p);
  return all;
}

}  // namespace edgewire::kernels
