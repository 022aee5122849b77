// The sweeps of programs that add up weighted messages: compiled once for all of them.
#include "base/rooms.h"
#include "edgewire/detail/sweep.h"

namespace edgewire::detail {

template void Sweep<WeightedSum<float>>::add(std::span<const std::uint16_t>, const float*, double*) noexcept;
template void Sweep<WeightedSum<double>>::add(std::span<const std::uint16_t>, const double*,
                                              double*) noexcept;

}  // namespace edgewire::detail
