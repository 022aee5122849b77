// All options that messages name, ordered by the jobs and kernels that have them. An option that several of
// them have stands here once, where it means the same in all of them.
#pragma once

#include "options/option.h"

namespace edgewire::opt {

using options::Option;

// Of jobs: where their processes are, and how they find each other.
inline constexpr Option processes{"processes", "LaunchOptions::processes", "processes"};
inline constexpr Option local_hosts{"local-hosts", "LaunchOptions::local_hosts"};
inline constexpr Option rate{"rate", "LaunchOptions::link_bits_per_s"};
inline constexpr Option hosts{"hosts", "LaunchOptions::hosts_file"};
inline constexpr Option rank{"rank", "LaunchOptions::rank"};
inline constexpr Option secret_file{"secret-file", "LaunchOptions::secret_file"};
inline constexpr Option port{"port", "LaunchOptions::port"};
inline constexpr Option peer_timeout{"peer-timeout", "LaunchOptions::peer_timeout_s", "peer_timeout"};
inline constexpr Option start_timeout{"start-timeout", "LaunchOptions::start_timeout_s"};
inline constexpr Option launcher{"launcher", "LaunchOptions::launcher"};
inline constexpr Option interface { "interface", "LaunchOptions::interface" };

// Of jobs: workers, and what they send by.
inline constexpr Option workers{"workers", "JobOptions::workers", "workers"};
inline constexpr Option transport{"transport", "JobOptions::transport", "transport"};
inline constexpr Option integrity{"integrity", "JobOptions::integrity"};
inline constexpr Option verbs_device{"verbs-device", "JobOptions::verbs_device"};
inline constexpr Option verbs_memory{"verbs-memory"};
inline constexpr Option verbs_traffic_class{"verbs-traffic-class"};
inline constexpr Option dpdk_port{"dpdk-port", "JobOptions::dpdk_port"};
inline constexpr Option dpdk_udp{"dpdk-udp"};
inline constexpr Option dpdk_args{"dpdk-args", "JobOptions::dpdk_args"};

// Of kernels on a graph.
inline constexpr Option ownership{"ownership", "JobOptions::ownership", "ownership"};
inline constexpr Option rows{"rows", "JobOptions::rows"};
inline constexpr Option weighted{.name = "weighted", .cpp = "weighted", .python = "weight", .flag = true};
inline constexpr Option edges_weighted{.name = "weighted", .cpp = "JobOptions::weighted", .flag = true};
inline constexpr Option deterministic{
    .name = "deterministic", .cpp = "deterministic", .python = "deterministic", .flag = true};
inline constexpr Option edges{"edges"};
inline constexpr Option devices{"devices", "JobOptions::disks"};
inline constexpr Option memory{"memory", "JobOptions::memory_bytes"};
inline constexpr Option strategy{"strategy", "JobOptions::strategy", "strategy"};
inline constexpr Option wire{"wire", "JobOptions::wire", "wire"};
inline constexpr Option precision{"precision", "JobOptions::wire", "wire"};
inline constexpr Option layout{"layout", "JobOptions::layout", "layout"};
inline constexpr Option order{"order", "JobOptions::order", "order"};
inline constexpr Option plan_cache{"plan-cache", "JobOptions::plan_cache"};
inline constexpr Option verify{
    .name = "verify", .cpp = "JobOptions::verify", .python = "verify", .flag = true};
inline constexpr Option profile{
    .name = "profile", .cpp = "JobOptions::profile", .python = "profile", .flag = true};
inline constexpr Option bound{.name = "bound", .cpp = "JobOptions::bound", .python = "bound", .flag = true};
inline constexpr Option json{"json", "Report::json", "report"};
inline constexpr Option verbose{"verbose"};
inline constexpr Option sample_interval{"sample-interval"};
inline constexpr Option resume{"resume"};
inline constexpr Option every{"every"};
inline constexpr Option iterations{"iterations", "iterations", "iterations"};
inline constexpr Option damping{"damping", "PageRankOptions::damping", "damping"};
inline constexpr Option tolerance{"tolerance", "PageRankOptions::tolerance", "tolerance"};
inline constexpr Option source{"source", "source", "source"};
inline constexpr Option parallel{"parallel"};
inline constexpr Option delta{"delta", "SsspOptions::delta", "delta"};
inline constexpr Option unit_weights{
    .name = "unit-weights", .cpp = "SsspOptions::unit_weights", .flag = true};
inline constexpr Option x{"x", "x", "x"};

// Of conversions.
inline constexpr Option format{"format", "ConvertOptions::format", "format"};
inline constexpr Option to{"to", "format"};
inline constexpr Option columns{.name = "columns",
                                .cpp = "ConvertOptions::columns",
                                .python = "src= and dst",
                                .in_python = &options::columns_in_python};
inline constexpr Option labels{
    .name = "labels", .cpp = "ConvertOptions::labels", .python = "labels", .flag = true};
inline constexpr Option vertices{"vertices", "ConvertOptions::vertices"};
inline constexpr Option keep_ids{
    .name = "keep-ids", .cpp = "ConvertOptions::keep_ids", .python = "keep_ids", .flag = true};
inline constexpr Option allow_empty{
    .name = "allow-empty", .cpp = "ConvertOptions::allow_empty", .flag = true};
inline constexpr Option no_weights{.name = "no-weights", .flag = true};
inline constexpr Option undirected{
    .name = "undirected", .cpp = "ConvertOptions::undirected", .python = "undirected", .flag = true};
inline constexpr Option simple{
    .name = "simple", .cpp = "ConvertOptions::simple", .python = "simple", .flag = true};
inline constexpr Option parts{.name = "parts", .flag = true};

// Of sort.
inline constexpr Option sort_memory{"memory", "SortOptions::memory_bytes"};
inline constexpr Option temp{"temp", "SortOptions::temp"};
inline constexpr Option record{"record", "SortOptions::record_bytes"};
inline constexpr Option key{"key", "SortOptions::key_offset"};
inline constexpr Option partitions{"partitions", "SortOptions::partitions"};

// Of synthetic graphs and records.
inline constexpr Option scale{"scale", "scale", "scale"};
inline constexpr Option keys{"keys"};
inline constexpr Option files{"files"};

// Of bounds.
inline constexpr Option threads{"threads", "BoundOptions::threads", "threads"};

// Of tests of links.
inline constexpr Option test{"test"};
inline constexpr Option sizes{"sizes"};
inline constexpr Option lanes{"lanes"};
inline constexpr Option seconds{"seconds"};

// Of tasks.
inline constexpr Option retry{.name = "retry", .flag = true};

}  // namespace edgewire::opt
