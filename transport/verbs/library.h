#pragma once

#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <memory>
#include <string>

#include "base/error.h"

namespace edgewire::transport::verbs {

/// The functions of libibverbs that this backend calls, found when they are first needed, so that the program
/// runs where the library is absent. What is called per message (post, poll) are inline functions of the
/// header.
struct Library {
  decltype(&::ibv_get_device_list) get_device_list = nullptr;
  decltype(&::ibv_free_device_list) free_device_list = nullptr;
  decltype(&::ibv_get_device_name) get_device_name = nullptr;
  decltype(&::ibv_open_device) open_device = nullptr;
  decltype(&::ibv_close_device) close_device = nullptr;
  decltype(&::ibv_query_device) query_device = nullptr;
  decltype(&::ibv_query_port) query_port = nullptr;
  decltype(&::ibv_alloc_pd) alloc_pd = nullptr;
  decltype(&::ibv_dealloc_pd) dealloc_pd = nullptr;
  decltype(&::ibv_reg_mr_iova2) reg_mr_iova2 = nullptr;
  decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
  decltype(&::ibv_create_comp_channel) create_comp_channel = nullptr;
  decltype(&::ibv_destroy_comp_channel) destroy_comp_channel = nullptr;
  decltype(&::ibv_create_cq) create_cq = nullptr;
  decltype(&::ibv_destroy_cq) destroy_cq = nullptr;
  decltype(&::ibv_get_cq_event) get_cq_event = nullptr;
  decltype(&::ibv_ack_cq_events) ack_cq_events = nullptr;
  decltype(&::ibv_create_qp) create_qp = nullptr;
  decltype(&::ibv_modify_qp) modify_qp = nullptr;
  decltype(&::ibv_destroy_qp) destroy_qp = nullptr;
  decltype(&::ibv_get_async_event) get_async_event = nullptr;
  decltype(&::ibv_ack_async_event) ack_async_event = nullptr;
  decltype(&::ibv_wc_status_str) wc_status_str = nullptr;
  decltype(&::ibv_event_type_str) event_type_str = nullptr;
  decltype(&::_ibv_query_gid_table) query_gid_table = nullptr;
};

/// A function of a loaded library. Throws Error.
template <class Function>
void find_function(void* handle, const char* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr)
    throw Error(std::string(library) + " has no " + name + ": it is older than rdma-core 33");
}

/// Throws Error that says how to install it.
const Library& library();

/// A resource of the library; its deleter is the library's own function.
template <class T>
using Owned = std::unique_ptr<T, int (*)(T*)>;

}  // namespace edgewire::transport::verbs
