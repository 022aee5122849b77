// Tests of messages for another reader than the command line's.
#pragma once

#include "options/option.h"

namespace edgewire::options {

/// Lets messages speak another face while it lives.
struct Spoken {
  explicit Spoken(Face face) { speak(face); }
  ~Spoken() { speak(Face::command_line); }
  Spoken(const Spoken&) = delete;
  Spoken& operator=(const Spoken&) = delete;
};

}  // namespace edgewire::options
