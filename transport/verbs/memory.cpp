#include <fmt/core.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "options/jobs.h"
#include "transport/verbs/device.h"

namespace edgewire::transport::verbs {
namespace {

constexpr std::size_t kTrialBytes = std::size_t{1} << 24;

}  // namespace

Owned<ibv_pd> make_domain(const Device& device) {
  Owned<ibv_pd> made(library().alloc_pd(device.context.get()), library().dealloc_pd);
  if (made == nullptr)
    throw Error(fmt::format("{} gives no protection domain: {}", device.name, std::strerror(errno)));
  return made;
}

Registered register_memory(const Device& device, ibv_pd& pd, void* data, std::size_t bytes, unsigned access,
                           const std::string& wanted) {
  // Relaxed ordering lets a card place writes in any order. We look at nothing before the completion of the
  // signal behind it, which still comes after all that it reports: a card's completion queue is never ordered
  // that way. The library drops the flag where a card has no use for it.
  access |= IBV_ACCESS_RELAXED_ORDERING;
  const auto ways = ways_to_register(wanted, device.can_page);
  if (ways.empty())
    throw Error(fmt::format("{} has no on-demand paging ({})", device.name, opt::verbs_memory("pinned")));
  int cause = 0;
  for (const Registration way : ways) {
    const auto more = way == Registration::on_demand ? static_cast<unsigned>(IBV_ACCESS_ON_DEMAND) : 0U;
    Owned<ibv_mr> made(
        library().reg_mr_iova2(&pd, data, bytes, reinterpret_cast<std::uintptr_t>(data), access | more),
        library().dereg_mr);
    if (made != nullptr) return {std::move(made), way};
    cause = errno;
    if (cause != ENOMEM && cause != EPERM) break;  // another way would not change this
  }
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY || (cause != ENOMEM && cause != EPERM))
    throw Error(
        fmt::format("cannot register {} bytes with {}: {}", bytes, device.name, std::strerror(cause)));
  throw Error(
      fmt::format("cannot register {} bytes with {}: `ulimit -l` allows {} KiB of locked memory (set memlock "
                  "unlimited in /etc/security/limits.conf, or LimitMEMLOCK=infinity of a service)",
                  bytes, device.name, limit.rlim_cur / 1024));
}

void try_memory(const Device& device, const std::string& wanted) {
  const auto domain = make_domain(device);
  const topology::NodeMemory trial(kTrialBytes, -1, "a trial");
  register_memory(device, *domain, trial.as<std::byte>().data(), trial.bytes(), kWritable, wanted);
}

}  // namespace edgewire::transport::verbs
