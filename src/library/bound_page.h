#pragma once

#include <string>
#include <vector>

#include "edgewire/bound.h"

namespace edgewire {

/// Returns a page with charts of these rows. `rates`: as they were asked for. `name`: what the graph is
/// called.
std::string bound_page(const std::string& name, const Bound& bound, const std::vector<std::string>& rates);

}  // namespace edgewire
