// Jobs whose processes are threads of the test, over any backend.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "schedule.h"
#include "transport/transport.h"
#include "transport_faults.h"

namespace edgewire::transport {

/// Runs `work(i)` for i in 0..count-1, each in a thread; rethrows the first exception.
inline void parallel(int count, const std::function<void(int)>& work) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  threads.reserve(errors.size());
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      try {
        work(i);
      } catch (...) {
        errors[static_cast<std::size_t>(i)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& error : errors)
    if (error != nullptr) std::rethrow_exception(error);
}

inline void require(bool condition, const std::string& what) {
  if (!condition) throw Error(what);
}

/// Fills with bytes that tell one seed from another.
inline void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>((seed * 31 + i * 7 + i / 251) & 0xFF);
}

inline bool is_filled(std::span<const std::byte> bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != static_cast<std::byte>((seed * 31 + i * 7 + i / 251) & 0xFF)) return false;
  return true;
}

/// A backend under test, bare or with faults.
struct Subject {
  std::string backend;
  std::uint64_t seed = 0;  ///< seed of faults; 0: none
  VerbsChoice verbs{};
  std::string way{};  ///< way of verbs, in words

  std::string label() const {
    return backend + way + (seed == 0 ? "" : fmt::format(" with faults of seed {}", seed));
  }
  std::unique_ptr<Transport> make(Settings settings) const {
    settings.verbs = verbs;
    auto made = create(backend, settings);
    return seed == 0 ? std::move(made) : with_faults(std::move(made), settings, seed);
  }
};

/// Returns the ports for the dpdk backend, one for each process, divided by `;`; null: none is tested here.
inline const char* dpdk_ports() { return std::getenv("EDGEWIRE_TEST_DPDK_PORTS"); }

/// Returns the port of one process, and the faults of all, as the environment names them.
inline DpdkChoice dpdk_choice(int rank) {
  DpdkChoice choice;
  if (dpdk_ports() != nullptr) choice.port = dpdk_ports();
  choice.args = "-m256";  // memory for several ports in one process
  if (const char* faults = std::getenv("EDGEWIRE_TEST_DPDK_FAULTS")) choice.faults = faults;
  return choice.of(rank);
}

/// Returns the usable backends, or of these only the one that the environment names (as the tests in a
/// virtual machine do, which is slow).
inline std::vector<std::string> usable() {
  const char* only = std::getenv("EDGEWIRE_TEST_BACKEND");
  std::vector<std::string> names;
  for (const Backend& backend : backends())
    if (backend.usable && (backend.name != "dpdk" || dpdk_ports() != nullptr) &&
        (only == nullptr || backend.name == only))
      names.push_back(backend.name);
  return names;
}

/// Returns the choices of verbs: of two devices, where the environment names them, else of one.
inline std::vector<Subject> ways_of_verbs() {
  VerbsChoice sends, thread, several;
  if (const char* rails = std::getenv("EDGEWIRE_TEST_VERBS_RAILS")) {
    several.device = rails;
    return {{"verbs", 0, several, " over " + several.device}};
  }
  sends.immediates = false;
  thread.progress_thread = true;
  return {{"verbs", 0, sends, " without immediates"}, {"verbs", 0, thread, " with a thread"}};
}

/// Returns all of these and the mixture, bare and, but for schedules, with faults.
inline std::vector<Subject> subjects() {
  if (std::getenv("EDGEWIRE_TEST_VERBS_RAILS") != nullptr) return ways_of_verbs();
  std::vector<Subject> all;
  std::vector<std::uint64_t> seeds{0};
  if (!is_scheduled()) seeds = {0, 1, 2};
  for (const std::string& backend : usable())
    for (const std::uint64_t seed : seeds) all.push_back({backend, seed});
  const char* only = std::getenv("EDGEWIRE_TEST_BACKEND");
  if (only == nullptr)
    for (const std::uint64_t seed : seeds) all.push_back({"shm+tcp", seed});
  if (only != nullptr && only == std::string("verbs")) {
    all.push_back({"shm+verbs", 0});
    for (Subject& way : ways_of_verbs()) all.push_back(std::move(way));
  }
  return all;
}

/// One process of a job: peer p writes into [p * part_bytes, (p + 1) * part_bytes) of the region.
struct Endpoint {
  Health health;
  Settings settings;
  std::unique_ptr<Transport> transport;
  std::span<std::byte> region;
  std::size_t part_bytes = 0;

  std::size_t owned_part() const { return static_cast<std::size_t>(settings.rank) * part_bytes; }
  std::span<std::byte> part_of(int peer) const {
    return region.subspan(static_cast<std::size_t>(peer) * part_bytes, part_bytes);
  }
  void write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) const {
    while (!transport->write(lane, peer, offset, source)) progress();
  }
  void signal(int lane, int peer, int kind, std::uint64_t count) const {
    while (!transport->signal(lane, peer, kind, count)) progress();
  }
  void progress() const {
    if (!transport->poll()) throw Error(health.message());
  }
  /// Waits until `done`, by blocking; a job that hangs fails the test. Time in which nothing ran, on a busy
  /// machine, does not count: a waiter that could look only a few times goes on.
  void until(const std::function<bool()>& done, double limit_s = 60) const {
    constexpr std::chrono::milliseconds kTurn{20};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
    progress();
    for (double turns = 0; !done(); ++turns) {
      require(std::chrono::steady_clock::now() < deadline ||
                  turns * std::chrono::duration<double>(kTurn).count() < limit_s,
              "waited too long");
      if (!transport->wait(kTurn)) throw Error(health.message());
    }
  }
};

using Job = std::vector<std::unique_ptr<Endpoint>>;

inline Job make_job(const Subject& subject, int size, std::size_t part_bytes, int lanes = 1, int kinds = 1) {
  Job job;
  std::vector<std::string> blobs;
  for (int rank = 0; rank < size; ++rank) {
    auto made = std::make_unique<Endpoint>();
    // Long, for busy machines; but the time after which cards send again follows from it.
    const double peer_timeout_s = subject.backend.ends_with("verbs") ? 10 : 100;
    made->settings = {rank,          size, lanes, kinds, std::string(32, 's'), "", peer_timeout_s,
                      &made->health, {},   {},    {}};
    for (int p = 0; p < size; ++p) made->settings.nodes.push_back((p + 1) / 2);  // 0 | 1 2 | 3
    made->settings.dpdk = dpdk_choice(rank);
    made->part_bytes = part_bytes;
    made->transport = subject.make(made->settings);
    std::vector<Transport::Part> parts;
    parts.reserve(static_cast<std::size_t>(size));
    for (int p = 0; p < size; ++p) parts.push_back({static_cast<std::size_t>(p) * part_bytes, part_bytes});
    made->region = made->transport->expose(static_cast<std::size_t>(size) * part_bytes, parts);
    blobs.push_back(made->transport->blob());
    job.push_back(std::move(made));
  }
  parallel(size, [&](int rank) { job[static_cast<std::size_t>(rank)]->transport->connect(blobs); });
  return job;
}

}  // namespace edgewire::transport
