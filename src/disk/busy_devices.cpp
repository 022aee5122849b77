#include "disk/busy_devices.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace edgewire::disk {

std::optional<BusyDevices::Told> BusyDevices::told_by(const std::string& file) {
  constexpr std::size_t kRead = 2, kWritten = 6, kBusy = 9;
  std::ifstream stream(file);
  std::array<double, kBusy + 1> numbers{};
  for (double& number : numbers) stream >> number;
  return stream ? std::optional(Told{numbers[kBusy], numbers[kRead], numbers[kWritten]}) : std::nullopt;
}

BusyDevices::BusyDevices(const std::vector<std::string>& paths) {
  for (const auto& path : paths) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) continue;
    std::string file = fmt::format("/sys/dev/block/{}:{}/stat", major(status.st_dev), minor(status.st_dev));
    const auto told = told_by(file);
    if (told &&
        std::ranges::find(devices_, file, [](const auto& one) { return one.first; }) == devices_.end())
      devices_.emplace_back(std::move(file), *told);
  }
}

BusyDevices::Use BusyDevices::use() const {
  constexpr double kSector = 512;
  Use use;
  for (const auto& [file, before] : devices_) {
    const Told now = told_by(file).value_or(before);
    use.seconds = std::max(use.seconds, (now.busy_ms - before.busy_ms) / 1000);
    use.bytes_read += static_cast<std::uint64_t>(kSector * (now.sectors_read - before.sectors_read));
    use.bytes_written += static_cast<std::uint64_t>(kSector * (now.sectors_written - before.sectors_written));
  }
  return use;
}

}  // namespace edgewire::disk
