#include "edgewire/sort.h"

#include "library/job_options.h"
#include "shuffle/sort_job.h"

namespace edgewire {

SortSummary sort(launch::Bootstrap& bootstrap, const SortOptions& options, const JobOptions& job) {
  expect_only(job, "sort", {});
  shuffle::SortOptions asked;
  asked.process = process_options(bootstrap, job);
  asked.inputs = options.inputs;
  asked.output = options.output;
  asked.temp = options.temp;
  asked.shape = {options.record_bytes, options.key_offset, options.key_bytes};
  asked.partitions = options.partitions;
  asked.memory_bytes = options.memory_bytes;
  asked.progress = job.progress;
  shuffle::SortJob sorting(bootstrap, asked);
  sorting.run();
  sorting.commit();
  const auto& figures = sorting.figures();
  SortSummary summary{figures.records_read, figures.bytes_spilled, figures.payload_bytes_sent,
                      figures.wire_bytes_sent};
  for (std::uint32_t p = sorting.first_partition(); p < sorting.last_partition(); ++p)
    summary.parts.push_back(shuffle::partition_file(options.output, p, options.partitions));
  return summary;
}

}  // namespace edgewire
