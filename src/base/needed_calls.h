// Asks, before anything begins, for system calls without which a part of the program would wait for ever or
// blame another process. A container may refuse any call (seccomp).
#pragma once

#include <initializer_list>

namespace edgewire {

/// A system call, and a way to try it that does nothing, such as with a descriptor that is not open.
struct NeededCall {
  const char* name;
  long (*attempt)();
};

/// Throws Error that names the first of these calls that is refused.
void require_calls(std::initializer_list<NeededCall> calls);

}  // namespace edgewire
