#include "edgewire/frontier.h"

#include <fmt/format.h>

#include "frontier/frontier_job.h"
#include "library/job_options.h"
#include "runs/frontier_kernel.h"

namespace edgewire::detail {

std::shared_ptr<frontier::Job> make_frontier_job(launch::Bootstrap& bootstrap, const Graph& graph,
                                                 const std::string& kernel, std::size_t record_bytes,
                                                 const JobOptions& asked) {
  expect_only(asked, "a frontier job", {options::Part::graph, options::Part::weights});
  frontier::Options options = runs::frontier_options(job_options(bootstrap, asked));
  options.kernel =
      fmt::format("{}, records of {} bytes{}", kernel, record_bytes, asked.weighted ? ", weights" : "");
  options.record_bytes = record_bytes;
  options.disks.weighted = asked.weighted;
  auto job = std::make_shared<frontier::Job>(bootstrap, graph, options);
  job->make_rows();
  return job;
}

}  // namespace edgewire::detail
