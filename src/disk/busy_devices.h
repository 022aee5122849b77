#pragma once

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
  /// Of the busiest device, since this was made.
  double seconds() const;

 private:
  /// The file of the system that tells it, and what it told first, in milliseconds.
  std::vector<std::pair<std::string, double>> devices_;
};

}  // namespace edgewire::disk
