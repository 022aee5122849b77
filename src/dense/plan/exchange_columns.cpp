#include <algorithm>

#include "dense/plan/exchange_plan.h"
#include "partition/column_addresses.h"

namespace edgewire::plan {

void ExchangePlan::to_addresses(std::span<const std::uint32_t> bounds, const ForEach& for_each) {
  if (destination_of_.empty()) {
    addresses_ = owned_.take_indexes();
    partition::to_addresses(addresses_, bounds, for_each);
  }
  for (auto& destinations : destination_of_) partition::to_addresses(destinations.all(), bounds, for_each);
  const auto owned_columns = std::ranges::upper_bound(bounds, sources()) - bounds.begin() - 1;
  first_remote_ = static_cast<std::uint32_t>(owned_columns) << partition::kOffsetBits;
}

topology::PageVector<std::uint32_t> ExchangePlan::owned_addresses() const {
  topology::PageVector<std::uint32_t> addresses(sources());
  ownership_.visit([&](const auto& scheme) {
    for (LocalNumber local{}; local < addresses.size(); ++local)
      addresses[local] = destination_of_[0][scheme.vertex(rank_, local)];
  });
  return addresses;
}

OwnedVertices ExchangePlan::take_owned(std::span<const std::uint32_t> bounds, const ForEach& for_each) && {
  if (ownership_.processes() == 1) {
    partition::to_destinations(addresses_, bounds, for_each);
    owned_.give_indexes(std::move(addresses_));
  }
  return std::move(owned_);
}

}  // namespace edgewire::plan
