#include "edgewire/program.h"
#include "base/rooms.h"

#include "dense/job/dense_job.h"
#include "library/job_options.h"

namespace edgewire {

std::shared_ptr<DenseJob> make_dense_job(launch::Bootstrap& bootstrap, const Graph& graph,
                                         const JobOptions& options) {
  expect_only(options, "a program", {options::Part::graph, options::Part::weights, options::Part::tiles});
  return std::make_shared<DenseJob>(bootstrap, graph, job_options(bootstrap, options));
}

}  // namespace edgewire
