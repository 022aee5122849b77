#pragma once

#include <string>

#include "base/file_calls.h"

namespace edgewire::disk {

using edgewire::File;

/// Opens a file without a name, for reading and writing. It goes with the descriptor. Where the file system
/// knows no such files, it has a name for a moment. Where there is none, errno says why.
File unnamed_file(const std::string& folder);

/// Makes transfers bypass the page cache from now on. Returns false where the file system cannot do that.
bool bypass_page_cache(const File& file) noexcept;

}  // namespace edgewire::disk
