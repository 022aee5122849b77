// Where files go that nobody has named.
#pragma once

#include <string>

namespace edgewire {

/// The folder that TMPDIR names; /tmp where it is not set, or empty. Throws Error, which names TMPDIR and the
/// folder, where no file can be made in it.
std::string temporary_folder();

}  // namespace edgewire
