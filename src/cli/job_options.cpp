#include "cli/job_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "error.h"
#include "topology/machine.h"
#include "topology/placement.h"

namespace edgewire::cli {

CLI::Validator between(double least, double most) {
  return {[least, most](std::string& text) {
            double value = 0;
            const bool is_number = CLI::detail::lexical_cast(text, value);
            return is_number && value >= least && value <= most
                       ? std::string()
                       : fmt::format("{} is not a number from {} to {}", text, least, most);
          },
          fmt::format("{} to {}", least, most)};
}

void add_launch_options(CLI::App& command, launch::LaunchOptions& launch) {
  command.add_option("-p,--processes", launch.processes, "processes to start on this machine")
      ->capture_default_str();
  command.add_flag("--local-hosts", launch.local_hosts,
                   "each process on a host of its own: a network namespace of this machine (root)");
  command
      .add_option_function<std::string>(
          "--rate",
          [&launch](const std::string& text) { launch.link_bits_per_s = plan::line_rate_bits(text); },
          "line rate of the links of --local-hosts, as 1G; not shaped by default")
      ->type_name("RATE");
  command.add_option("--hosts", launch.hosts_file, "host list: line i is address[:port] of rank i");
  command.add_option("--rank", launch.rank, "this process's line in the host list, from 0");
  command.add_option("--secret-file", launch.secret_file, "secret shared by the processes of a host list");
  command.add_option("--port", launch.port, "port of host-list lines that name none")
      ->check(CLI::Range(1, 65535));
  command.add_option("--peer-timeout", launch.peer_timeout_s, "seconds after which a silent peer is lost")
      ->check(between(0.1, 86400))
      ->capture_default_str();
  command
      .add_option("--start-timeout", launch.start_timeout_s,
                  "seconds within which all processes of a host list or launcher must have started")
      ->check(between(0.1, 86400))
      ->capture_default_str();
  command
      .add_option("--launcher", launch.launcher,
                  "auto: join the processes that srun or mpirun started; none: do not")
      ->check(CLI::IsMember({"auto", "none"}))
      ->capture_default_str();
  command.add_option(
      "--interface", launch.interface,
      "of a host list or launcher: the network interface, or network (10.0.0.0/24), to use between hosts; "
      "of several (a,b) each process of a host takes one that is near its cores");
}

void add_transport_option(CLI::App& command, std::string& transport) {
  command.add_option("--transport", transport, "auto, shm, tcp, verbs or dpdk")
      ->check(CLI::IsMember({"auto", "shm", "tcp", "verbs", "dpdk"}))
      ->capture_default_str();
}

void add_verbs_options(CLI::App& command, transport::VerbsChoice& verbs) {
  command.add_option(
      "--verbs-device", verbs.device,
      "RDMA device NAME[:PORT[:GID_INDEX]], or several (a,b) that share the workers' traffic; by "
      "default the nearest, and RoCE v2");
  command
      .add_option("--verbs-traffic-class", verbs.traffic_class,
                  "traffic class of RoCE packets (DSCP times 4), by which switches choose a queue")
      ->check(CLI::Range(0, 255));
  command
      .add_option("--verbs-memory", verbs.memory,
                  "pinned, on-demand (the card pages it in), or auto: on-demand where pinning fails")
      ->check(CLI::IsMember({"auto", "pinned", "on-demand"}))
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--verbs-progress", [&verbs](const std::string& who) { verbs.progress_thread = who == "thread"; },
          "who takes completions: the workers while they wait (worker), or a thread, on a spare core where "
          "there is one (thread)")
      ->check(CLI::IsMember({"worker", "thread"}))
      ->default_str("worker");
  command.add_flag("!--verbs-no-immediates", verbs.immediates)->group("");  // for tests
}

void add_dpdk_options(CLI::App& command, transport::DpdkChoice& dpdk) {
  command.add_option("--dpdk-port", dpdk.port,
                     "port of dpdk: PCI address[,mtu=BYTES], or virtual device as net_af_packet0,iface=eth0; "
                     "several processes of a host take theirs from a list, divided by ;");
  command.add_option(
      "--dpdk-udp", dpdk.udp,
      "frames in IPv4 and UDP, which pass routers and are spread over queues, from this address: "
      "ADDRESS[/PREFIX][@MAC of the gateway] or auto; likewise a list");
  command.add_option("--dpdk-args", dpdk.args, "more arguments for DPDK's environment (EAL), in one word");
  command
      .add_option_function<std::string>(
          "--dpdk-rate", [&dpdk](const std::string& text) { dpdk.bits_per_s = plan::line_rate_bits(text); },
          "send no faster than this, as 10G; by default as the port's link")
      ->type_name("RATE");
  command.add_option("--dpdk-faults", dpdk.faults)->group("");  // for tests
}

