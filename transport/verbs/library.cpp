#include "transport/verbs/library.h"

namespace edgewire::transport::verbs {
namespace {

Library load() {
  void* handle = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error("libibverbs.so.1 is not installed (apt-get install libibverbs1 ibverbs-providers)");
  Library found;
  const auto find = [&](const char* name, auto& function) {
    find_function(handle, "libibverbs.so.1", name, function);
  };
  find("ibv_get_device_list", found.get_device_list);
  find("ibv_free_device_list", found.free_device_list);
  find("ibv_get_device_name", found.get_device_name);
  find("ibv_open_device", found.open_device);
  find("ibv_close_device", found.close_device);
  find("ibv_query_device", found.query_device);
  find("ibv_query_port", found.query_port);
  find("ibv_alloc_pd", found.alloc_pd);
  find("ibv_dealloc_pd", found.dealloc_pd);
  find("ibv_reg_mr_iova2", found.reg_mr_iova2);
  find("ibv_dereg_mr", found.dereg_mr);
  find("ibv_create_comp_channel", found.create_comp_channel);
  find("ibv_destroy_comp_channel", found.destroy_comp_channel);
  find("ibv_create_cq", found.create_cq);
  find("ibv_destroy_cq", found.destroy_cq);
  find("ibv_get_cq_event", found.get_cq_event);
  find("ibv_ack_cq_events", found.ack_cq_events);
  find("ibv_create_qp", found.create_qp);
  find("ibv_modify_qp", found.modify_qp);
  find("ibv_destroy_qp", found.destroy_qp);
  find("ibv_get_async_event", found.get_async_event);
  find("ibv_ack_async_event", found.ack_async_event);
  find("ibv_wc_status_str", found.wc_status_str);
  find("ibv_event_type_str", found.event_type_str);
  find("_ibv_query_gid_table", found.query_gid_table);
  return found;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

}  // namespace edgewire::transport::verbs
