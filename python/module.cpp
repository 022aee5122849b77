// The extension module edgewire._edgewire: graphs and kernels as the package's Python code calls them.
#include "edgewire/error.h"
#include "python/bindings.h"

namespace edgewire::python {

Wait waiter(const nb::object& show) {
  return [&show](const ToldStep& step) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!show.is_none() && step.name != nullptr) show(step.name, step.done, step.total, step.unit);
  };
}

}  // namespace edgewire::python

NB_MODULE(_edgewire, m) {
  using namespace edgewire;
  m.attr("__version__") = EDGEWIRE_VERSION;
  const auto error = python::nb::exception<Error>(m, "Error");
  python::nb::exception<UsageError>(m, "UsageError", error.ptr());
  python::bind_graph(m);
  python::bind_kernels(m);
}