namespace {

bool on_one_host(const launch::Bootstrap& bootstrap) {
  const auto& nodes = bootstrap.nodes();
  return std::ranges::all_of(nodes, [&](int node) { return node == nodes[0]; });
}

}  // namespace

std::string card_offer(const std::string& transport, const transport::VerbsChoice& verbs, bool local_hosts,
                       const launch::Bootstrap& bootstrap, int node) {
  // The cards of this machine are not behind the links of its local hosts.
  if (on_one_host(bootstrap) || local_hosts) return {};
  if (transport != "auto" && (transport != "verbs" || !verbs.device.empty())) return {};
  std::vector<std::string> addresses;
  for (const auto& one : bootstrap.wanted_interfaces()) addresses.push_back(one.address);
  return transport::offer_cards(verbs, addresses, node).pack();
}

transport::Choice choose_transport(const std::string& transport, const transport::VerbsChoice& verbs,
                                   const launch::Bootstrap& bootstrap, std::span<const std::string> offers) {
  const bool one_host = on_one_host(bootstrap);
  if (transport == "shm" && !one_host)
    throw UsageError("--transport shm: the processes are on several hosts");
  if (one_host) return {transport == "auto" ? "shm" : transport, verbs.device};
  const auto& nodes = bootstrap.nodes();
  const bool one_each = std::set(nodes.begin(), nodes.end()).size() == nodes.size();
  transport::Choice plain{transport != "auto" ? transport : one_each ? "tcp" : "shm+tcp", verbs.device};
  std::vector<transport::CardOffer> cards;
  for (const std::string& offer : offers) {
    if (offer.empty()) return plain;  // there is nothing to choose, or not for all
    cards.push_back(transport::CardOffer::unpack(offer));
  }
  auto choice = transport::choose_network(cards, nodes, bootstrap.rank());
  if (transport == "auto") return choice;
  return {transport, choice.verbs_device};  // empty: verbs itself says what is wrong
}

void JobOptions::add_to(CLI::App& command) {
  command.add_option("graph", graph_path, "a graph file (.ew), as convert and generate write it")->required();
  add_launch_options(command, launch);
  command
      .add_option("-w,--workers", workers,
                  "workers (threads) of each process; by default the cores are shared out")
      ->check(CLI::Range(1, 1024));
  add_transport_option(command, transport);
  add_verbs_options(command, verbs);
  add_dpdk_options(command, dpdk);
  command.add_option("--strategy", strategy, "what is sent: auto, edge, worker, process, slots or cover")
      ->check(CLI::IsMember({"auto", "edge", "worker", "process", "slots", "cover"}))
      ->capture_default_str();
  command
      .add_option("--compute-rate", compute_rate,
                  "edges/s of a worker, for what is auto: cover when sending would take longer than "
                  "computing; measured by default")
      ->check(between(1, 1e15));
  command
      .add_option("--wire", encoding,
                  "how values travel: as they are (f32), or bf16, f16 or u16 with error feedback")
      ->check(CLI::IsMember({"f32", "bf16", "f16", "u16"}))
      ->capture_default_str();
  command.add_option("--precision", precision, "of messages along edges: f32 (4 bytes) or f64 (8 bytes)")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  command.add_flag("--weighted", weighted, "use the weights of the edges; by default all count the same");
  command
      .add_option("--ownership", ownership,
                  "who owns a vertex: hash, ranges, a partition file, or the best of them: auto or auto,FILE")
      ->capture_default_str();
  command
      .add_option("--layout", layout,
                  "order of a process's vertices: given, degree, or the faster one by a measurement: auto")
      ->check(CLI::IsMember({"auto", "given", "degree"}))
      ->capture_default_str();
  command.add_flag(fmt::format("--plan-cache{{{}}}", kBesideGraph), plan_cache,
                   "keep the plan in this folder (--plan-cache=DIR), so that the next run with the same "
                   "options starts at once");
  command.add_flag("--deterministic", deterministic,
                   "bit-identical results from run to run: what is auto is chosen as for a 10G link and 1 G "
                   "edges/s a worker, and degree order, not by measuring");
  command.add_option("-o,--output", output_path, "write the result as id<TAB>value lines, - for stdout");
  command.add_flag("--output-parts", output_parts,
                   "each process writes the vertices that it owns, as OUTPUT.0000-of-0004, where it runs; by "
                   "default rank 0 writes one file");
  command.add_option("--json", json_path, "write the run report as JSON, - for stdout");
  command.add_flag("--profile", profile, "say where the time went, and what limited the run");
  command.add_option("--profile-page", profile_path, "the same as an HTML page with charts");
  command.add_option(
      "--trace", trace_path,
      "what workers and chunks did, as JSON for trace viewers (Chrome, Perfetto); compressed as .json.gz");
  command
      .add_option("--sample-interval", sample_interval_s,
                  "of a profile: seconds between looks at the machine")
      ->check(between(0.01, 3600))
      ->capture_default_str();
  command.add_flag("--verify", verify,
                   "check the result against a sequential reference; exit 1 when it differs");
}

