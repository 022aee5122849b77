#pragma once

#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <memory>
#include <string>

#include "base/error.h"

namespace edgewire::transport::verbs {

/// A shared library that is loaded when it is first needed, so that the program runs where it is absent.
class SharedLibrary {
 public:
  /// A function of the library. It becomes a pointer of the type that it initializes.
  struct Function {
    void* address;
    template <class Type>
    operator Type*() const noexcept {
      return reinterpret_cast<Type*>(address);
    }
  };

  /// Loads the library. Throws Error with the line `missing` when it is not installed.
  SharedLibrary(const char* name, const char* missing)
      : name_(name), handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw Error(missing);
  }
  /// Returns a function. Throws Error when the library has no such function.
  Function operator[](const char* function) const {
    if (void* const address = dlsym(handle_, function); address != nullptr) return {address};
    throw Error(std::string(name_) + " has no " + function + ": it is older than rdma-core 33");
  }

 private:
  const char* name_;
  void* handle_;
};

/// The functions of libibverbs that this backend calls. Those per message (post, poll) are inline functions.
struct Library {
  SharedLibrary from{"libibverbs.so.1",
                     "libibverbs.so.1 is not installed (apt-get install libibverbs1 ibverbs-providers)"};
  decltype(&::ibv_get_device_list) get_device_list = from["ibv_get_device_list"];
  decltype(&::ibv_free_device_list) free_device_list = from["ibv_free_device_list"];
  decltype(&::ibv_get_device_name) get_device_name = from["ibv_get_device_name"];
  decltype(&::ibv_open_device) open_device = from["ibv_open_device"];
  decltype(&::ibv_close_device) close_device = from["ibv_close_device"];
  decltype(&::ibv_query_device) query_device = from["ibv_query_device"];
  decltype(&::ibv_query_port) query_port = from["ibv_query_port"];
  decltype(&::ibv_alloc_pd) alloc_pd = from["ibv_alloc_pd"];
  decltype(&::ibv_dealloc_pd) dealloc_pd = from["ibv_dealloc_pd"];
  decltype(&::ibv_reg_mr_iova2) reg_mr_iova2 = from["ibv_reg_mr_iova2"];
  decltype(&::ibv_dereg_mr) dereg_mr = from["ibv_dereg_mr"];
  decltype(&::ibv_create_comp_channel) create_comp_channel = from["ibv_create_comp_channel"];
  decltype(&::ibv_destroy_comp_channel) destroy_comp_channel = from["ibv_destroy_comp_channel"];
  decltype(&::ibv_create_cq) create_cq = from["ibv_create_cq"];
  decltype(&::ibv_destroy_cq) destroy_cq = from["ibv_destroy_cq"];
  decltype(&::ibv_get_cq_event) get_cq_event = from["ibv_get_cq_event"];
  decltype(&::ibv_ack_cq_events) ack_cq_events = from["ibv_ack_cq_events"];
  decltype(&::ibv_create_qp) create_qp = from["ibv_create_qp"];
  decltype(&::ibv_modify_qp) modify_qp = from["ibv_modify_qp"];
  decltype(&::ibv_destroy_qp) destroy_qp = from["ibv_destroy_qp"];
  decltype(&::ibv_get_async_event) get_async_event = from["ibv_get_async_event"];
  decltype(&::ibv_ack_async_event) ack_async_event = from["ibv_ack_async_event"];
  decltype(&::ibv_wc_status_str) wc_status_str = from["ibv_wc_status_str"];
  decltype(&::ibv_event_type_str) event_type_str = from["ibv_event_type_str"];
  decltype(&::_ibv_query_gid_table) query_gid_table = from["_ibv_query_gid_table"];
};

/// Returns the library. Throws Error that says how to install it.
inline const Library& library() {
  static const Library loaded;
  return loaded;
}

/// A resource of the library; its deleter is the library's own function.
template <class T>
using Owned = std::unique_ptr<T, int (*)(T*)>;

}  // namespace edgewire::transport::verbs
