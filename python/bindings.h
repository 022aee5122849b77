// What the files of the extension module share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/apart.h"

namespace edgewire::python {

namespace nb = nanobind;
using namespace nb::literals;

/// Lets Python handle its signals, and shows the step: calls `show` with its name, done, total and unit,
/// unless it is None. Throws what a handler throws, such as KeyboardInterrupt. `show` outlives what is
/// returned.
Wait waiter(const nb::object& show);

// Each adds a part of the library to the module.
void bind_graph(nb::module_& module);
void bind_kernels(nb::module_& module);

}  // namespace edgewire::python
