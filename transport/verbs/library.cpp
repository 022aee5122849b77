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
#define EDGEWIRE_IBV_FIND(name) find(handle, "ibv_" #name, found.name);
  EDGEWIRE_IBV_FUNCTIONS(EDGEWIRE_IBV_FIND)
#undef EDGEWIRE_IBV_FIND
  find(handle, "_ibv_query_gid_table", found.query_gid_table);
  return found;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

}  // namespace edgewire::transport::verbs