kernels::DenseOptions JobOptions::dense(launch::Bootstrap& bootstrap) const {
  kernels::DenseOptions options;
  const auto machine = topology::discover();
  const auto cores = static_cast<int>(machine.cores.size());
  options.workers = workers > 0 ? workers : std::max(1, cores / bootstrap.local_size());
  std::vector<std::string> offers;
  if (!bootstrap.nodes().empty()) {
    const auto placement =
        topology::place(machine, bootstrap.local_rank(), bootstrap.local_size(), options.workers);
    const std::string offer =
        card_offer(transport, verbs, launch.local_hosts, bootstrap, topology::first_node(placement, machine));
    for (const std::string& others : bootstrap.allgather(fmt::format("{}\n{}", options.workers, offer))) {
      // Hosts may have different numbers of cores.
      if (workers == 0) options.workers = std::min(options.workers, std::stoi(others));
      offers.push_back(others.substr(others.find('\n') + 1));
    }
  }
  const auto choice = choose_transport(transport, verbs, bootstrap, offers);
  options.transport = choice.transport;
  options.transport_reason = choice.reason;
  options.strategy = strategy == "auto" ? plan::Strategy::slots : plan::strategy_from(strategy);
  options.choose_strategy = strategy == "auto";
  options.assumed_compute_rate = compute_rate;
  if (deterministic) {
    options.assumed_link_rate = 10e9 / 8;
    if (compute_rate == 0) options.assumed_compute_rate = 1e9;
  }
  options.encoding = plan::encoding_from(precision == "f64" && encoding == "f32" ? precision : encoding);
  options.weighted = weighted;
  if (plan::is_rounded(options.encoding) && precision == "f64")
    throw UsageError(fmt::format("--wire {} and --precision f64 exclude each other", encoding));
  if (plan::is_rounded(options.encoding) && plan::sends_ids(options.strategy)) {
    throw UsageError(fmt::format("--wire {} needs strategy slots or cover, not {}", encoding, strategy));
  }
  options.ownership = ownership == "range" ? "ranges" : ownership;
  options.plan_cache = plan_cache;
  if (plan_cache == kBesideGraph) {
    options.plan_cache = std::filesystem::path(graph_path).parent_path();
    if (options.plan_cache.empty()) options.plan_cache = ".";
  }
  options.link_bits_per_s = launch.link_bits_per_s;
  options.layout = layout == "given" ? plan::Layout::given : plan::Layout::degree;
  options.choose_layout = layout == "auto" && !deterministic;
  options.peer_timeout_s = launch.peer_timeout_s;
  options.verbs = verbs;
  options.verbs.device = choice.verbs_device;
  options.dpdk = dpdk.of(bootstrap.local_rank());
  if (bootstrap.rank() == 0 && options.workers * bootstrap.local_size() > cores) {
    fmt::print(stderr, "edgewire: warning: {} workers on {} core{}: they wait for each other\n",
               options.workers * bootstrap.local_size(), cores, cores == 1 ? "" : "s");
  }
  return options;
}

}  // namespace edgewire::cli
