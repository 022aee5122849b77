#include "dense/engine/loops.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edgewire::engine {

void check_messages(const Loops& loops, plan::Encoding encoding) {
  const std::size_t bytes = plan::message_bytes(encoding);
  if (loops.message_bytes() != bytes) {
    throw Error(fmt::format("messages of {} bytes do not fit encoding {}, which is for {} bytes",
                            loops.message_bytes(), plan::to_name(encoding), bytes));
  }
  if (plan::is_rounded(encoding) && !loops.largest()) {
    throw Error(fmt::format("encoding {} is only for programs that say how large their messages get",
                            plan::to_name(encoding)));
  }
}

}  // namespace edgewire::engine
