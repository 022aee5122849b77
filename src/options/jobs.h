// Options of all jobs: their processes, transports and reports.
#pragma once

#include "options/option.h"

// clang-format off
namespace edgewire::opt {

/// The bounds of time limits for waiting, in seconds. Shorter ones are over before a message can come.
inline constexpr double kLeastTimeoutS = 0.001, kMostTimeoutS = 1e6;

// Processes.
inline constexpr Option processes{.name = "processes", .cpp = "LaunchOptions::processes",
    .python = "processes", .letter = 'p', .scope = Scope::process, .least = 1, .most = 1024,
    .other_names = "-n -np --np --ranks --nprocs", .help = "start this many processes on this machine"};
inline constexpr Option local_hosts{.name = "local-hosts", .cpp = "LaunchOptions::local_hosts",
    .scope = Scope::process,
    .help = "give each process a host of its own: a network namespace of this machine (needs root)"};
inline constexpr Option rate{.name = "rate", .cpp = "LaunchOptions::link_bits_per_s", .scope = Scope::process,
    .value_name = "RATE",
    .help = "shape the links of --local-hosts to this line rate in bit/s, such as 1G; by default they are "
            "not shaped"};
inline constexpr Option hosts{.name = "hosts", .cpp = "LaunchOptions::hosts_file", .scope = Scope::process,
    .other_names = "--hostfile --machinefile",
    .help = "run on the hosts of this list: line i is address[:port] of rank i"};
inline constexpr Option rank{.name = "rank", .cpp = "LaunchOptions::rank", .scope = Scope::process,
    .least = 0, .most = 1e6, .help = "this process has this line of the host list, counted from 0"};
inline constexpr Option secret_file{.name = "secret-file", .cpp = "LaunchOptions::secret_file",
    .scope = Scope::process,
    .help = "read the secret that the processes of a host list share from this file"};
inline constexpr Option port{.name = "port", .cpp = "LaunchOptions::port", .scope = Scope::process,
    .least = 1, .most = 65535, .help = "use this TCP port where the host list names none"};
inline constexpr Option peer_timeout{.name = "peer-timeout", .cpp = "LaunchOptions::peer_timeout_s",
    .python = "peer_timeout", .scope = Scope::process, .least = kLeastTimeoutS, .most = kMostTimeoutS,
    .other_names = "--timeout", .help = "give up a process that has been silent for this many seconds"};
inline constexpr Option start_timeout{.name = "start-timeout", .cpp = "LaunchOptions::start_timeout_s",
    .scope = Scope::process, .least = kLeastTimeoutS, .most = kMostTimeoutS,
    .help = "wait this many seconds for all processes of a host list or launcher to start"};
inline constexpr Option launcher{.name = "launcher", .cpp = "LaunchOptions::join_launcher",
    .scope = Scope::process, .words = "auto|none",
    .help = "auto joins the processes that srun or mpirun started; none does not"};
inline constexpr Option interface{.name = "interface", .cpp = "LaunchOptions::interface",
    .scope = Scope::process,
    .help = "use this network interface, or network such as 10.0.0.0/24, between hosts; of several (a,b) "
            "each process of a host takes one near its cores"};
inline constexpr Option workers{.name = "workers", .cpp = "JobOptions::workers", .python = "workers",
    .letter = 'w', .scope = Scope::process, .least = 1, .most = 1024,
    .other_names = "-t -j --threads --nthreads --num-threads",
    .help = "this many workers (threads) in each process; by default one for each core, shared out among the "
            "processes of a host"};
inline constexpr Option retry{.name = "retry", .cpp = "LaunchOptions::tolerates_losses", .flag = true,
    .help = "when a process other than rank 0 is lost, run its tasks again in the others"};

// Transports.
inline constexpr Option transport{.name = "transport", .cpp = "JobOptions::transport", .python = "transport",
    .words = "auto|shm|tcp|shm+tcp|verbs|shm+verbs|dpdk",
    .help = "send by shared memory (shm), TCP, RDMA (verbs) or Ethernet frames (dpdk); auto takes shm inside "
            "a host and the fastest that all hosts have between hosts"};
inline constexpr Option integrity{.name = "integrity", .cpp = "JobOptions::integrity", .python = "integrity",
    .words = "on|off",
    .help = "check all that arrives over TCP by a CRC-32C, and end the run when bytes were changed on their "
            "way; off saves some time. Messages that control the run are always checked"};
inline constexpr Option verbs_device{.name = "verbs-device", .cpp = "JobOptions::verbs_device",
    .scope = Scope::process,
    .help = "use this RDMA device, NAME[:PORT[:GID_INDEX]], or several (a,b) that share the workers' "
            "traffic; by default the nearest one, and RoCE v2"};
inline constexpr Option verbs_traffic_class{.name = "verbs-traffic-class", .least = 0, .most = 255,
    .help = "mark RoCE packets with this traffic class (DSCP times 4), by which switches choose a queue"};
inline constexpr Option verbs_memory{.name = "verbs-memory", .scope = Scope::process,
    .words = "auto|pinned|on-demand",
    .help = "pin memory for the card, or let the card page it in (on-demand); auto pins, and pages in where "
            "pinning fails"};
inline constexpr Option verbs_progress{.name = "verbs-progress", .scope = Scope::process,
    .words = "worker|thread",
    .help = "let the workers take completions while they wait, or a thread of its own, on a spare core where "
            "there is one"};
inline constexpr Option dpdk_port{.name = "dpdk-port", .cpp = "JobOptions::dpdk_port",
    .scope = Scope::process,
    .help = "use this port: a PCI address[,mtu=BYTES], or a virtual device such as "
            "net_af_packet0,iface=eth0; several processes of a host need a list, divided by ;"};
inline constexpr Option dpdk_udp{.name = "dpdk-udp", .scope = Scope::process,
    .help = "put frames into IPv4 and UDP, so that they pass routers and are spread over queues, from this "
            "address: ADDRESS[/PREFIX][@MAC of the gateway], auto, or a list"};
inline constexpr Option dpdk_args{.name = "dpdk-args", .cpp = "JobOptions::dpdk_args",
    .scope = Scope::process, .help = "hand these arguments to DPDK (EAL), all in one word"};
inline constexpr Option dpdk_rate{.name = "dpdk-rate", .scope = Scope::process, .value_name = "RATE",
    .help = "send no faster than this many bit/s, such as 10G; by default as fast as the port's link"};
inline constexpr Option dpdk_faults{.name = "dpdk-faults", .scope = Scope::process};  // for tests

// Reports.
inline constexpr Option json{.name = "json", .cpp = "Report::json", .python = "report",
    .scope = Scope::first};
inline constexpr Option quiet{.name = "quiet", .flag = true, .letter = 'q', .scope = Scope::first,
    .help = "print nothing but outputs that go to stdout, and on stderr only errors"};
inline constexpr Option profile{.name = "profile", .cpp = "JobOptions::profile", .python = "profile",
    .flag = true, .scope = Scope::first, .part = Part::tools,
    .help = "say where the time went, and what limited the run"};
inline constexpr Option profile_page{.name = "profile-page", .scope = Scope::first,
    .help = "say the same on an HTML page with charts, in this file"};
inline constexpr Option trace{.name = "trace", .scope = Scope::first,
    .help = "write what workers and chunks did to this file, as JSON for trace viewers (Chrome, Perfetto); "
            ".json.gz is compressed"};
inline constexpr Option sample_interval{.name = "sample-interval", .scope = Scope::first, .least = 0.01,
    .most = 3600, .help = "look at the machine every so many seconds"};

}  // namespace edgewire::opt
