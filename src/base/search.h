// This file searches ordered numbers by halving.
#pragma once

namespace edgewire {

/// Returns the first number of [first, last) for which holds(number), as for all behind it; or `last`.
template <class Number, class Holds>
Number first_of(Number first, Number last, const Holds& holds) {
  while (first < last) {
    const Number middle = first + (last - first) / 2;
    if (holds(middle))
      last = middle;
    else
      first = middle + 1;
  }
  return first;
}

}  // namespace edgewire
