// Formats that Edgewire does not know, but Python does: the calls that messages name.
#pragma once

#include <string>
#include <string_view>

namespace edgewire::graph {

/// Returns whether files with this ending, such as ".parquet", have a format that Edgewire neither reads nor
/// writes.
bool is_foreign_ending(std::string_view ending);

/// Returns the call that makes a graph file of the file `path`: of the format that its name tells, or else of
/// the format `content`. Returns an empty text where Python has no such call.
std::string python_reads(const std::string& path, std::string_view content = {});

/// Returns the call that writes `path`, in the format that its name tells: `table` is an expression for a
/// DataFrame of pandas, `network` one for a graph of NetworkX. Returns an empty text where Python has no such
/// call.
std::string python_writes(const std::string& path, std::string_view table, std::string_view network = {});

}  // namespace edgewire::graph
