#pragma once

namespace edgewire::perf {

/// The resource that limits a load or a sort.
enum class LoadLimit { disk, wire, cores };
const char* to_name(LoadLimit limit) noexcept;

}  // namespace edgewire::perf
