#include "cli/job_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "cli/alike.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "error.h"
#include "graph/available_memory.h"
#include "launch/packing.h"
#include "plan/block_plan.h"
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

CLI::Validator sizes() {
  return {[](std::string& text) {
            constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
            constexpr std::string_view kUnits = "kmgtp";
            const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
            std::uint64_t bytes = 0;
            const bool is_number =
                std::from_chars(text.data(), text.data() + digits, bytes).ec == std::errc{};
            std::string unit = CLI::detail::to_lower(text.substr(digits));
            std::size_t power = unit.empty() ? kUnits.npos : kUnits.find(unit[0]);
            power = power == kUnits.npos ? 0 : power + 1;
            if (power > 0) unit.erase(0, 1);
            const bool is_unit = unit.empty() || unit == "b" || (power > 0 && (unit == "i" || unit == "ib"));
            if (!is_number || !is_unit || bytes > kMostBytes >> 10 * power)
              return fmt::format("{} is not a number of bytes up to 1024P, such as 512M or 4G", text);
            text = std::to_string(bytes << 10 * power);
            return std::string();
          },
          ""};
}

std::uint64_t usual_share(std::uint64_t available_bytes, int processes_of_host) noexcept {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kUsual = 1024 * kMiB;
  const std::uint64_t share = available_bytes / static_cast<std::uint64_t>(processes_of_host) / 4 * 3;
  return std::min(kUsual, share / kMiB * kMiB);
}

std::uint64_t usual_memory(launch::Bootstrap& bootstrap, std::uint64_t least) {
  const auto mine = usual_share(graph::available_memory(), bootstrap.local_size());
  return std::max(least, launch::allreduce(bootstrap, mine, std::ranges::min));
}

void add_launch_options(CLI::App& command, launch::LaunchOptions& launch) {
  command.parse_complete_callback([&] { launch.alike = alike(command); });
  command.option_defaults()->group("Processes");
  command.add_option("-p,--processes", launch.processes, "start this many processes on this machine")
      ->capture_default_str();
  command.add_flag("--local-hosts", launch.local_hosts,
                   "give each process a host of its own: a network namespace of this machine (needs root)");
  command
      .add_option_function<std::string>(
          "--rate",
          [&launch](const std::string& text) { launch.link_bits_per_s = plan::line_rate_bits(text); },
          "shape the links of --local-hosts to this line rate in bit/s, such as 1G; by default they are not "
          "shaped")
      ->type_name("RATE");
  reads(command.add_option("--hosts", launch.hosts_file,
                           "run on the hosts of this list: line i is address[:port] of rank i"),
        itself, "EDGEWIRE_HOSTS");
  command.add_option("--rank", launch.rank, "this process has this line of the host list, counted from 0");
  reads(command.add_option("--secret-file", launch.secret_file,
                           "read the secret that the processes of a host list share from this file"),
        itself, "EDGEWIRE_SECRET_FILE");
  command.add_option("--port", launch.port, "use this TCP port where the host list names none")
      ->check(CLI::Range(1, 65535));
  command
      .add_option("--peer-timeout", launch.peer_timeout_s,
                  "give up a process that has been silent for this many seconds")
      ->check(between(0.1, 86400))
      ->capture_default_str();
  command
      .add_option("--start-timeout", launch.start_timeout_s,
                  "wait this many seconds for all processes of a host list or launcher to start")
      ->check(between(0.1, 86400))
      ->capture_default_str();
  command
      .add_option("--launcher", launch.launcher,
                  "auto joins the processes that srun or mpirun started; none does not")
      ->check(CLI::IsMember({"auto", "none"}))
      ->capture_default_str();
  command.add_option(
      "--interface", launch.interface,
      "use this network interface, or network such as 10.0.0.0/24, between hosts; of several (a,b) each "
      "process of a host takes one near its cores");
}

void add_workers_option(CLI::App& command, int& workers) {
  command
      .add_option("-w,--workers", workers,
                  "this many workers (threads) in each process; by default one for each core, shared out "
                  "among the processes of a host")
      ->check(CLI::Range(1, 1024));
}

void add_rule_of_weights(CLI::App& command) {
  command.footer(
      command.get_footer() +
      "\nWeights: sssp and spmv are defined with weights and use those of the graph. pagerank, ppr "
      "and bc use them with --weighted. The other kernels do not use them.");
}

void add_transport_option(CLI::App& command, std::string& transport) {
  command.option_defaults()->group("Transport");
  command
      .add_option("--transport", transport,
                  "send by shared memory (shm), TCP, RDMA (verbs) or Ethernet frames (dpdk); auto takes shm "
                  "inside a host and the fastest that all hosts have between hosts")
      ->check(CLI::IsMember({"auto", "shm", "tcp", "verbs", "dpdk"}))
      ->capture_default_str();
}

