#include "base/needed_calls.h"

#include <cerrno>
#include <string>

#include "base/error.h"

namespace edgewire {

void require_calls(std::initializer_list<NeededCall> calls) {
  for (const NeededCall& call : calls)
    if (call.attempt() < 0 && (errno == EPERM || errno == ENOSYS))
      throw Error(std::string("cannot call ") + call.name + "(): " + reason(errno));
}

}  // namespace edgewire
