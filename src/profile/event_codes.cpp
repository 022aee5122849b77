// This file has the numbers by which the kernel counts an event on this processor.
#include <linux/perf_event.h>
#ifdef EDGEWIRE_PFM
#include <perfmon/pfmlib_perf_event.h>
#endif

#include "profile/counters.h"

namespace edgewire::profile {

namespace {

constexpr std::uint64_t reads(std::uint64_t which, std::uint64_t result) {
  return which | PERF_COUNT_HW_CACHE_OP_READ << 8U | result << 16U;
}
constexpr std::uint64_t kSeen = PERF_COUNT_HW_CACHE_RESULT_ACCESS, kMissed = PERF_COUNT_HW_CACHE_RESULT_MISS;

/// The makers of processors that give generic events a meaning of their own.
enum class Maker : std::uint8_t { any, amd, arm, other };

struct Generic {
  Event event;
  std::uint32_t type;
  std::uint64_t config;
  Maker maker = Maker::any;  ///< maker; elsewhere the event is that of an inner cache or TLB
};
constexpr Generic kGeneric[] = {
    {Event::cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {Event::instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {Event::stalled_frontend, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {Event::stalled_backend, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {Event::llc_references, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, Maker::other},
    {Event::llc_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, Maker::other},
    {Event::llc_references, PERF_TYPE_HW_CACHE, reads(PERF_COUNT_HW_CACHE_LL, kSeen), Maker::arm},
    {Event::llc_misses, PERF_TYPE_HW_CACHE, reads(PERF_COUNT_HW_CACHE_LL, kMissed), Maker::arm},
    {Event::dtlb_misses, PERF_TYPE_HW_CACHE, reads(PERF_COUNT_HW_CACHE_DTLB, kMissed), Maker::other},
    {Event::remote_reads, PERF_TYPE_HW_CACHE, reads(PERF_COUNT_HW_CACHE_NODE, kMissed)},
    {Event::task_clock_ns, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {Event::page_faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {Event::context_switches, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {Event::migrations, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

Maker maker() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_is("amd") != 0 ? Maker::amd : Maker::other;
#elif defined(__aarch64__)
  return Maker::arm;
#else
  return Maker::other;
#endif
}

#ifdef EDGEWIRE_PFM
/// The names of an event on one family of processors after another; libpfm4 knows only those of the family at
/// hand. AMD counts lines that come into the first-level cache by their origin; those that the second level
/// has fetched ahead are not seen.
struct Named {
  Event event;
  const char* name;
};
constexpr Named kNamed[] = {
    // These are for Skylake and later; Ivy Bridge to Broadwell; Zen 4; Zen to Zen 3, which see full queues
    // only.
    {Event::stalled_backend, "CYCLE_ACTIVITY:STALLS_TOTAL"},
    {Event::stalled_backend, "CYCLE_ACTIVITY:CYCLES_NO_EXECUTE"},
    {Event::stalled_backend, "CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU"},
    {Event::stalled_backend,
     "DISPATCH_RESOURCE_STALL_CYCLES_1:INT_PHY_REG_FILE_RSRC_STALL:LOAD_QUEUE_RSRC_STALL:"
     "STORE_QUEUE_RSRC_STALL"},
    // These are for Zen 4, 3, 2.
    {Event::llc_references,
     "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX:NEAR_CACHE_NEAR_FAR:FAR_CACHE_NEAR_FAR:DRAM_IO_NEAR:"
     "DRAM_IO_FAR"},
    {Event::llc_references,
     "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE:EXT_CACHE_LCL:EXT_CACHE_RMT:MEM_IO_LCL:MEM_IO_RMT"},
    {Event::llc_references,
     "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_CACHE:LS_MABRESP_RMT_CACHE:LS_MABRESP_LCL_DRAM:"
     "LS_MABRESP_RMT_DRAM"},
    {Event::llc_misses, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR"},
    {Event::llc_misses, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT"},
    {Event::llc_misses, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_DRAM"},
    // These count walks of the page table, on Intel and on Zen.
    {Event::dtlb_misses, "DTLB_LOAD_MISSES:WALK_COMPLETED"},
    {Event::dtlb_misses,
     "L1_DTLB_MISS:TLB_RELOAD_1G_L2_MISS:TLB_RELOAD_2M_L2_MISS:TLB_RELOAD_COALESCED_PAGE_MISS:"
     "TLB_RELOAD_4K_L2_MISS"},
    // These are for Xeons from Skylake on, and before; Zen 4, 3, 2.
    {Event::remote_reads, "MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM"},
    {Event::remote_reads, "MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_DRAM"},
    {Event::remote_reads, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:FAR_CACHE_NEAR_FAR:DRAM_IO_FAR"},
    {Event::remote_reads, "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:EXT_CACHE_RMT:MEM_IO_RMT"},
    {Event::remote_reads, "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_RMT_CACHE:LS_MABRESP_RMT_DRAM"},
    // These are for Neoverse.
    {Event::llc_references, "LL_CACHE_RD"},
    {Event::llc_misses, "LL_CACHE_MISS_RD"},
    {Event::dtlb_misses, "DTLB_WALK"},
    {Event::remote_reads, "REMOTE_ACCESS"},
};

void add_named(EventCodes& codes) {
  if (pfm_initialize() != PFM_SUCCESS) return;
  for (const auto& [event, name] : kNamed) {
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    pfm_perf_encode_arg_t argument{};
    argument.attr = &attr;
    argument.size = sizeof(argument);
    if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument) == PFM_SUCCESS)
      codes[static_cast<std::size_t>(event)].push_back({attr.type, attr.config, attr.config1});
  }
  pfm_terminate();
}
#else
void add_named(EventCodes&) {}
#endif

}  // namespace

EventCodes find_event_codes() {
  EventCodes codes;
  add_named(codes);
  for (const auto& one : kGeneric) {
    if (one.maker == Maker::any || one.maker == maker())
      codes[static_cast<std::size_t>(one.event)].push_back({one.type, one.config, 0});
  }
  return codes;
}

}  // namespace edgewire::profile
