#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <sodium.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <thread>

#include "error.h"
#include "topology/memory.h"
#include "transport/parts.h"
#include "transport/sealed.h"
#include "transport/verbs/make_verbs.h"
#include "transport/verbs/verbs.h"

namespace edgewire::transport::verbs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGoodbyeLimit{1};
constexpr std::size_t kTrialBytes = std::size_t{1} << 24;

/// What the other processes must know of this one. Then come, for each process, the key of its part; then,
/// for each of its lanes, a LinkAddress.
struct Offer {
  char magic[8] = {'E', 'W', 'V', 'E', 'R', 'B', '0', '1'};
  std::int32_t rank = -1;
  std::int32_t size = 0;
  std::int32_t lanes = 0;
  std::uint32_t mtu = 0;  ///< enum ibv_mtu
  std::uint32_t ethernet = 0;
  std::uint32_t lid = 0;
  std::uint64_t region = 0;  ///< addresses
  std::uint64_t slots = 0;
  std::uint32_t slots_key = 0;
  std::uint32_t reserved = 0;
  std::uint8_t gid[16] = {};
};
struct LinkAddress {
  std::uint32_t number = 0;
  std::uint32_t psn = 0;
};
static_assert(sizeof(Offer) == 8 + 6 * 4 + 2 * 8 + 2 * 4 + 16 && sizeof(LinkAddress) == 8);

const std::string kSealUse = "edgewire verbs offer";  ///< offers hold the keys to the memory

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
T value_at(const std::string& text, std::size_t offset) {
  T value;
  std::memcpy(&value, text.data() + offset, sizeof value);
  return value;
}

Owned<ibv_pd> make_domain(const Device& device) {
  Owned<ibv_pd> made(library().alloc_pd(device.context.get()), library().dealloc_pd);
  if (made == nullptr)
    throw Error(fmt::format("{} gives no protection domain: {}", device.name, std::strerror(errno)));
  return made;
}

Owned<ibv_comp_channel> make_channel(const Device& device) {
  Owned<ibv_comp_channel> made(library().create_comp_channel(device.context.get()),
                               library().destroy_comp_channel);
  if (made == nullptr || fcntl(made->fd, F_SETFL, O_NONBLOCK) != 0 ||
      fcntl(device.context->async_fd, F_SETFL, O_NONBLOCK) != 0)
    throw Error(fmt::format("{} gives no completion events: {}", device.name, std::strerror(errno)));
  return made;
}

/// Acknowledgement timeout, as a power of two of 4.096 us. A connection gives up after 8 tries of up to 4
/// times that each (InfiniBand Architecture Specification 1.4, 9.7.6.1.3): within the peer timeout, but never
/// so soon that a busy machine looks like a dead one.
std::uint8_t ack_timeout(double peer_timeout_s) {
  std::uint8_t exponent = 14;
  while (exponent < 21 && 32 * 4.096e-6 * static_cast<double>(2 << exponent) <= peer_timeout_s) ++exponent;
  return exponent;
}

}  // namespace

Verbs::Verbs(const Settings& settings)
    : settings_(settings),
      device_(open_device(settings)),
      domain_(make_domain(device_)),
      channel_(make_channel(device_)),
      links_(static_cast<std::size_t>(settings.size) * static_cast<std::size_t>(settings.lanes)),
      signals_(std::make_unique<std::atomic<std::uint64_t>[]>(static_cast<std::size_t>(settings.size) *
                                                              static_cast<std::size_t>(settings.kinds))),
      lanes_(links_.size()) {
  if (sodium_init() < 0) throw Error("libsodium does not start");
  if (links_.size() > Ticket::kLinks)
    throw Error(fmt::format("verbs: {} connections are too many", links_.size()));
}

void Verbs::add_piece(std::byte* data, std::size_t bytes, bool remote) {
  auto added = std::make_unique<Piece>();
  added->data = data;
  added->bytes = bytes;
  added->registration = register_memory(device_, *domain_, data, bytes, remote);
  const std::scoped_lock lock(pieces_mutex_);
  added->next = first_piece_.load(std::memory_order_relaxed);
  first_piece_.store(added.get(), std::memory_order_release);
  pieces_.push_back(std::move(added));
}

