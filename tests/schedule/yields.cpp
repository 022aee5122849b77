// Seeded schedules: a shared object that is preloaded into programs built with the thread sanitizer. GCC then
// makes each atomic operation a call, and this file lets a thread spin, yield or sleep before some of them,
// and before calls that threads meet in (mutexes, condition variables, futexes, eventfds, locks of files). So
// rare interleavings happen, and the sanitizer sees what they race for. Plain accesses need no yields: it
// finds their races by what orders them, whichever comes first. Nothing in the product knows of this.
//
// EDGEWIRE_SCHEDULE_SEED chooses the schedule; without it nothing is delayed. A seed decides for each place
// in the code whether threads are delayed there often or rarely: half of all delays would else go to the
// loops that wait, and none to what happens once. A thread draws from a generator of its own, which follows
// from the seed, its maker and how many its maker had made before. A thread in four sleeps longer than
// others: it is left behind.
//
// A wrapper ends by a tail call, so that the sanitizer reports the line of who called it.
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

using Word = std::uint64_t;

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
Word mixed(Word value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

Word seed = 0;  // 0: nothing is delayed

[[gnu::constructor]] void read_seed() {
  const char* const text = std::getenv("EDGEWIRE_SCHEDULE_SEED");
  if (text != nullptr) seed = std::strtoull(text, nullptr, 10) + 1;
}

/// A place in the code, as one thread comes by.
struct Place {
  std::uint32_t left;    // visits until the next delay
  std::uint32_t delays;  // so far; they become rarer, also with those of the thread, or some runs would last
                         // for minutes
};

struct Thread {
  Word name = 0;  // 0: of the first thread, before it has come to any place
  Word made = 0;  // threads and processes
  Word random = 0;
  Word delays = 0;
  bool inside = false;  // a signal handler that interrupts a delay is not delayed
  Place places[256] = {};

  Word draw() { return random = mixed(random); }
};
[[gnu::tls_model("initial-exec")]] thread_local Thread me;

void begin(Word name) {
  me.name = name;
  me.random = mixed(seed ^ name);
}

void sleep_ns(Word ns) {
  const timespec time{0, static_cast<long>(ns)};
  nanosleep(&time, nullptr);
}

void delay() {
  const Word drawn = me.draw();
  const Word slower = me.name % 4 == 0 ? 5 : 1;
  switch (drawn % 8) {
    case 0:
    case 1:
      for (Word turns = drawn / 8 % 4096; turns > 0; --turns) asm volatile("");
      return;
    case 2:
    case 3:
    case 4:
      sched_yield();
      return;
    case 5:
    case 6:
      sleep_ns(drawn / 8 % 100'000 * slower);
      return;
    default:
      sleep_ns(drawn / 8 % 1'000'000 * slower);
  }
}

[[gnu::noinline]] void visit(Place& place, Word where) {
  if (me.inside) return;
  me.inside = true;
  const int error = errno;
  if (me.name == 0) begin(1);
  // In one place of four every second visit is delayed, elsewhere one in 64, at first.
  const Word gap = mixed(seed ^ mixed(where)) % 4 == 0 ? 2 : 64;
  if (place.delays > 0 || me.draw() % gap == 0) delay();
  place.left = static_cast<std::uint32_t>(me.draw() % (2 * gap * (1 + place.delays / 64 + me.delays / 256)));
  ++place.delays;
  ++me.delays;
  errno = error;
  me.inside = false;
}

inline void before(const void* caller) {
  if (seed == 0) return;
  const auto where = reinterpret_cast<Word>(caller);
  Place& place = me.places[(where ^ where >> 8 ^ where >> 16) % 256];
  if (place.left-- == 0) visit(place, where);
}

/// The function that would be called without this file.
template <class Function>
Function* next(Function*& found, const char* name) {
  if (found == nullptr) found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return found;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): they stand before functions of these names
#define DELAYED(result, name, parameters, arguments)                                 \
  extern "C" [[gnu::visibility("default")]] result our_##name parameters asm(#name); \
  result our_##name parameters {                                                     \
    static result(*found) parameters = nullptr;                                      \
    before(__builtin_return_address(0));                                             \
    return next(found, #name) arguments;                                             \
  }

#define EXCHANGING(bits, type, operation)                                                       \
  DELAYED(type, __tsan_atomic##bits##_##operation, (volatile type * at, type value, int order), \
          (at, value, order))
#define COMPARING(bits, type, kind)                                                           \
  DELAYED(bool, __tsan_atomic##bits##_compare_exchange_##kind,                                \
          (volatile type * at, type * expected, type value, int order, int order_of_failure), \
          (at, expected, value, order, order_of_failure))
#define ATOMIC(bits, type)                                                                     \
  DELAYED(type, __tsan_atomic##bits##_load, (const volatile type* at, int order), (at, order)) \
  DELAYED(void, __tsan_atomic##bits##_store, (volatile type * at, type value, int order),      \
          (at, value, order))                                                                  \
  EXCHANGING(bits, type, exchange)                                                             \
  EXCHANGING(bits, type, fetch_add)                                                            \
  EXCHANGING(bits, type, fetch_sub)                                                            \
  EXCHANGING(bits, type, fetch_and)                                                            \
  EXCHANGING(bits, type, fetch_or)                                                             \
  EXCHANGING(bits, type, fetch_xor)                                                            \
  COMPARING(bits, type, strong)                                                                \
  COMPARING(bits, type, weak)

ATOMIC(8, std::uint8_t)
ATOMIC(16, std::uint16_t)
ATOMIC(32, std::uint32_t)
ATOMIC(64, std::uint64_t)

DELAYED(int, pthread_mutex_lock, (void* mutex), (mutex))
DELAYED(int, pthread_mutex_trylock, (void* mutex), (mutex))
DELAYED(int, pthread_mutex_unlock, (void* mutex), (mutex))
DELAYED(int, pthread_cond_wait, (void* condition, void* mutex), (condition, mutex))
DELAYED(int, pthread_cond_clockwait, (void* condition, void* mutex, int clock, const void* end),
        (condition, mutex, clock, end))
DELAYED(int, pthread_cond_signal, (void* condition), (condition))
DELAYED(int, pthread_cond_broadcast, (void* condition), (condition))
// Futexes: these calls have up to six arguments, and more in registers do no harm.
DELAYED(long, syscall, (long number, long a, long b, long c, long d, long e, long f),
        (number, a, b, c, d, e, f))
DELAYED(std::ptrdiff_t, read, (int file, void* to, std::size_t bytes), (file, to, bytes))
DELAYED(std::ptrdiff_t, write, (int file, const void* from, std::size_t bytes), (file, from, bytes))
DELAYED(int, epoll_wait, (int file, void* events, int most, int timeout_ms), (file, events, most, timeout_ms))
DELAYED(int, fcntl, (int file, int command, void* argument), (file, command, argument))
DELAYED(int, fcntl64, (int file, int command, void* argument), (file, command, argument))

// ---- threads and processes get their names ----------------------------------------------------------------

namespace {

struct Start {
  void* (*work)(void*);
  void* argument;
  Word name;
};

Word name_of_next() {
  if (me.name == 0) begin(1);
  return mixed(me.name ^ mixed(++me.made));
}

void* run(void* given) {
  auto* const start = static_cast<Start*>(given);
  const Start own = *start;
  delete start;
  begin(own.name);
  return own.work(own.argument);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int our_create(void* thread, const void* attributes,
                                                         void* (*work)(void*),
                                                         void* argument) asm("pthread_create");
int our_create(void* thread, const void* attributes, void* (*work)(void*), void* argument) {
  static decltype(&our_create) found = nullptr;
  auto* const start = new Start{work, argument, name_of_next()};
  const int error = next(found, "pthread_create")(thread, attributes, run, start);
  if (error != 0) delete start;
  return error;
}

extern "C" [[gnu::visibility("default")]] int our_fork() asm("fork");
int our_fork() {
  static decltype(&our_fork) found = nullptr;
  const Word name = name_of_next();
  const int child = next(found, "fork")();
  if (child == 0) begin(name);
  return child;
}
// NOLINTEND(bugprone-reserved-identifier)
