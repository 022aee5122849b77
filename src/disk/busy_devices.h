#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace edgewire::disk {

/// The block devices below some files and folders, and the time that they have had requests under way,
/// whoever made these. File systems without such a device (tmpfs, overlayfs, NFS) count nothing.
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
  /// The figures of a device in the kernel's block/stat.
  struct Told {
    double busy_ms = 0, sectors_read = 0, sectors_written = 0;
  };
  static std::optional<Told> told_by(const std::string& file);
  /// The files of the devices, and their first figures.
  std::vector<std::pair<std::string, Told>> devices_;
};

}  // namespace edgewire::disk
