#include "launch/pmix_rendezvous.h"
#include "options/jobs.h"

#ifdef EDGEWIRE_WITH_PMIX

#include <dlfcn.h>
#include <fmt/core.h>
#include <pmix.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <sstream>
#include <thread>

namespace edgewire::launch {
namespace {

/// The functions of libpmix that this file calls.
struct Library {
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Fence) fence;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Error_string) error_string;

  Library() {
    // It is never closed: threads of the library may outlive their use.
    void* handle = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw PmixError(fmt::format("{} (apt-get install libpmix2)", dlerror()));
    const auto load = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      if (function == nullptr) throw PmixError(fmt::format("libpmix.so.2 has no {}", name));
    };
    load(init, "PMIx_Init");
    load(finalize, "PMIx_Finalize");
    load(put, "PMIx_Put");
    load(commit, "PMIx_Commit");
    load(fence, "PMIx_Fence");
    load(get, "PMIx_Get");
    load(error_string, "PMIx_Error_string");
  }
};

struct FreeValue {
  void operator()(pmix_value_t* value) const {
    if (value->type == PMIX_STRING) std::free(value->data.string);
    if (value->type == PMIX_BYTE_OBJECT) std::free(value->data.bo.bytes);
    std::free(value);
  }
};
using Value = std::unique_ptr<pmix_value_t, FreeValue>;

/// A session with the library, from PMIx_Init to PMIx_Finalize.
class Session {
 public:
  Session() { check(library_.init(&self_, nullptr, 0), "no answer from the launcher"); }
  ~Session() { library_.finalize(nullptr, 0); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  PmixPlace place() {
    PmixPlace place;
    place.rank = static_cast<int>(self_.rank);
    const Value size = get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_UINT32);
    place.size = static_cast<int>(size->data.uint32);
    const Value peers = get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, PMIX_STRING);
    std::istringstream words(peers->data.string);
    for (std::string word; std::getline(words, word, ',');) place.node_ranks.push_back(std::stoi(word));
    std::ranges::sort(place.node_ranks);
    if (!std::ranges::binary_search(place.node_ranks, place.rank))
      throw PmixError(
          fmt::format("PMIx: rank {} is not on its own node ({})", place.rank, peers->data.string));
    return place;
  }

  /// Exchanges messages. `key` differs in each round, since a launcher keeps what it was told.
  /// `others_are_missing` is true while this process waits for them.
  std::vector<std::string> exchange(const std::string& key, const std::string& mine, int size,
                                    std::atomic<bool>& others_are_missing) {
    pmix_value_t value{};
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo = {const_cast<char*>(mine.data()), mine.size()};  // put copies it
    check(library_.put(PMIX_GLOBAL, key.c_str(), &value), "cannot tell the others");
    check(library_.commit(), "cannot tell the others");
    pmix_info_t collect{};
    std::strncpy(collect.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
    collect.value.type = PMIX_BOOL;
    collect.value.data.flag = true;
    pmix_proc_t all = self_;
    all.rank = PMIX_RANK_WILDCARD;
    others_are_missing = true;
    if (const pmix_status_t status = library_.fence(&all, 1, &collect, 1); status != PMIX_SUCCESS)
      throw Error(
          fmt::format("not all processes have connected: one has died ({})", library_.error_string(status)));
    others_are_missing = false;
    std::vector<std::string> messages;
    for (int rank = 0; rank < size; ++rank) {
      const Value message = get(static_cast<pmix_rank_t>(rank), key.c_str(), PMIX_BYTE_OBJECT);
      messages.emplace_back(message->data.bo.bytes, message->data.bo.size);
    }
    return messages;
  }

 private:
  void check(pmix_status_t status, const char* what) const {
    if (status != PMIX_SUCCESS)
      throw PmixError(fmt::format("PMIx: {} ({})", what, library_.error_string(status)));
  }
  Value get(pmix_rank_t rank, const char* key, pmix_data_type_t type) const {
    pmix_proc_t of = self_;
    of.rank = rank;
    pmix_value_t* raw = nullptr;
    const pmix_status_t status = library_.get(&of, key, nullptr, 0, &raw);
    Value value(raw);
    check(status, fmt::format("the launcher does not tell {}", key).c_str());
    if (value == nullptr || value->type != type)
      throw PmixError(fmt::format("PMIx: the launcher describes {} in an unexpected form", key));
    return value;
  }

  Library library_;
  pmix_proc_t self_{};
};

}  // namespace

PmixJob rendezvous_over_pmix(double timeout_s, std::uint64_t round,
                             std::function<std::string(const PmixPlace&)> message) {
  // This runs in a thread that can be left behind: the library has no time limits of its own.
  std::promise<PmixJob> promise;
  std::future<PmixJob> met = promise.get_future();
  const auto others_are_missing = std::make_shared<std::atomic<bool>>(false);
  std::thread thread(
      [promise = std::move(promise), message = std::move(message), others_are_missing, round]() mutable {
        try {
          PmixJob job;
          {
            Session session;
            job.place = session.place();
            if (job.place.size > 1)
              job.messages = session.exchange(fmt::format("edgewire-{}", round), message(job.place),
                                              job.place.size, *others_are_missing);
          }
          promise.set_value(std::move(job));
        } catch (...) {
          promise.set_exception(std::current_exception());
        }
      });
  if (met.wait_for(std::chrono::duration<double>(timeout_s)) == std::future_status::timeout) {
    thread.detach();
    if (*others_are_missing)
      throw Error(fmt::format(
          "not all processes have connected within {} s: one is stopped, or starts slowly ({} waits longer)",
          timeout_s, opt::start_timeout));
    throw PmixError(fmt::format("PMIx: no answer from the launcher within {} s", timeout_s));
  }
  thread.join();
  return met.get();
}

}  // namespace edgewire::launch

#else

namespace edgewire::launch {

PmixJob rendezvous_over_pmix(double, std::uint64_t, std::function<std::string(const PmixPlace&)>) {
  throw PmixError("this build has no PMIx (apt-get install libpmix-dev, then build again)");
}

}  // namespace edgewire::launch

#endif