void add_integrity_option(CLI::App& command, bool& integrity) {
  command
      .add_option_function<std::string>(
          "--integrity", [&integrity](const std::string& word) { integrity = word == "on"; },
          "check all that arrives over TCP by a CRC-32C, and end the run when bytes were changed on their "
          "way; "
          "off saves some time. Messages that control the run are always checked")
      ->check(CLI::IsMember({"on", "off"}))
      ->default_str("on");
}

void add_verbs_options(CLI::App& command, transport::VerbsChoice& verbs) {
  command.add_option(
      "--verbs-device", verbs.device,
      "use this RDMA device, NAME[:PORT[:GID_INDEX]], or several (a,b) that share the workers' traffic; by "
      "default the nearest one, and RoCE v2");
  command
      .add_option(
          "--verbs-traffic-class", verbs.traffic_class,
          "mark RoCE packets with this traffic class (DSCP times 4), by which switches choose a queue")
      ->check(CLI::Range(0, 255));
  command
      .add_option(
          "--verbs-memory", verbs.memory,
          "pin memory for the card, or let the card page it in (on-demand); auto pins, and pages in where "
          "pinning fails")
      ->check(CLI::IsMember({"auto", "pinned", "on-demand"}))
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--verbs-progress", [&verbs](const std::string& who) { verbs.progress_thread = who == "thread"; },
          "who takes completions: the workers while they wait, or a thread of its own, on a spare core where "
          "there is one")
      ->check(CLI::IsMember({"worker", "thread"}))
      ->default_str("worker");
  command.add_flag("!--verbs-no-immediates", verbs.immediates)->group("");  // for tests
}

void add_dpdk_options(CLI::App& command, transport::DpdkChoice& dpdk) {
  command.add_option("--dpdk-port", dpdk.port,
                     "use this port: a PCI address[,mtu=BYTES], or a virtual device such as "
                     "net_af_packet0,iface=eth0; several processes of a host need a list, divided by ;");
  command.add_option(
      "--dpdk-udp", dpdk.udp,
      "put frames into IPv4 and UDP, so that they pass routers and are spread over queues, from this "
      "address: ADDRESS[/PREFIX][@MAC of the gateway], auto, or a list");
  command.add_option("--dpdk-args", dpdk.args, "hand these arguments to DPDK (EAL), all in one word");
  command
      .add_option_function<std::string>(
          "--dpdk-rate", [&dpdk](const std::string& text) { dpdk.bits_per_s = plan::line_rate_bits(text); },
          "send no faster than this many bit/s, such as 10G; by default as fast as the port's link")
      ->type_name("RATE");
  command.add_option("--dpdk-faults", dpdk.faults)->group("");  // for tests
}

void JobOptions::add_to(CLI::App& command) {
  add_graph_input(command, graph_path, reading);
  add_launch_options(command, launch);
  add_workers_option(command, workers);
  add_transport_option(command, transport);
  add_integrity_option(command, integrity);
  add_verbs_options(command, verbs);
  add_dpdk_options(command, dpdk);
  command.option_defaults()->group("What is sent");
  command
      .add_option(
          "--strategy", strategy,
          "send a value for each edge, for each destination of a worker or of a process (as published "
          "in 2015, with ids), for each destination without ids (slots), or the fewest that suffice "
          "(cover); auto takes slots, or cover where sending takes longer than computing")
      ->check(CLI::IsMember({"auto", "edge", "worker", "process", "slots", "cover"}))
      ->capture_default_str();
  command
      .add_option("--compute-rate", compute_rate,
                  "let --strategy auto assume this many edges/s for a worker; measured by default")
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
      .add_option("--direction", direction,
                  "let values go along edges from source to target (out), against them (in), or both ways")
      ->check(CLI::IsMember({"out", "in", "both"}))
      ->capture_default_str();
  reads(command
            .add_option(
                "--ownership", ownership,
                "who owns a vertex: hash, ranges, or a partition file with a part for each line; auto and "
                "auto,FILE count the bytes of each and take the best; hilbert, grid: processes own edges, a "
                "stretch of the Hilbert curve over the edge matrix or a block of a grid")
            ->capture_default_str(),
        partition_files);
  command
      .add_option("--layout", layout,
                  "keep a process's vertices in the given order, or put those of high degree first; auto "
                  "measures and takes the faster one")
      ->check(CLI::IsMember({"auto", "given", "degree"}))
      ->capture_default_str();
  command
      .add_option(
          "--order", order,
          "let workers sweep tiles strip by strip in one column after the other (strips), along the Hilbert "
          "curve over several columns (hilbert), or strip by strip but for thin tiles, whose values go "
          "through memory in bins (bins); auto measures a sample and takes the fastest one")
      ->check(CLI::IsMember({"auto", "strips", "hilbert", "bins"}))
      ->capture_default_str();
  writes(command.add_flag(
             fmt::format("--plan-cache{{{}}}", kBesideGraph), plan_cache,
             "keep the plan next to the graph, or in a folder (--plan-cache=DIR), so that the next run "
             "with the same options starts at once"),
         Form::folder, [this](const std::string&) {
           return std::vector{NamedFile{plan_folder(), kept_names()}};
         });
  command.add_flag(
      "--deterministic", deterministic,
      "give bit-identical results from run to run: auto does not measure, but assumes a 10G link, "
      "1 G edges/s a worker, degree order, and strips");
  command.option_defaults()->group("Output");
  writes(command.add_option(
             "-o,--output", output_path,
             "write the result to this file as lines of id, tab and value; - is stdout; .gz and .zst "
             "are compressed"),
         Form::text, [this](const std::string& path) {
           return std::vector{output_parts ? parts_of(path) : NamedFile{path}};
         });
  command.add_flag(
      "--output-parts", output_parts,
      "let each process write the vertices that it owns where it runs, as OUTPUT.0000-of-0004; by "
      "default rank 0 writes one file");
  writes(command.add_option("--json", json_path, "write the run report to this file as JSON; - is stdout"),
         Form::text);
  command.add_flag("--verify", verify,
                   "check the result against a sequential reference, and exit with 1 when it differs");
  command.option_defaults()->group("Profile");
  command.add_flag("--profile", profile, "say where the time went, and what limited the run");
  writes(command.add_option("--profile-page", profile_path,
                            "say the same on an HTML page with charts, in this file"),
         Form::text);
  writes(
      command.add_option("--trace", trace_path,
                         "write what workers and chunks did to this file, as JSON for trace viewers (Chrome, "
                         "Perfetto); .json.gz is compressed"),
      Form::text);
  command.add_option("--sample-interval", sample_interval_s, "look at the machine every so many seconds")
      ->check(between(0.01, 3600))
      ->capture_default_str();
}

