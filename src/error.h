// The ways in which Edgewire gives up. The one header of ours that every folder may include.
#pragma once

#include <stdexcept>
#include <string>

namespace edgewire {

/// Something named in the message went wrong: a file and byte offset, an option's value, a peer or a
/// limit. The message is one line, without a trailing full stop. The program prints it and exits with 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line cannot be understood. The program prints it and exits with 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Nobody reads stdout any more, as behind `| head`. The program says nothing and exits with 141, as if
/// SIGPIPE had ended it. Processes of a job that hear this message from another end in the same way.
class OutputClosed : public Error {
 public:
  static constexpr const char* kMessage = "nobody reads its output any more";
  OutputClosed() : Error(kMessage) {}
};
inline constexpr int kOutputClosedStatus = 141;  ///< as shells say of what SIGPIPE has ended

}  // namespace edgewire
