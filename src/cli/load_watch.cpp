#include "cli/load_watch.h"

#include <utility>

namespace edgewire::cli {

LoadWatch::LoadWatch(launch::Bootstrap& bootstrap, process::LocalProcess& process,
                     const std::vector<std::string>& paths, const JobOptions& options,
                     const std::string& items)
    : profiler_(options.profiled()
                    ? std::optional<profile::Profiler>(std::in_place, profile::profiled(bootstrap, process),
                                                       profile_options(options, {"step", items}))
                    : std::nullopt),
      balance_(bootstrap, process, paths, static_cast<double>(options.launch.link_bits_per_s)) {
  run_.emplace(profiler_ ? &*profiler_ : nullptr);
}

void LoadWatch::end_step(const std::string& name) {
  balance_.end_step(name);
  if (profiler_) profiler_->end_step(name);
}

profile::Balance LoadWatch::gather(report::JobReport& report, const profile::ProcessFacts& facts) {
  auto balance = balance_.gather();
  if (!profiler_) return balance;
  auto profile = profiler_->gather(facts);
  if (profile.processes.empty()) return balance;  // rank 0 has it
  profile.balance = balance;
  profile::add_to(report, std::move(profile));
  return balance;
}

}  // namespace edgewire::cli
