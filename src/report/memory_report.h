// The section `memory` of a run report.
#pragma once

#include <nlohmann/json.hpp>

#include "report/run_report.h"

namespace edgewire::report {

nlohmann::ordered_json memory_json(const RunReport& report);

}  // namespace edgewire::report
