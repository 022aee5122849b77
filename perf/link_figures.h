#pragma once

#include <string>

#include "launch/bootstrap.h"
#include "report/link_report.h"
#include "transport/transport.h"

namespace edgewire::perf {

/// At rank 0 how all processes were connected by `link` (elsewhere what concerns this process only); lost
/// processes add nothing. `reason`: why the transport was chosen. Collective; throws Error when the job
/// fails.
report::LinkReport gather_link(launch::Bootstrap& bootstrap, const transport::Transport& link,
                               const std::string& reason);

}  // namespace edgewire::perf
