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

/// Does run_apart() without the interpreter's lock, which the caller holds. Meanwhile Python handles its
/// signals, and `show`, unless it is None, is called with the name, done, total and unit of the step that is
/// under way. Also throws what a handler or `show` throws, such as KeyboardInterrupt. Returns its notes.
std::vector<std::string> run_unlocked(const std::function<int(const Progress& progress)>& work,
                                      const nb::object& show = nb::none());

// Each adds a part of the library to the module.
void bind_graph(nb::module_& module);
void bind_kernels(nb::module_& module);

}  // namespace edgewire::python
