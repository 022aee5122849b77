// The python folder is the package for Python. module.cpp binds the public headers, apart.h runs each call in
// a process of its own, and edgewire/ is what users see. This file is for all files of the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>
#include <vector>

#include "python/apart.h"

namespace edgewire::python {

namespace nb = nanobind;
using namespace nb::literals;

/// Returns the text as Python has it. Bytes that are no UTF-8 become U+FFFD, as in results that are JSON.
inline nb::str text_of(std::string_view text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}
inline nb::list texts_of(const std::vector<std::string>& texts) {
  nb::list all;
  for (const std::string& text : texts) all.append(text_of(text));
  return all;
}

/// Does run_apart() without the interpreter's lock, which the caller holds. Meanwhile Python handles its
/// signals, and `show`, unless it is None, is called with the name, done, total and unit of the step that is
/// under way. Also throws what a handler or `show` throws, such as KeyboardInterrupt. Returns its notes.
std::vector<std::string> run_unlocked(const std::function<void(const Progress& progress)>& work,
                                      const nb::object& show = nb::none());

// Each adds a part of the library to the module.
void bind_graph(nb::module_& module);
void bind_kernels(nb::module_& module);

}  // namespace edgewire::python
