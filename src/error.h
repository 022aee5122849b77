// The ways in which Edgewire gives up. The one header of ours that every folder may include.
#pragma once

#include <sys/resource.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

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

/// " (raise the limit: ulimit -v)" where a limit of the shell may be the cause of an errno; else "".
inline std::string limit_to_raise(int cause) {
  const auto is_limited = [](auto resource) {
    rlimit limit{};
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  };
  const bool memory = (cause == ENOMEM || cause == EAGAIN) && is_limited(RLIMIT_AS);
  const char option = memory                                       ? 'v'
                      : cause == EMFILE                            ? 'n'
                      : cause == EAGAIN                            ? 'u'
                      : cause == EFBIG && is_limited(RLIMIT_FSIZE) ? 'f'
                                                                   : 0;
  return option == 0 ? "" : std::string(" (raise the limit: ulimit -") + option + ")";
}

/// What the system says of an errno, and the limit to raise.
inline std::string reason(int cause) {
  return std::generic_category().message(cause) + limit_to_raise(cause);
}

/// The line for a failure of any kind.
inline std::string line_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return "not enough memory" + limit_to_raise(ENOMEM);
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
    return "cannot start a thread: " + reason(EAGAIN);
  return error.what();
}

}  // namespace edgewire
