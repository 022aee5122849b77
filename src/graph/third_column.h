// What a list of edges calls its columns.
#pragma once

#include <string_view>

#include "graph/builder.h"

namespace edgewire::graph {

/// Whether a column that is called so holds sources or targets of edges.
bool is_end_name(std::string_view name);

/// What the comments ahead of the first edge call the third column, as `# source target time` does; guessed
/// where none of them names columns.
WeightColumn third_column(std::string_view comments);

}  // namespace edgewire::graph
