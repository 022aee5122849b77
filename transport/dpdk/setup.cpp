#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "options/jobs.h"
#include "transport/dpdk/dpdk.h"
#include "transport/sealed.h"

namespace edgewire::transport::dpdk {
namespace {

constexpr std::chrono::seconds kGoodbyeLimit{1};
const std::string kSealUse = "edgewire dpdk offer";

/// The facts that others must know of this process. Then comes the number of each process's flow here.
struct Offer {
  char magic[8] = {'E', 'W', 'D', 'P', 'D', 'K', '0', '2'};
  std::int32_t rank = -1;
  std::int32_t size = 0;
  std::int32_t lanes = 0;
  std::uint32_t mtu = 0;
  MacAddress mac{};
  std::uint16_t udp = 0;  ///< envelope: 1 is UDP, 0 is plain Ethernet
  IpAddress ip{};
};
static_assert(sizeof(Offer) == 36);

std::uint64_t key_from(const std::string& secret) {
  std::uint64_t key = 0;
  std::memcpy(&key, derive_key(secret, "edgewire dpdk frames", 2 * sizeof key).data(), sizeof key);
  return key;
}

}  // namespace

Dpdk::Dpdk(const Settings& settings, std::shared_ptr<Station> station)
    : NetworkBackend(settings),
      station_(std::move(station)),
      key_(key_from(settings.secret)),
      links_(settings.size),
      own_ip_(ip_choice(settings.dpdk.udp, settings.dpdk.port)) {
  if (station_ == nullptr && settings.dpdk.port.empty())
    throw UsageError(fmt::format(
        "{} needs {}: name a PCI address as dpdk-devbind.py lists it, or a virtual device such as "
        "net_af_packet0,iface=eth0",
        opt::transport("dpdk"), opt::dpdk_port));
  if (own_ip_.used) kernel_socket_ = quiet_kernel(own_ip_.address);
  if (station_ == nullptr) station_ = Station::at(settings.dpdk, settings.lanes);
  if (station_->facts().mtu < kLeastMtu)
    throw Error(fmt::format("{} has an MTU of {} bytes, less than {}", settings_.dpdk.port,
                            station_->facts().mtu, kLeastMtu));
  set_payload(station_->facts().mtu);
}

void Dpdk::set_payload(std::uint32_t mtu) noexcept {
  payload_bytes_ =
      mtu - static_cast<std::uint32_t>(envelope_bytes(own_ip_.used) - kEthernetBytes + sizeof(Header));
}

std::string Dpdk::path() const {
  const PortFacts& facts = station_->facts();
  const char* const envelope = !own_ip_.used      ? "plain Ethernet"
                               : facts.checks_udp ? "UDP, checksums by the port"
                                                  : "UDP without checksums";
  return fmt::format("{}; {}", envelope, facts.queues);
}

void Dpdk::fail(int peer, const std::string& message) noexcept {
  settings_.health->fail(peer, message);
  wakeup_.announce();
}

void Dpdk::remember(std::span<std::byte> memory) {
  const std::span<std::byte> pages(memory.data(), topology::whole_pages(memory.size()));
  const std::scoped_lock lock(remembered_mutex_);
  station_->remember(pages);
  remembered_.push_back(pages);
}

std::span<std::byte> Dpdk::send_memory(std::size_t bytes) {
  const auto given = NetworkBackend::send_memory(bytes);
  remember(given);
  return given;
}

std::span<std::byte> Dpdk::expose(std::size_t bytes, std::span<const Part> parts) {
  make_region(bytes, parts, true);
  if (settings_.region.empty()) remember(region_);
  for (int peer = 0; peer < settings_.size; ++peer) {
    if (settings_.leaves_out(peer)) continue;
    auto made = std::make_unique<Link>(*this, peer, settings_.lanes);
    made->number = station_->add(*made);
    links_[peer] = std::move(made);
  }
  return region_;
}

std::string Dpdk::blob() const {
  Offer offer;
  offer.rank = settings_.rank;
  offer.size = settings_.size;
  offer.lanes = settings_.lanes;
  offer.mtu = station_->facts().mtu;
  offer.mac = station_->facts().mac;
  offer.udp = own_ip_.used ? 1 : 0;
  offer.ip = own_ip_.address;
  std::string text(reinterpret_cast<const char*>(&offer), sizeof offer);
  for (const auto& link : links_) {
    const std::uint32_t number = link == nullptr ? 0 : link->number;
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return seal(text, settings_.secret, kSealUse);
}

void Dpdk::connect(std::span<const std::string> blobs) {
  std::uint32_t mtu = station_->facts().mtu;
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    const auto p = static_cast<std::size_t>(link->peer);
    const auto refuse = [&](const std::string& cause) {
      return Error(fmt::format("rank {} cannot be connected over dpdk: {}", p, cause));
    };
    if (p >= blobs.size()) throw refuse("it has sent no offer");
    const std::string text = unseal(blobs[p], settings_.secret, kSealUse);
    if (text.empty()) throw refuse("it has another secret");
    Offer offer;
    if (text.size() != sizeof offer + links_.size() * sizeof(std::uint32_t))
      throw refuse("it has another number of processes");
    std::memcpy(&offer, text.data(), sizeof offer);
    if (std::memcmp(offer.magic, Offer{}.magic, sizeof offer.magic) != 0 || offer.rank != link->peer ||
        offer.size != settings_.size || offer.lanes != settings_.lanes)
      throw refuse("it is another version, or another rank, or has another number of workers");
    if ((offer.udp != 0) != own_ip_.used)
      throw refuse(fmt::format("one of the two processes has {}, the other one has not", opt::dpdk_udp));
    link->envelope = envelope_to(offer.mac, offer.ip);
    std::memcpy(&link->remote_number, text.data() + sizeof offer + settings_.rank * sizeof(std::uint32_t),
                sizeof link->remote_number);
    mtu = std::min(mtu, offer.mtu);
  }
  set_payload(mtu);
  for (const auto& link : links_)
    if (link != nullptr) link->active.store(true, std::memory_order_release);
  greet();
}

Envelope Dpdk::envelope_to(const MacAddress& mac, const IpAddress& ip) const noexcept {
  const MacAddress& own = station_->facts().mac;
  if (!own_ip_.used) return ethernet_envelope(own, mac);
  return udp_envelope(own, own_ip_.is_beyond(ip) ? own_ip_.gateway : mac, own_ip_.address, ip);
}

/// Waits until every peer has answered.
void Dpdk::greet() {
  const auto deadline = Clock::now() + std::chrono::duration<double>(settings_.peer_timeout_s);
  const auto missing = [&] {
    return std::ranges::find_if(links_, [](const auto& link) {
      return link != nullptr && !link->greeted.load(std::memory_order_acquire);
    });
  };
  poll();
  for (auto first = missing(); first != links_.end(); first = missing()) {
    if (Clock::now() > deadline || settings_.health->failed()) {
      if (settings_.health->failed()) throw Error(settings_.health->message());
      throw Error(
          fmt::format("rank {} has not answered over {} within {} s ({} and frames of {} bytes?)",
                      (*first)->peer, settings_.dpdk.port, settings_.peer_timeout_s,
                      own_ip_.used ? fmt::format("does the way between them pass UDP port {}", kUdpPort)
                                   : "are both ports on one Ethernet? does the switch pass ethertype 0x88B5",
                      payload_bytes_ + sizeof(Header) + envelope_bytes(own_ip_.used) - kEthernetBytes));
    }
    wait(std::chrono::milliseconds(10));
  }
  connected_ = true;
}

Dpdk::~Dpdk() {
  const auto pending = [](const auto& link) {
    return link != nullptr && !link->ended.load(std::memory_order_acquire) &&
           (!link->has_left_.load(std::memory_order_acquire) || !link->quiet.load(std::memory_order_acquire));
  };
  if (connected_ && !settings_.health->failed()) {
    for (const auto& link : links_) {
      if (link == nullptr) continue;
      link->quiet.store(false);
      link->leaving.store(true, std::memory_order_release);
    }
    const auto deadline = Clock::now() + kGoodbyeLimit;
    while (poll() && Clock::now() < deadline && std::ranges::any_of(links_, pending))
      wait(std::chrono::milliseconds(1));
  }
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    station_->remove(link->number);
    station_->release_all(link->receiver_);
  }
  for (const auto& memory : remembered_) station_->forget(memory);
}

}  // namespace edgewire::transport::dpdk
