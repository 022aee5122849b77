#pragma once

#include <infiniband/verbs.h>

#include <memory>

namespace edgewire::transport::verbs {

/// The functions of libibverbs that this backend calls, found when they are first needed, so that the program
/// runs where the library is absent. What is called per message (post, poll) are inline functions of the
/// header.
struct Library {
#define EDGEWIRE_IBV_FUNCTIONS(each)                                                                        \
  each(get_device_list) each(free_device_list) each(get_device_name) each(open_device) each(close_device)   \
      each(query_device) each(query_port) each(alloc_pd) each(dealloc_pd) each(reg_mr_iova2) each(dereg_mr) \
          each(create_comp_channel) each(destroy_comp_channel) each(create_cq) each(destroy_cq)             \
              each(get_cq_event) each(ack_cq_events) each(create_qp) each(modify_qp) each(destroy_qp)       \
                  each(get_async_event) each(ack_async_event) each(wc_status_str) each(event_type_str)
#define EDGEWIRE_IBV_POINTER(name) decltype(&::ibv_##name) name = nullptr;
  EDGEWIRE_IBV_FUNCTIONS(EDGEWIRE_IBV_POINTER)
#undef EDGEWIRE_IBV_POINTER
  decltype(&::_ibv_query_gid_table) query_gid_table = nullptr;
};

/// Throws Error that says how to install it.
const Library& library();

/// A resource of the library; its deleter is the library's own function.
template <class T>
using Owned = std::unique_ptr<T, int (*)(T*)>;

}  // namespace edgewire::transport::verbs
