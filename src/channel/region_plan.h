// The channel folder carries records that no plan knows beforehand: rings, and streams of records that end
// without a barrier. It also plans the one region that a process exposes in a job (this file): slots, rings
// and scalars are its parts. The plan adds up what they need, and tells both sides where each part lies.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "launch/bootstrap.h"
#include "transport/transport.h"

namespace edgewire::channel {

/// The exposed region of this process, and where this process may write in the regions of its peers. `part`
/// is the result of RegionPlan::add(). Its memory belongs to the transport.
class Region {
 public:
  std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// Returns where `peer` writes here, in bytes from the start of this process's region.
  std::size_t offset(std::size_t part, int peer) const noexcept { return here_[at(part, peer)].offset; }
  /// Returns where this process writes, in bytes from the start of the peer's region.
  std::size_t remote_offset(std::size_t part, int peer) const noexcept {
    return there_[at(part, peer)].offset;
  }
  /// Returns how many bytes it may write there.
  std::size_t remote_bytes(std::size_t part, int peer) const noexcept { return there_[at(part, peer)].bytes; }

 private:
  friend class RegionPlan;
  using Place = transport::Transport::Part;
  std::size_t at(std::size_t part, int peer) const noexcept { return peer * parts_ + part; }

  std::span<std::byte> bytes_;
  std::size_t parts_ = 0;
  std::vector<Place> here_, there_;  ///< places, [peer * parts + part]
};

class RegionPlan {
 public:
  /// Begins a plan for a job of `size` processes.
  explicit RegionPlan(int size) : size_(size) {}

  /// Adds a part: `bytes[p]` bytes, or none, for peer p to write into. It begins at a multiple of
  /// `alignment`, a power of two, 4096 at most. All processes add the same parts in the same order; sizes may
  /// differ. A name has at most 23 characters. Returns the number of the part.
  std::size_t add(const std::string& name, std::vector<std::size_t> bytes, std::size_t alignment = 64);
  /// Exposes the region, tells all processes where their parts lie, and connects the link. Collective, once.
  /// Throws Error that names a process with other parts.
  Region expose(launch::Bootstrap& bootstrap, transport::Transport& link) const;

 private:
  struct Part {
    std::string name;
    std::vector<std::size_t> bytes;  ///< bytes by peer
    std::size_t alignment;
  };
  std::size_t size_;
  std::vector<Part> parts_;
};

}  // namespace edgewire::channel
