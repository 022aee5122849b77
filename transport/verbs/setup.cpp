#include <fcntl.h>
#include <fmt/core.h>
#include <sodium.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "options/jobs.h"
#include "topology/page_nodes.h"
#include "transport/verbs/make_verbs.h"
#include "transport/verbs/verbs.h"

namespace edgewire::transport::verbs {
namespace {

Owned<ibv_comp_channel> make_channel(const Device& device) {
  Owned<ibv_comp_channel> made(library().create_comp_channel(device.context.get()),
                               library().destroy_comp_channel);
  if (made == nullptr || fcntl(made->fd, F_SETFL, O_NONBLOCK) != 0 ||
      fcntl(device.context->async_fd, F_SETFL, O_NONBLOCK) != 0)
    throw Error(fmt::format("{} gives no completion events: {}", device.name, reason(errno)));
  return made;
}

std::vector<Rail> make_rails(const Settings& settings) {
  auto devices = open_devices(settings);
  if (devices.size() > kMaxRails)
    throw UsageError(fmt::format("{} names more than {} devices", opt::verbs_device, kMaxRails));
  std::vector<Rail> rails;
  for (Device& device : devices) {
    auto domain = make_domain(device);
    auto channel = make_channel(device);
    rails.push_back({std::move(device), std::move(domain), std::move(channel)});
    const Device& first = rails.front().device;
    const Device& last = rails.back().device;
    if (last.is_ethernet() != first.is_ethernet() || last.is_iwarp != first.is_iwarp)
      throw Error(fmt::format("{} is {}, {} is {}: they cannot be used together ({})", first.label(),
                              first.kind, last.label(), last.kind, opt::verbs_device));
  }
  return rails;
}

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
  const topology::NodeMemory trial(std::size_t{1} << 24, -1, "a trial");
  register_memory(device, *domain, trial.as<std::byte>().data(), trial.bytes(), kWritable, wanted);
}

Verbs::Verbs(const Settings& settings)
    : NetworkBackend(settings),
      rails_(make_rails(settings)),
      links_(static_cast<std::size_t>(settings.size) * settings.lanes) {
  if (sodium_init() < 0) throw Error("libsodium does not start");
  if (links_.size() > Ticket::kLinks)
    throw Error(fmt::format("verbs: {} connections are too many", links_.size()));
  if (rails_.front().device.is_iwarp) {
    settings_.verbs.immediates = false;
    connector_ = std::make_unique<Connector>();
  }
  longest_message_ = rails_.front().device.attributes.max_msg_sz;
  for (const Rail& rail : rails_)
    longest_message_ = std::min<std::size_t>(longest_message_, rail.device.attributes.max_msg_sz);
}

Piece& Verbs::add_piece(std::byte* data, std::size_t bytes, bool remote) {
  auto added = std::make_unique<Piece>();
  added->data = data;
  added->bytes = bytes;
  const unsigned access = remote ? kWritable | kReadable : unsigned{IBV_ACCESS_LOCAL_WRITE};
  for (Rail& rail : rails_)
    added->registrations.push_back(
        register_memory(rail.device, *rail.domain, data, bytes, access, settings_.verbs.memory));
  const std::scoped_lock lock(pieces_mutex_);
  added->next = first_piece_.load(std::memory_order_relaxed);
  first_piece_.store(added.get(), std::memory_order_release);
  return *pieces_.emplace_back(std::move(added));
}

std::span<std::byte> Verbs::send_memory(std::size_t bytes) {
  const auto given = NetworkBackend::send_memory(bytes);
  topology::place_pages({given, settings_.memory_nodes});
  add_piece(given.data(), given.size(), false);
  return given;
}

std::span<std::byte> Verbs::expose(std::size_t bytes, std::span<const Part> parts) {
  make_region(bytes, parts, false);  // registered pages stay where they are
  // Each part has a key of its own, so that the card itself keeps a peer within its part.
  part_pieces_.assign(parts_.size(), nullptr);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    if (part.bytes == 0 || settings_.leaves_out(static_cast<int>(p))) continue;
    part_pieces_[p] = &add_piece(region_.data() + part.offset, part.bytes, true);
  }
  arrivals_ = topology::NodeMemory(links_.size() * sizeof(Arrivals), -1, "signals");
  for (Rail& rail : rails_)
    rail.arrivals = register_memory(rail.device, *rail.domain, arrivals_.as<Arrivals>().data(),
                                    arrivals_.bytes(), kWritable | kReadable, settings_.verbs.memory);
  make_links();
  return region_;
}

