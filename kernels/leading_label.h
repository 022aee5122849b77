#pragma once

#include <cstdint>

#include "edgewire/numbering.h"

namespace edgewire::kernels {

/// The one label that may have more than half of all weight, found in one pass without a table: the vote of
/// Boyer and Moore (MJRTY, a fast majority vote algorithm, 1981), with weights. A second pass decides.
class LeadingLabel {
 public:
  void add(PlainId label, std::uint64_t weight) noexcept {
    if (label == label_) {
      lead_ += weight;
    } else if (weight <= lead_) {
      lead_ -= weight;
    } else {
      label_ = label;
      lead_ = weight - lead_;
    }
  }
  /// Adds the result of a pass over other labels.
  void add(const LeadingLabel& other) noexcept { add(other.label_, other.lead_); }
  PlainId label() const noexcept { return label_; }

 private:
  PlainId label_ = 0;
  std::uint64_t lead_ = 0;
};

}  // namespace edgewire::kernels
