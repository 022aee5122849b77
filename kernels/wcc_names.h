#pragma once

#include <utility>
#include <vector>

#include "base/error.h"
#include "edgewire/numbering.h"
#include "frontier/records.h"

namespace edgewire::kernels {

/// These names travel two by two, where both processes know of what. kNoVertex is one, too.
class Names {
 public:
  template <class Send>
  void put(PlainId name, const Send& send) {
    if (std::exchange(half_, !half_))
      send(frontier::Record{first_, name});
    else
      first_ = name;
  }
  template <class Send>
  void end(const Send& send) {
    if (std::exchange(half_, false)) send(frontier::Record{first_, kNoVertex});
  }
  static void take(frontier::Record record, std::vector<PlainId>& names) {
    names.push_back(record.vertex);
    names.push_back(record.value);
  }
  /// Throws Error unless so many names were taken.
  static void check(const std::vector<PlainId>& names, std::uint64_t expected) {
    if (names.size() != expected + expected % 2)
      throw Error("a process has sent other names than it was to send");
  }

 private:
  bool half_ = false;
  PlainId first_ = 0;
};

}  // namespace edgewire::kernels
