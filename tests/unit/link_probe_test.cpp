// The measurement of a job's link among processes that are threads, over every usable backend.
#include "process/local_process.h"

#include <doctest/doctest.h>

#include <condition_variable>

#include "bootstraps.h"
#include "launch/packing.h"
#include "transport_fixture.h"

namespace edgewire::exchange {
namespace {

TEST_CASE("all processes end the measurement of their link, however slowly signals travel") {
  for (const auto& subject : transport::subjects())
    for (const int size : {2, 3}) {
      CAPTURE(subject.label());
      CAPTURE(size);
      const auto bootstraps = launch::bootstraps(size);
      // Who waits for ever fails.
      const std::jthread watch([&](const std::stop_token& stop) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any ended;
        if (!ended.wait_for(lock, stop, std::chrono::seconds(60), [&] { return stop.stop_requested(); }))
          for (const auto& bootstrap : bootstraps) bootstrap->health().fail(-1, "waited too long");
      });
      transport::parallel(size, [&](int p) {
        launch::Bootstrap& bootstrap = *bootstraps[static_cast<std::size_t>(p)];
        for (int i = 0; i < 5; ++i) {
          transport::Settings settings{p, size, 1, 1, bootstrap.secret(), "", 60, &bootstrap.health()};
          for (int q = 0; q < size; ++q) settings.nodes.push_back((q + 1) / 2);
          settings.dpdk = transport::dpdk_choice(p);
          const double bytes_per_s = process::measure_link(bootstrap, *subject.make(settings));
          transport::require(bytes_per_s > 0 && bytes_per_s < 1e12, "a rate that no link has");
          for (const auto& all : launch::allgather(bootstrap, std::vector{bytes_per_s}))
            transport::require(all[0] == bytes_per_s, "processes measured different rates");
        }
        bootstrap.finish();
      });
    }
}

}  // namespace
}  // namespace edgewire::exchange
