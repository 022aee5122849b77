#pragma once

#include <functional>

namespace edgewire::shuffle {

/// Called when this process is through with a step of a sort or a load, by the thread that runs the job; its
/// workers rest.
using StepDone = std::function<void(const char* step)>;

inline constexpr const char* kSample = "sample";             ///< chooses what separates partitions
inline constexpr const char* kDistribute = "read and send";  ///< and sorts, and writes runs
inline constexpr const char* kNumber = "number";             ///< a load: vertices, and edges that stay
inline constexpr const char* kMerge = "merge";               ///< reads runs, writes the result
inline constexpr const char* kFinish = "finish";             ///< a load: what is left of the file

}  // namespace edgewire::shuffle
