#include "frontier/both_rows.h"

#include <utility>

#include "edgewire/graph.h"
#include "frontier/in_rows.h"
#include "frontier/records.h"

namespace edgewire::frontier {

void make_boundary_of_both(Job& job, const InRows& in, std::optional<Boundary>& boundary) {
  if (!job.is_only())
    boundary.emplace(job.graph(), job.all_ids(), job.ownership(), job.rank(), job.pool(), job.records(), &in);
}

BothRows::BothRows(Job& job) {
  job.expect_records(sizeof(Record));
  boundary_ = &job.boundary();
  if (job.graph().symmetric()) {
    job.make_rows();
    out_ = job.rows();
    return;
  }
  InRows in(job);
  make_boundary_of_both(job, in, own_boundary_);
  if (own_boundary_) {
    boundary_ = &*own_boundary_;
    own_out_.emplace(job.copy_rows(boundary_));
    out_ = own_out_->rows();
    own_in_.emplace(std::move(in).take(), boundary_, job.pool());
  } else {
    job.make_rows();
    out_ = job.rows();
    own_in_.emplace(std::move(in).take(), nullptr, job.pool());
  }
  in_ = own_in_->rows();
}

}  // namespace edgewire::frontier
