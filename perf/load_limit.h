#pragma once

namespace edgewire::perf {

/// What a load or a sort waits for.
enum class LoadLimit { disk, wire, cores };
const char* to_name(LoadLimit limit) noexcept;

}  // namespace edgewire::perf
