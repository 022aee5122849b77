// The errors that all functions throw.
#pragma once

#include <stdexcept>

#pragma GCC visibility push(default)

namespace edgewire {

/// Something named in the message went wrong: a file and byte offset, an option's value, a peer or a
/// limit. The message is one line, without a trailing full stop. The program prints it and exits with 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An option or an argument makes no sense, alone or for this graph. The program exits with 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace edgewire

#pragma GCC visibility pop
