#include "frontier/both_rows.h"

#include <utility>

#include "edgewire/graph.h"
#include "frontier/in_rows.h"
#include "frontier/records.h"

namespace edgewire::frontier {

/// The boundary of the job has only vertices that edges lead to.
BothRows::BothRows(Job& job) {
  job.expect_records(sizeof(Record));
  boundary_ = &job.boundary();
  if (job.graph().symmetric()) {
    job.make_rows();
    out_ = job.rows();
    return;
  }
  InRows in(job);
  if (job.bootstrap().size() == 1) {
    job.make_rows();
    out_ = job.rows();
    own_in_.emplace(std::move(in).take(), nullptr, job.pool());
  } else {
    own_boundary_.emplace(job.graph(), job.all_ids(), job.ownership(), job.rank(), job.pool(), job.records(),
                          &in);
    boundary_ = &*own_boundary_;
    own_out_.emplace(job.copy_rows(boundary_));
    out_ = own_out_->rows();
    own_in_.emplace(std::move(in).take(), boundary_, job.pool());
  }
  in_ = own_in_->rows();
}

}  // namespace edgewire::frontier
