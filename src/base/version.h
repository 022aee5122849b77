// This file says which Edgewire this is.
#pragma once

namespace edgewire {

/// The commit that the program was built from, followed by "-dirty" where files differed from it; "" outside
/// a repository.
extern const char* const kCommit;

}  // namespace edgewire
