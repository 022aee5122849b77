#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace edgewire::disk {

/// The block devices below some files and folders, and how long they have had requests under way, whoever's
/// those were. File systems without such a device (tmpfs, overlayfs, NFS) count nothing.
class BusyDevices {
 public:
  explicit BusyDevices(const std::vector<std::string>& paths);
  bool known() const noexcept { return !devices_.empty(); }

  struct Use {
    double seconds = 0;                               ///< busy time of the busiest device
    std::uint64_t bytes_read = 0, bytes_written = 0;  ///< bytes of all devices
  };
  /// Returns how the devices were used since this was made.
  Use use() const;

 private:
  /// The kernel's block/stat tells this of a device.
  struct Told {
    double busy_ms = 0, sectors_read = 0, sectors_written = 0;
  };
  static std::optional<Told> told_by(const std::string& file);
  /// The file that tells it, and what it told first.
  std::vector<std::pair<std::string, Told>> devices_;
};

}  // namespace edgewire::disk
