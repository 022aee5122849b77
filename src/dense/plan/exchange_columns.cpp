#include <algorithm>

#include "dense/plan/exchange_plan.h"
#include "partition/column_addresses.h"

namespace edgewire::plan {

ExchangeColumns::ExchangeColumns(ExchangePlan plan, std::span<const std::uint32_t> bounds,
                                 const ForEach& for_each)
    : plan_(std::move(plan)), bounds_(bounds.begin(), bounds.end()) {
  if (plan_.destination_of_.empty()) {
    plan_.addresses_ = plan_.owned_.take_indexes();
    partition::to_addresses(plan_.addresses_, bounds_, for_each);
  }
  for (auto& destinations : plan_.destination_of_)
    partition::to_addresses(destinations.all(), bounds_, for_each);
  const auto owned_columns = std::ranges::upper_bound(bounds_, sources()) - bounds_.begin() - 1;
  plan_.first_remote_ = static_cast<std::uint32_t>(owned_columns) << partition::kOffsetBits;
}

topology::PageVector<std::uint32_t> ExchangeColumns::owned_addresses() const {
  topology::PageVector<std::uint32_t> addresses(sources());
  plan_.ownership_.visit([&](const auto& scheme) {
    for (LocalNumber local{}; local < addresses.size(); ++local)
      addresses[local] = plan_.destination_of_[0][scheme.vertex(plan_.rank_, local)];
  });
  return addresses;
}

OwnedVertices ExchangeColumns::take_owned(const ForEach& for_each) && {
  if (plan_.ownership_.processes() == 1) {
    partition::to_destinations(plan_.addresses_, bounds_, for_each);
    plan_.owned_.give_indexes(std::move(plan_.addresses_));
  }
  return std::move(plan_.owned_);
}

}  // namespace edgewire::plan
