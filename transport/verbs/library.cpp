#include "transport/verbs/library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include "error.h"

namespace edgewire::transport::verbs {
namespace {

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr)
    throw Error(fmt::format("libibverbs.so.1 has no {}: it is older than rdma-core 33", name));
}

Library load() {
  void* handle = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error("libibverbs.so.1 is not installed (apt-get install libibverbs1 ibverbs-providers)");
  Library found;
  find(handle, "ibv_get_device_list", found.get_device_list);
  find(handle, "ibv_free_device_list", found.free_device_list);
  find(handle, "ibv_get_device_name", found.get_device_name);
  find(handle, "ibv_open_device", found.open_device);
  find(handle, "ibv_close_device", found.close_device);
  find(handle, "ibv_query_device", found.query_device);
  find(handle, "ibv_query_port", found.query_port);
  find(handle, "ibv_alloc_pd", found.alloc_pd);
  find(handle, "ibv_dealloc_pd", found.dealloc_pd);
  find(handle, "ibv_reg_mr_iova2", found.reg_mr_iova2);
  find(handle, "ibv_dereg_mr", found.dereg_mr);
  find(handle, "ibv_create_comp_channel", found.create_comp_channel);
  find(handle, "ibv_destroy_comp_channel", found.destroy_comp_channel);
  find(handle, "ibv_create_cq", found.create_cq);
  find(handle, "ibv_destroy_cq", found.destroy_cq);
  find(handle, "ibv_get_cq_event", found.get_cq_event);
  find(handle, "ibv_ack_cq_events", found.ack_cq_events);
  find(handle, "ibv_create_qp", found.create_qp);
  find(handle, "ibv_modify_qp", found.modify_qp);
  find(handle, "ibv_destroy_qp", found.destroy_qp);
  find(handle, "ibv_get_async_event", found.get_async_event);
  find(handle, "ibv_ack_async_event", found.ack_async_event);
  find(handle, "ibv_wc_status_str", found.wc_status_str);
  find(handle, "ibv_event_type_str", found.event_type_str);
  find(handle, "_ibv_query_gid_table", found.query_gid_table);
  return found;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

}  // namespace edgewire::transport::verbs
