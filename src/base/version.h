// This file says which Edgewire this is.
#pragma once

namespace edgewire {

/// The commit of the build, with "-dirty" behind where files differed from it; "" outside a repository.
extern const char* const kCommit;

}  // namespace edgewire