/// Gives every rail a completion queue that has room for all that its links can have under way. Returns the
/// depth of a send queue, without messages of our own.
std::uint32_t Verbs::make_queues() {
  const std::uint32_t fixed = kMessages + kReceives;
  std::vector<std::uint32_t> links(rails_.size());
  for (const auto& link : links_)
    if (link != nullptr) ++links[link->rail];
  std::uint32_t depth = kMaxDepth;
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    const Device& device = rails_[r].device;
    if (links[r] == 0) continue;
    const std::uint32_t entries = static_cast<std::uint32_t>(device.limits.max_cqe) / links[r];
    const auto longest = static_cast<std::uint32_t>(device.limits.max_qp_wr) - kMessages;
    if (entries < kMinDepth + fixed || longest < kMinDepth)
      throw Error(
          fmt::format("{} has too few queue entries for {} connections (processes times workers): use fewer",
                      device.name, links[r]));
    depth = std::min({depth, entries - fixed, longest});
  }
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    Rail& rail = rails_[r];
    rail.queue = {library().create_cq(rail.device.context.get(),
                                      static_cast<int>(std::max(1U, links[r] * (depth + fixed))), nullptr,
                                      rail.channel.get(), 0),
                  library().destroy_cq};
    if (rail.queue == nullptr)
      throw Error(fmt::format("{} gives no completion queue: {}", rail.device.name, reason(errno)));
  }
  return depth;
}

void Verbs::make_links() {
  for (int peer = 0; peer < settings_.size; ++peer) {
    for (int lane = 0; lane < settings_.lanes; ++lane) {
      if (settings_.leaves_out(peer)) continue;
      auto& made = links_[index(lane, peer)] = std::make_unique<Link>();
      made->peer = peer;
      made->lane = lane;
      made->index = index(lane, peer);
      // Both ends take the same rail, and with several peers a single lane uses all rails.
      made->rail = static_cast<std::size_t>(lane + peer + settings_.rank) % rails_.size();
      made->arrivals = &arrivals_.as<Arrivals>()[made->index];
    }
  }
  const std::uint32_t depth = make_queues();
  for (Rail& rail : rails_)
    if (connector_ != nullptr) rail.cm_port = connector_->listen(rail.device);
  tokens_.resize(links_.size());
  psns_.resize(links_.size());
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    link->depth = depth;
    make_queue_pair(*link);
    for (std::size_t i = 0; i < kReceives; ++i) post_receive(*link, i);
    psns_[link->index] = randombytes_uniform(1 << 24);
    randombytes_buf(tokens_[link->index].data(), sizeof(Token));
  }
}

void Verbs::make_queue_pair(Link& link) {
  const Rail& rail = rails_[link.rail];
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = rail.queue.get();
  wanted.cap = {link.depth + kMessages, kReceives, 1, 1, kInlineBytes};
  wanted.qp_type = IBV_QPT_RC;
  link.qp = {library().create_qp(rail.domain.get(), &wanted), library().destroy_qp};
  if (link.qp == nullptr)
    throw Error(fmt::format("{} gives no queue pair: {}", rail.device.name, reason(errno)));
  link.inline_bytes = wanted.cap.max_inline_data;
  if (link.inline_bytes < sizeof(SentMessage))
    throw Error(fmt::format("{} takes no inline data, which signals need", rail.device.name));
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = rail.device.port;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | kReadable;
  if (library().modify_qp(link.qp.get(), &attributes,
                          IBV_QP_STATE | IBV_QP_ACCESS_FLAGS |
                              (rail.device.is_iwarp ? 0 : IBV_QP_PKEY_INDEX | IBV_QP_PORT)) != 0)
    throw Error(fmt::format("{} does not prepare a queue pair: {}", rail.device.name, reason(errno)));
}

std::string Verbs::describe() const {
  std::string text;
  for (const Rail& rail : rails_) text += (text.empty() ? "" : " and ") + rail.device.label();
  const bool paged = std::ranges::any_of(pieces_, [](const auto& piece) {
    return std::ranges::any_of(piece->registrations, [](const Registered& registered) {
      return registered.way == Registration::on_demand;
    });
  });
  return fmt::format("{} ({}, packets of {} bytes), memory {}, completions taken by {}{}", text,
                     rails_.front().device.kind, mtu_bytes_, paged ? "paged on demand" : "pinned",
                     settings_.verbs.progress_thread ? "a thread" : "the workers",
                     settings_.verbs.immediates ? "" : ", signals sent");
}

}  // namespace edgewire::transport::verbs

namespace edgewire::transport {

std::unique_ptr<Transport> make_verbs(const Settings& settings) {
  return std::make_unique<verbs::Verbs>(settings);
}

std::string verbs_devices_here() {
  try {
    return verbs::list_devices();
  } catch (const Error& error) {
    return error.what();
  }
}

std::string trouble_with_verbs() {
  try {
    const VerbsChoice any;
    verbs::try_memory(verbs::open_devices(Settings{})[0], any.memory);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace edgewire::transport
