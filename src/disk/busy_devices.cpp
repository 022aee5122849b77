#include "disk/busy_devices.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <fstream>
#include <optional>

namespace edgewire::disk {

namespace {

/// The tenth number of the kernel's block/stat: milliseconds with requests under way.
std::optional<double> busy_milliseconds(const std::string& path) {
  std::ifstream file(path);
  double number = 0;
  for (int field = 0; field < 10; ++field) file >> number;
  return file ? std::optional(number) : std::nullopt;
}

}  // namespace

BusyDevices::BusyDevices(const std::vector<std::string>& paths) {
  for (const auto& path : paths) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) continue;
    std::string file = fmt::format("/sys/dev/block/{}:{}/stat", major(status.st_dev), minor(status.st_dev));
    const auto busy = busy_milliseconds(file);
    if (busy &&
        std::ranges::find(devices_, file, [](const auto& one) { return one.first; }) == devices_.end())
      devices_.emplace_back(std::move(file), *busy);
  }
}

double BusyDevices::seconds() const {
  double most = 0;
  for (const auto& [file, before] : devices_)
    most = std::max(most, busy_milliseconds(file).value_or(before) - before);
  return most / 1000;
}

}  // namespace edgewire::disk
