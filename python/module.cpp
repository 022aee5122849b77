// The extension module edgewire._edgewire: graphs and kernels as the package's Python code calls them.
#include <unistd.h>

#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "edgewire/error.h"
#include "options/option.h"
#include "python/bindings.h"

namespace edgewire::python {

namespace {

std::atomic<bool> ending{false};  // Python ends; its daemon threads still run
std::atomic<int> calls{0};        // that are under way
std::atomic<int> taking{0};       // threads that take or have the interpreter's lock within a call

/// Lives as long as its thread takes or has the lock. It keeps a daemon thread from taking the lock of an
/// interpreter that ends: that would end the thread within destructors, and so the process by an abort. The
/// thread then ends with the process, and its call with it.
class Taking {
 public:
  Taking() {
    ++taking;
    if (!ending || gettid() == getpid()) return;
    --taking;
    while (true) pause();
  }
  ~Taking() { --taking; }
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;
};

/// The interpreter's lock is free as long as this lives.
class Unlocked {
 public:
  Unlocked() : release_(std::in_place) { ++calls; }
  ~Unlocked() {
    const Taking lock;
    release_.reset();
    --calls;
  }

 private:
  std::optional<nb::gil_scoped_release> release_;
};

/// Is called when Python's main thread has come to its end, before it frees what it has.
void note_end() {
  ending = true;
  {
    const nb::gil_scoped_release release;
    for (int i = 0; i < 1000 && taking > 0; ++i) usleep(1000);  // unless one stays in a function of the user
  }
  if (calls > 0) nb::set_leak_warnings(false);  // calls that do not come back keep their arguments
}

/// Adds a kind of errors, whose text may quote a file in which not all is UTF-8.
template <class Kind>
nb::object add_error(nb::module_& m, const char* name, nb::handle base) {
  const nb::exception<Kind> type(m, name, base);
  const auto translate = [](const std::exception_ptr& thrown, void* raised) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Kind& error) {
      PyErr_SetObject(static_cast<PyObject*>(raised), text_of(error.what()).ptr());
    }
  };
  nb::register_exception_translator(translate, type.ptr());
  return type;
}

}  // namespace

std::vector<std::string> run_unlocked(const std::function<void(const Progress&)>& work,
                                      const nb::object& show) {
  const Unlocked unlocked;
  return run_apart(work, [&show](const ToldStep& step) {
    const Taking lock;
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!show.is_none() && step.name != nullptr) show(step.name, step.done, step.total, step.unit);
  });
}

}  // namespace edgewire::python

NB_MODULE(_edgewire, m) {
  using namespace edgewire;
  m.attr("__version__") = EDGEWIRE_VERSION;
  options::speak(options::Face::python);
  const auto error = python::add_error<Error>(m, "Error", PyExc_Exception);
  python::add_error<UsageError>(m, "UsageError", error);
  python::bind_graph(m);
  python::bind_kernels(m);
  python::nb::module_::import_("atexit").attr("register")(python::nb::cpp_function(&python::note_end));
}
