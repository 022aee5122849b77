// Tells the peers what they need, brings the queue pairs up, and says goodbye.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/error.h"
#include "options/jobs.h"
#include "transport/sealed.h"
#include "transport/verbs/verbs.h"

namespace edgewire::transport::verbs {
namespace {

constexpr std::chrono::seconds kGoodbyeLimit{1};
constexpr std::chrono::milliseconds kFirstHelloPause{50};

/// The facts that the other processes must know of this one. Then come, for each rail, a RailOffer and, for
/// each process, the key of its part; then, for each process and lane, a LinkAddress.
struct Offer {
  char magic[8] = {'E', 'W', 'V', 'E', 'R', 'B', '0', '4'};
  std::int32_t rank = -1;
  std::int32_t size = 0;
  std::int32_t lanes = 0;
  std::int32_t rails = 0;
  std::uint64_t region = 0;  ///< address of the region
  std::uint64_t arrivals = 0;
};
static_assert(sizeof(Offer) == 8 + 4 * 4 + 2 * 8);

}  // namespace

struct RailOffer {
  std::uint32_t mtu = 0;  ///< MTU as enum ibv_mtu
  std::uint32_t ethernet = 0;
  std::uint32_t lid = 0;
  std::uint32_t arrivals_key = 0;
  std::uint32_t cm_port = 0;  ///< port for calls (iWARP)
  std::uint8_t gid[16] = {};
};
struct LinkAddress {
  std::uint32_t number = 0;
  std::uint32_t psn = 0;
  Token token{};  ///< token to show (iWARP)
};
static_assert(sizeof(RailOffer) == 5 * 4 + 16 && sizeof(LinkAddress) == 8 + sizeof(Token));

namespace {

/// Key use of offers, which hold the keys to the memory.
const std::string kSealUse = "edgewire verbs offer";

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

/// Returns the acknowledgement timeout, as a power of two of 4.096 us. A connection gives up after 8 tries of
/// up to 4 times that each (InfiniBand Architecture Specification 1.4, 9.7.6.1.3): within the peer timeout,
/// but never so soon that a busy machine looks like a dead one.
std::uint8_t ack_timeout(double peer_timeout_s) {
  std::uint8_t exponent = 14;
  while (exponent < 21 && 32 * 4.096e-6 * static_cast<double>(2 << exponent) <= peer_timeout_s) ++exponent;
  return exponent;
}

}  // namespace

std::string Verbs::blob() const {
  Offer offer;
  offer.rank = settings_.rank;
  offer.size = settings_.size;
  offer.lanes = settings_.lanes;
  offer.rails = static_cast<std::int32_t>(rails_.size());
  offer.region = reinterpret_cast<std::uintptr_t>(region_.data());
  offer.arrivals = reinterpret_cast<std::uintptr_t>(arrivals_.as<Arrivals>().data());
  std::string text;
  append(text, offer);
  for (std::size_t r = 0; r < rails_.size(); ++r) {
    const Device& device = rails_[r].device;
    RailOffer rail;
    rail.mtu = device.attributes.active_mtu;
    rail.ethernet = device.is_ethernet() ? 1 : 0;
    rail.lid = device.attributes.lid;
    rail.cm_port = rails_[r].cm_port;
    rail.arrivals_key = rails_[r].arrivals.region->rkey;
    std::memcpy(rail.gid, device.gid.raw, sizeof rail.gid);
    append(text, rail);
    for (const Piece* piece : part_pieces_)
      append(text, piece == nullptr ? std::uint32_t{0} : piece->registrations[r].region->rkey);
  }
  for (std::size_t i = 0; i < links_.size(); ++i)
    append(text,
           links_[i] == nullptr ? LinkAddress{} : LinkAddress{links_[i]->qp->qp_num, psns_[i], tokens_[i]});
  return seal(text, settings_.secret, kSealUse);
}

void Verbs::connect(std::span<const std::string> blobs) {
  const auto size = static_cast<std::size_t>(settings_.size);
  const std::size_t rail_bytes = sizeof(RailOffer) + size * sizeof(std::uint32_t);
  const std::size_t rails_end = sizeof(Offer) + rails_.size() * rail_bytes;
  const auto rail_offer = [&](const std::string& text, std::size_t rail) {
    return value_at<RailOffer>(text, sizeof(Offer) + rail * rail_bytes);
  };
  std::vector<std::string> offers(size);
  std::uint32_t mtu = IBV_MTU_4096;
  for (const Rail& rail : rails_) mtu = std::min<std::uint32_t>(mtu, rail.device.attributes.active_mtu);
  for (std::size_t p = 0; p < size; ++p) {
    if (settings_.leaves_out(static_cast<int>(p))) continue;
    const auto refuse = [&](const std::string& cause) {
      return Error(fmt::format("rank {} cannot be connected over verbs: {}", p, cause));
    };
    if (p >= blobs.size()) throw refuse("it has sent no offer");
    offers[p] = unseal(blobs[p], settings_.secret, kSealUse);
    if (offers[p].empty()) throw refuse("it has another secret");
    if (offers[p].size() < sizeof(Offer)) throw refuse("it is another version");
    const auto offer = value_at<Offer>(offers[p], 0);
    if (std::memcmp(offer.magic, Offer{}.magic, sizeof offer.magic) != 0 || offer.rank != static_cast<int>(p))
      throw refuse("it is another version, or another rank");
    if (offer.rails != static_cast<std::int32_t>(rails_.size()))
      throw refuse(fmt::format("it uses {} RDMA devices, and this process uses {} ({})", offer.rails,
                               rails_.size(), opt::verbs_device));
    if (offer.size != settings_.size || offer.lanes != settings_.lanes ||
        offers[p].size() != rails_end + links_.size() * sizeof(LinkAddress))
      throw refuse("it has other numbers of processes or workers");
    for (std::size_t r = 0; r < rails_.size(); ++r) {
      const Device& device = rails_[r].device;
      const auto rail = rail_offer(offers[p], r);
      if ((rail.ethernet != 0) != device.is_ethernet())
        throw refuse(fmt::format("one end has Ethernet, the other one InfiniBand ({} here; {})",
                                 device.label(), opt::verbs_device));
      if ((rail.cm_port != 0) != device.is_iwarp)
        throw refuse(fmt::format("only one end has iWARP ({} here; {})", device.label(), opt::verbs_device));
      mtu = std::min(mtu, rail.mtu);
    }
  }
  mtu_bytes_ = 128U << mtu;
  std::vector<Call> calls;
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    const std::string& text = offers[link->peer];
    const auto offer = value_at<Offer>(text, 0);
    const auto rail = rail_offer(text, link->rail);
    const std::size_t mine = index(link->lane, settings_.rank);
    link->remote_region = offer.region;
    link->region_key = value_at<std::uint32_t>(
        text, sizeof offer + link->rail * rail_bytes + sizeof rail + settings_.rank * sizeof(std::uint32_t));
    link->remote_counts = offer.arrivals + mine * sizeof(Arrivals) + offsetof(Arrivals, counts);
    link->counts_key = rail.arrivals_key;
    const auto address = value_at<LinkAddress>(text, rails_end + mine * sizeof(LinkAddress));
    if (connector_ == nullptr)
      bring_up(*link, address, rail);
    else
      calls.push_back(call_of(*link, address, rail));
  }
  if (connector_ != nullptr)
    connector_->connect(std::move(calls), settings_.peer_timeout_s, *settings_.health);
  greet();
  if (!settings_.verbs.progress_thread) return;
  has_thread_ = true;
  progress_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

/// Brings the queue pair to the state in which it receives, then to that in which it sends.
void Verbs::bring_up(Link& link, const LinkAddress& address, const RailOffer& offer) {
  const Device& device = device_of(link);
  const auto change = [&](ibv_qp_attr& attributes, int mask, const char* what) {
    if (const int error = library().modify_qp(link.qp.get(), &attributes, mask); error != 0)
      throw Error(
          fmt::format("rank {} cannot be {} over {}: {} ({} NAME:PORT:GID_INDEX chooses another address)",
                      link.peer, what, device.label(), std::strerror(error), opt::verbs_device));
  };
  ibv_qp_attr receive{};
  receive.qp_state = IBV_QPS_RTR;
  receive.path_mtu = static_cast<ibv_mtu>(std::countr_zero(mtu_bytes_ / 128U));
  receive.dest_qp_num = address.number;
  receive.rq_psn = address.psn;
  receive.max_dest_rd_atomic = 1;
  receive.min_rnr_timer = 12;
  receive.ah_attr.port_num = device.port;
  receive.ah_attr.dlid = static_cast<std::uint16_t>(offer.lid);
  if (device.is_ethernet()) {
    receive.ah_attr.is_global = 1;
    std::memcpy(receive.ah_attr.grh.dgid.raw, offer.gid, sizeof offer.gid);
    receive.ah_attr.grh.sgid_index = device.gid_index;
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

Call Verbs::call_of(const Link& link, const LinkAddress& address, const RailOffer& offer) const {
  Call call;
  call.peer = link.peer;
  call.device = &device_of(link);
  call.queue_pair = link.qp->qp_num;
  call.expected = tokens_[link.index];
  call.shown = address.token;
  call.is_ours = !greets_second(link);
  std::memcpy(call.address.raw, offer.gid, sizeof offer.gid);
  call.port = static_cast<std::uint16_t>(offer.cm_port);
  return call;
}

/// Exchanges one message with every peer on every lane: then both ends are up, and addresses and MTU fit.
void Verbs::greet() {
  for (const auto& link : links_)
    if (link != nullptr && !greets_second(*link)) post_message(*link, Message::Hello);
  const auto deadline = Clock::now() + std::chrono::duration<double>(settings_.peer_timeout_s);
  const auto missing = [&] {
    return std::ranges::find_if(links_, [](const auto& link) {
      return link != nullptr && (!link->greeted.load(std::memory_order_acquire) || link->messages.load() > 0);
    });
  };
  poll();
  auto again = Clock::now() + kFirstHelloPause;
  auto pause = kFirstHelloPause;
  for (auto first = missing(); first != links_.end(); first = missing()) {
    const auto now = Clock::now();
    if (now > deadline)
      throw Error(fmt::format(
          "rank {} has not answered over {} within {} s{}", (*first)->peer, device_of(**first).label(),
          settings_.peer_timeout_s,
          connector_ != nullptr ? "" : " (do both ends' GID, MTU and VLAN fit? is UDP port 4791 open?)"));
    if (connector_ != nullptr && now > again) {
      greet_again();
      again = now + (pause *= 2);
    }
    if (!wait(std::chrono::milliseconds(10))) throw Error(settings_.health->message());
  }
  connected_ = true;
}

/// Sends the greeting again. SoftiWARP does not see what arrives directly after its answer to a call, until
/// more arrives.
void Verbs::greet_again() noexcept {
  for (const auto& link : links_)
    if (link != nullptr && !greets_second(*link) && !link->greeted.load(std::memory_order_acquire) &&
        link->messages.load() == 0 && link->hellos++ < kHellos)
      post_message(*link, Message::Hello);
}

Verbs::~Verbs() {
  if (progress_.joinable()) {
    progress_.request_stop();
    progress_.join();
    has_thread_ = false;
  }
  if (!connected_ || settings_.health->failed()) return;
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    post(*link);
    if (connector_ != nullptr || !link->ended.load(std::memory_order_acquire))
      post_message(*link, Message::Goodbye);
  }
  // An iWARP connection ends when this process closes its end. A peer that has no goodbye yet would take that
  // for a failure. What has completed may still be on its way then, so that both wait for the other's.
  const auto pending = [this](const std::unique_ptr<Link>& link) {
    if (link == nullptr) return false;
    const bool has_ended = link->ended.load(std::memory_order_acquire);
    if (connector_ != nullptr) return !has_ended || link->messages.load() > 0;
    return !has_ended &&
           (link->reaped.load(std::memory_order_acquire) != link->queued || link->messages.load() > 0);
  };
  const auto deadline = Clock::now() + kGoodbyeLimit;
  while (poll() && Clock::now() < deadline && std::ranges::any_of(links_, pending))
    wait(std::chrono::milliseconds(1));
}

}  // namespace edgewire::transport::verbs
