#include "transport/transport.h"

#include <doctest/doctest.h>

#include <cstring>

#include "error.h"
#include "launch/launch.h"

namespace edgewire::transport {
namespace {

TEST_CASE("forked processes write into each other's regions") {
  launch::LaunchOptions options;
  options.processes = 3;
  for (const char* name : {"shm", "tcp"}) {
    const int status = launch::run(options, [&](launch::WireUp& wire) {
      Settings settings;
      settings.rank = wire.rank();
      settings.size = wire.size();
      settings.secret = wire.secret();
      settings.health = &wire.health();
      const auto transport = create(name, settings);
      constexpr std::size_t kPartBytes = 1000;
      const std::vector<Transport::Part> parts{
          {0, kPartBytes}, {kPartBytes, kPartBytes}, {2 * kPartBytes, kPartBytes}};
      const auto region = transport->expose(3 * kPartBytes, parts);
      transport->connect(wire.allgather(transport->blob()));
      const auto source = transport->send_memory(kPartBytes);
      std::memset(source.data(), 'a' + wire.rank(), source.size());
      for (int p = 0; p < 3; ++p) {
        if (p == wire.rank()) continue;
        while (!transport->write(0, p, kPartBytes * static_cast<std::size_t>(wire.rank()), source))
          transport->poll();
        while (!transport->signal(0, p, 0, 1)) transport->poll();
      }
      transport->ring_doorbell(0);
      for (int p = 0; p < 3; ++p) {
        if (p == wire.rank()) continue;
        while (transport->signalled(p, 0) < 1)
          if (!transport->wait(std::chrono::milliseconds(10))) throw Error(wire.health().message());
        for (std::size_t i = 0; i < kPartBytes; ++i)
          if (region[kPartBytes * static_cast<std::size_t>(p) + i] != static_cast<std::byte>('a' + p))
            throw Error("wrong byte");
      }
      wire.finish();
    });
    CHECK(status == 0);
  }
}

}  // namespace
}  // namespace edgewire::transport
