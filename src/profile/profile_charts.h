// This file draws the charts of a profile's page, as `<figure>`s for report::Page.
#pragma once

#include <string>

#include "profile/profile.h"

namespace edgewire::profile {

/// Draws the phases of each worker in the last iterations, over time. Clocks of other machines differ; their
/// processes are shifted so that the last iterations of all processes end together.
std::string phases_figure(const Profile& profile);
/// Draws the phases of each of the latest iterations of a process, as means of its workers.
std::string iterations_figure(const Profile& profile, std::size_t rank);
/// Draws all samples of one unit of a process over time.
std::string samples_figure(const Profile& profile, std::size_t rank, const std::string& unit,
                           const std::string& title);
/// Draws the parts of the time in which disk, wire and cores were busy, over time, with the ends of steps.
std::string balance_figure(const Balance& balance);

}  // namespace edgewire::profile
