// Writing .gz and .zst.
#pragma once

#include <string>
#include <string_view>

namespace edgewire::graph {

/// Returns the ending of a name that promises compressed content or an archive, such as ".gz"; "": none.
std::string_view packed_ending(std::string_view path);

/// Throws UsageError, which names `path`, when its ending promises something that packed() cannot write: only
/// .gz and .zst are written, the latter where the build has libzstd.
void check_packed_ending(const std::string& path);

/// Returns `text` packed as the ending of `path` says: .gz is compressed by ISA-L, .zst by Zstandard, and
/// text for other names stays as it is. It throws what check_packed_ending() throws.
std::string packed(const std::string& path, std::string text);

}  // namespace edgewire::graph
