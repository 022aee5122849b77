// This file tells whether the cores of a machine worked for the measured programs, or for others.
#pragma once

#include <string>

namespace edgewire::profile {

/// The seconds of all cores since the machine started, without interrupts: these do a network card's work.
struct CoreTimes {
  double busy_s = 0;      ///< time of programs, in user space and in the kernel
  double stolen_s = 0;    ///< time given to others by a hypervisor ("steal" in proc(5))
  double children_s = 0;  ///< time of programs that this process started and that have ended
};

/// Returns the times so far. `root` stands before /proc. They are zero where the kernel does not tell.
CoreTimes core_times(const std::string& root = "");

/// The number of cores that others had while runs were measured, on average.
struct LostCores {
  double to_hypervisor = 0;
  double to_programs = 0;

  double all() const { return to_hypervisor + to_programs; }
};

/// Adds up the cores lost between begin() and end(), any number of times.
class CoreWatch {
 public:
  void begin(const CoreTimes& times = core_times(), double at_s = now_s());
  void end(const CoreTimes& times = core_times(), double at_s = now_s());
  LostCores lost() const;

 private:
  static double now_s();

  CoreTimes start_;
  double start_s_ = 0, seconds_ = 0, stolen_s_ = 0, others_s_ = 0;
};

}  // namespace edgewire::profile
