#include "profile/load_watch.h"

#include <utility>

namespace edgewire::profile {

LoadWatch::LoadWatch(launch::Bootstrap& bootstrap, process::LocalProcess& process,
                     const std::vector<std::string>& paths, const ProfileOptions& options, bool profiled)
    : profiler_(profiled
                    ? std::optional<Profiler>(std::in_place, profile::profiled(bootstrap, process), options)
                    : std::nullopt),
      balance_(bootstrap, process, paths, options.given_bits_per_s) {
  run_.emplace(profiler_ ? &*profiler_ : nullptr);
}

void LoadWatch::end_step(const std::string& name) {
  balance_.end_step(name);
  if (profiler_) profiler_->end_step(name);
}

Balance LoadWatch::gather(report::JobReport& report, const ProcessFacts& facts) {
  auto balance = balance_.gather();
  if (!profiler_) return balance;
  auto profile = profiler_->gather(facts);
  if (profile.processes.empty()) return balance;  // another rank has it
  profile.balance = balance;
  add_to(report, std::move(profile));
  return balance;
}

}  // namespace edgewire::profile