std::span<std::byte> Verbs::send_memory(std::size_t bytes) {
  const auto given = send_memory_.add(bytes);
  topology::prepare_pages(given.data(), given.size(), device_.node);
  add_piece(given.data(), given.size(), false);
  return given;
}

std::span<std::byte> Verbs::expose(std::size_t bytes, std::span<const Part> parts) {
  parts_ = checked_parts(parts, settings_.size, bytes);
  region_ = settings_.region;
  if (region_.empty()) {
    own_region_ = Mapping(bytes, -1, "a region");
    region_ = {own_region_.data(), bytes};
    topology::prepare_pages(region_.data(), bytes, device_.node);
  }
  // Each part has a key of its own, so that the card itself keeps a peer within its part.
  keys_.assign(parts_.size(), 0);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    if (part.bytes == 0 || settings_.leaves_out(static_cast<int>(p))) continue;
    add_piece(region_.data() + part.offset, part.bytes, true);
    keys_[p] = pieces_.back()->registration->rkey;
  }
  slots_ = Mapping(links_.size() * kCredits * sizeof(std::uint64_t), -1, "signals");
  slots_registration_ = register_memory(device_, *domain_, slots_.data(), slots_.bytes(), true);
  make_links();
  return region_;
}

void Verbs::make_links() {
  const auto links = static_cast<std::uint32_t>(settings_.lanes * (settings_.size - 1));
  const auto all_entries = static_cast<std::uint32_t>(device_.limits.max_cqe);
  const std::uint32_t entries = links == 0 ? 0 : all_entries / links;
  const std::uint32_t fixed = kMessages + kReceives;
  const auto longest = static_cast<std::uint32_t>(device_.limits.max_qp_wr) - kMessages;
  if (links > 0 && (entries < kMinDepth + fixed || longest < kMinDepth))
    throw Error(
        fmt::format("{} has too few queue entries for {} connections (processes times workers): use fewer",
                    device_.name, links));
  const std::uint32_t depth = links == 0 ? kMinDepth : std::min({kMaxDepth, entries - fixed, longest});
  queue_ = {
      library().create_cq(device_.context.get(), static_cast<int>(std::max(1U, links * (depth + fixed))),
                          nullptr, channel_.get(), 0),
      library().destroy_cq};
  if (queue_ == nullptr)
    throw Error(fmt::format("{} gives no completion queue: {}", device_.name, std::strerror(errno)));
  psns_.resize(links_.size());
  for (int peer = 0; peer < settings_.size; ++peer) {
    for (int lane = 0; lane < settings_.lanes; ++lane) {
      if (settings_.leaves_out(peer)) continue;
      auto made = std::make_unique<Link>();
      made->peer = peer;
      made->lane = lane;
      made->index = index(lane, peer);
      made->depth = depth;
      made->slots = reinterpret_cast<const std::uint64_t*>(slots_.data()) + made->index * kCredits;
      ibv_qp_init_attr wanted{};
      wanted.send_cq = wanted.recv_cq = queue_.get();
      wanted.cap = {depth + kMessages, kReceives, 1, 1, kInlineBytes};
      wanted.qp_type = IBV_QPT_RC;
      made->qp = {library().create_qp(domain_.get(), &wanted), library().destroy_qp};
      if (made->qp == nullptr)
        throw Error(fmt::format("{} gives no queue pair: {}", device_.name, std::strerror(errno)));
      made->inline_bytes = wanted.cap.max_inline_data;
      if (made->inline_bytes < sizeof(std::uint64_t))
        throw Error(fmt::format("{} takes no inline data, which signals need", device_.name));
      ibv_qp_attr attributes{};
      attributes.qp_state = IBV_QPS_INIT;
      attributes.port_num = device_.port;
      attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
      if (library().modify_qp(made->qp.get(), &attributes,
                              IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
        throw Error(fmt::format("{} does not prepare a queue pair: {}", device_.name, std::strerror(errno)));
      for (std::uint32_t i = 0; i < kReceives; ++i) post_receive(*made);
      psns_[made->index] = randombytes_uniform(1 << 24);
      links_[made->index] = std::move(made);
    }
  }
}

std::string Verbs::blob() const {
  Offer offer;
  offer.rank = settings_.rank;
  offer.size = settings_.size;
  offer.lanes = settings_.lanes;
  offer.mtu = device_.attributes.active_mtu;
  offer.ethernet = device_.is_ethernet() ? 1 : 0;
  offer.lid = device_.attributes.lid;
  offer.region = reinterpret_cast<std::uintptr_t>(region_.data());
  offer.slots = reinterpret_cast<std::uintptr_t>(slots_.data());
  offer.slots_key = slots_registration_->rkey;
  std::memcpy(offer.gid, device_.gid.raw, sizeof offer.gid);
  std::string text;
  append(text, offer);
  for (const std::uint32_t key : keys_) append(text, key);
  for (std::size_t i = 0; i < links_.size(); ++i)
    append(text, links_[i] == nullptr ? LinkAddress{} : LinkAddress{links_[i]->qp->qp_num, psns_[i]});
  return seal(text, settings_.secret, kSealUse);
}

void Verbs::connect(std::span<const std::string> blobs) {
  std::uint32_t mtu = device_.attributes.active_mtu;
  std::vector<std::string> offers(static_cast<std::size_t>(settings_.size));
  const std::size_t expected =
      sizeof(Offer) + offers.size() * sizeof(std::uint32_t) + links_.size() * sizeof(LinkAddress);
  for (std::size_t p = 0; p < offers.size(); ++p) {
    if (settings_.leaves_out(static_cast<int>(p))) continue;
    const auto refuse = [&](const std::string& cause) {
      return Error(fmt::format("rank {} cannot be connected over verbs: {}", p, cause));
    };
    if (p >= blobs.size()) throw refuse("it has offered nothing");
    offers[p] = unseal(blobs[p], settings_.secret, kSealUse);
    if (offers[p].empty()) throw refuse("it has another secret");
    if (offers[p].size() != expected) throw refuse("it has other numbers of processes or workers");
    const auto offer = value_at<Offer>(offers[p], 0);
    if (std::memcmp(offer.magic, Offer{}.magic, sizeof offer.magic) != 0 ||
        offer.rank != static_cast<int>(p) || offer.size != settings_.size || offer.lanes != settings_.lanes)
      throw refuse("it is another version, or another rank");
    if ((offer.ethernet != 0) != device_.is_ethernet())
      throw refuse(
          fmt::format("one has Ethernet, the other InfiniBand ({} here; --verbs-device)", device_.label()));
    mtu = std::min(mtu, offer.mtu);
  }
  mtu_bytes_ = 128U << mtu;
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    const std::string& text = offers[static_cast<std::size_t>(link->peer)];
    const auto offer = value_at<Offer>(text, 0);
    const std::size_t mine = index(link->lane, settings_.rank);
    const std::size_t keys_end = sizeof offer + offers.size() * sizeof(std::uint32_t);
    link->remote_region = offer.region;
    link->region_key = value_at<std::uint32_t>(
        text, sizeof offer + static_cast<std::size_t>(settings_.rank) * sizeof(std::uint32_t));
    link->remote_slots = offer.slots + mine * kCredits * sizeof(std::uint64_t);
    link->slots_key = offer.slots_key;
    const auto address = value_at<LinkAddress>(text, keys_end + mine * sizeof(LinkAddress));
    ibv_gid gid{};
    std::memcpy(gid.raw, offer.gid, sizeof offer.gid);
    bring_up(*link, address.number, address.psn, static_cast<std::uint16_t>(offer.lid), gid);
  }
  greet();
}

/// To the state in which it receives, then to that in which it sends.
void Verbs::bring_up(Link& link, std::uint32_t number, std::uint32_t peer_psn, std::uint16_t lid,
                     const ibv_gid& gid) {
  const auto change = [&](ibv_qp_attr& attributes, int mask, const char* what) {
    if (const int error = library().modify_qp(link.qp.get(), &attributes, mask); error != 0)
      throw Error(
          fmt::format("rank {} cannot be {} over {}: {} (--verbs-device NAME:PORT:GID_INDEX chooses another "
                      "address)",
                      link.peer, what, device_.label(), std::strerror(error)));
  };
  ibv_qp_attr receive{};
  receive.qp_state = IBV_QPS_RTR;
  receive.path_mtu = static_cast<ibv_mtu>(std::countr_zero(mtu_bytes_ / 128U));
  receive.dest_qp_num = number;
  receive.rq_psn = peer_psn;
  receive.max_dest_rd_atomic = 1;
  receive.min_rnr_timer = 12;
  receive.ah_attr.port_num = device_.port;
  receive.ah_attr.dlid = lid;
  if (device_.is_ethernet()) {
    receive.ah_attr.is_global = 1;
    receive.ah_attr.grh.dgid = gid;
    receive.ah_attr.grh.sgid_index = device_.gid_index;
    receive.ah_attr.grh.hop_limit = 64;
    receive.ah_attr.grh.traffic_class = static_cast<std::uint8_t>(settings_.verbs.traffic_class);
  }
  change(receive,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
         "reached");
  ibv_qp_attr send{};
  send.qp_state = IBV_QPS_RTS;
  send.timeout = ack_timeout(settings_.peer_timeout_s);
  send.retry_cnt = 7;
  send.rnr_retry = 6;
  send.sq_psn = psns_[link.index];
  send.max_rd_atomic = 1;
  change(send,
         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
             IBV_QP_MAX_QP_RD_ATOMIC,
         "sent to");
}

/// Exchanges one message with every peer on every lane: then both ends are up, and addresses and MTU fit.
void Verbs::greet() {
  for (const auto& link : links_)
    if (link != nullptr) post_message(*link, Message::Hello);
  const auto deadline = Clock::now() + std::chrono::duration<double>(settings_.peer_timeout_s);
  const auto missing = [&] {
    return std::find_if(links_.begin(), links_.end(), [](const auto& link) {
      return link != nullptr && (!link->greeted.load(std::memory_order_acquire) || link->messages.load() > 0);
    });
  };
  poll();
  for (auto first = missing(); first != links_.end(); first = missing()) {
    if (Clock::now() > deadline)
      throw Error(
          fmt::format("rank {} has not answered over {} within {} s (do both ends' GID, MTU and VLAN fit? "
                      "is UDP port 4791 open?)",
                      (*first)->peer, device_.label(), settings_.peer_timeout_s));
    if (!wait(std::chrono::milliseconds(10))) throw Error(settings_.health->message());
  }
  connected_ = true;
}

Verbs::~Verbs() {
  if (!connected_ || settings_.health->failed()) return;
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    post(*link);
    if (!link->ended.load(std::memory_order_acquire)) post_message(*link, Message::Goodbye);
  }
  const auto pending = [](const std::unique_ptr<Link>& link) {
    return link != nullptr && !link->ended.load(std::memory_order_acquire) &&
           (link->reaped.load(std::memory_order_acquire) != link->queued || link->messages.load() > 0);
  };
  const auto deadline = Clock::now() + kGoodbyeLimit;
  while (poll() && Clock::now() < deadline && std::any_of(links_.begin(), links_.end(), pending))
    wait(std::chrono::milliseconds(1));
}

}  // namespace edgewire::transport::verbs

namespace edgewire::transport {

std::unique_ptr<Transport> make_verbs(const Settings& settings) {
  try {
    return std::make_unique<verbs::Verbs>(settings);
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw Error(fmt::format("transport verbs: {}", error.what()));
  }
}

std::string trouble_with_verbs() {
  try {
    const verbs::Device device = verbs::open_device(Settings{});
    const auto domain = verbs::make_domain(device);
    const Mapping trial(verbs::kTrialBytes, -1, "a trial");
    verbs::register_memory(device, *domain, trial.data(), trial.bytes(), true);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace edgewire::transport