namespace {

std::string cores_text(const topology::Machine& machine) {
  const std::size_t cores = machine.cores.size();
  return fmt::format(
      "{} core{}{}", cores, cores == 1 ? "" : "s",
      machine.cpu_quota > 0 ? fmt::format(" with a CPU quota of {:.4g}", machine.cpu_quota) : "");
}

}  // namespace

plan::Encoding JobOptions::sent_as() const {
  if (encoding != "f32" && precision == "f64")
    throw UsageError(
        fmt::format("--wire {} and --precision f64 exclude each other: leave one of them out", encoding));
  return plan::encoding_from(precision == "f64" ? precision : encoding);
}

void JobOptions::check(const graph::GraphFile& graph) const {
  job::DenseOptions options;
  options.choose_strategy = strategy == "auto";
  if (!options.choose_strategy) options.strategy = plan::strategy_from(strategy);
  options.encoding = sent_as();
  options.weighted = weighted;
  options.ownership = ownership;
  options.order = tile_order();
  options.plan_cache = plan_cache;
  if (edge_place.edges == "disk") {
    options.devices.emplace_back(".");
    if (plan_cache.empty() && !plan::owns_edges(ownership)) options.plan_cache = ".";
  }
  job::check(options, graph);
}

job::OrderOptions JobOptions::tile_order() const {
  job::OrderOptions options;
  if (order == "hilbert") options.order = tiles::Order::hilbert;
  if (order == "bins") options.order = tiles::Order::bins;
  options.choose = order == "auto" && !deterministic;
  return options;
}

std::string JobOptions::plan_folder() const {
  if (plan_cache != kBesideGraph) return plan_cache;
  const std::string folder = std::filesystem::path(graph_path).parent_path();
  return folder.empty() ? "." : folder;
}

job::DenseOptions JobOptions::dense(launch::Bootstrap& bootstrap) const {
  job::DenseOptions options;
  const auto machine = topology::discover();
  const int cores = topology::usable_cores(machine);
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
  options.encoding = sent_as();
  options.weighted = weighted;
  options.ownership = ownership == "range" ? "ranges" : ownership;
  options.plan_cache = plan_folder();
  options.link_bits_per_s = launch.link_bits_per_s;
  options.layout = layout == "given" ? plan::Layout::given : plan::Layout::degree;
  options.choose_layout = layout == "auto" && !deterministic;
  options.order = tile_order();
  options.peer_timeout_s = launch.peer_timeout_s;
  options.integrity = integrity;
  options.verbs = verbs;
  options.verbs.device = choice.verbs_device;
  options.dpdk = dpdk.of(bootstrap.local_rank());
  if (bootstrap.rank() == 0) {
    options.warn = [](const std::string& line) { note("warning: " + line); };
    if (options.workers * bootstrap.local_size() > cores)
      options.warn(fmt::format("{} workers on {}: they wait for each other",
                               options.workers * bootstrap.local_size(), cores_text(machine)));
  }
  return options;
}

}  // namespace edgewire::cli
