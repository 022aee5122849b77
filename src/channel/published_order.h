// This file tells the thread sanitizer what it must know about rings. It does nothing in other builds.
#pragma once

#include <cstddef>
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>

#include <array>
#endif

namespace edgewire::channel {

/// The order between a process that publishes records and the one that drains them. Tests run several
/// processes as threads of one. What a process does before it publishes then happens before all that the
/// other one does after it has drained, but the thread sanitizer does not see it: the two map their common
/// memory at different addresses, or talk through a socket. Without being told it reports races between two
/// workers of one process whose order comes from a message to another process and back.
class PublishedOrder {
 public:
#if defined(__SANITIZE_THREAD__)
  static void publish(int from, int to) noexcept { __tsan_release(mark(from, to)); }
  static void drain(int from, int to) noexcept { __tsan_acquire(mark(from, to)); }

 private:
  /// All jobs of a test process share the marks: more order than there is may be seen, never less.
  static void* mark(int from, int to) noexcept {
    static std::array<char, 8 * 64 * 64> marks;
    return &marks[8 * (from % 64 * 64 + to % 64)];
  }
#else
  static void publish(int /*from*/, int /*to*/) noexcept {}
  static void drain(int /*from*/, int /*to*/) noexcept {}
#endif
};

}  // namespace edgewire::channel
