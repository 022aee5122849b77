// Options of the commands that predict, compare and measure: bound, compare, netbench, diskbench, topology
// and tasks.
#pragma once

#include "options/option.h"

// clang-format off
namespace edgewire::opt {

// What is counted, and what is compared. They are lists where jobs have one value.
inline constexpr Option kernel{.name = "kernel"};
inline constexpr Option bound_source{.name = "source"};
inline constexpr Option bound_iterations{.name = "iterations", .least = 1, .most = 1e6,
    .help = "cdlp: stop after this many iterations"};
inline constexpr Option bound_processes{.name = "processes", .cpp = "BoundOptions::processes",
    .python = "processes", .letter = 'p', .scope = Scope::process, .help = "numbers of processes, up to 4096"};
inline constexpr Option bound_workers{.name = "workers", .cpp = "BoundOptions::workers", .python = "workers",
    .letter = 'w', .scope = Scope::process, .help = "workers (threads) in each process"};
inline constexpr Option rates{.name = "rate", .cpp = "BoundOptions::rates", .python = "rates",
    .help = "line rates, as 100M, 2.5G"};
inline constexpr Option ownerships{.name = "ownership", .cpp = "BoundOptions::ownerships",
    .python = "ownerships",
    .help = "hash, ranges: vertices have owners; hilbert, grid: edges have owners; or partition files, "
            "{}\nin the name standing for the number of processes"};
inline constexpr Option strategies{.name = "strategy", .cpp = "BoundOptions::strategies",
    .python = "strategies", .help = "what is sent"};
inline constexpr Option bound_precision{.name = "precision", .cpp = "BoundOptions::wires", .python = "wires",
    .words = "f32|f64",
    .help = "pagerank, ppr and spmv: values are f32 (4 bytes; pagerank also sends 2 bytes, see its --wire) "
            "or f64 (8 bytes)"};
inline constexpr Option framing{.name = "framing",
    .help = "frames of the seconds: tcp1500, tcp9000, roce1500, roce9000, dpdk1500, dpdkudp1500"};
inline constexpr Option as_published_2015{.name = "as-published-2015", .flag = true,
    .help = "also count what a process sends to itself, as the tables of 2015 did"};
inline constexpr Option bound_memory{.name = "memory", .cpp = "BoundOptions::memory_bytes",
    .help = "limit on memory beside the graph; with --load of each process, 1G by default"};
inline constexpr Option threads{.name = "threads", .cpp = "BoundOptions::threads", .python = "threads",
    .least = 0, .most = 1 << 14, .help = "threads that count; 0: one a core"};
inline constexpr Option core_edges{.name = "compute-rate",
    .help = "what if: edges/s of a core, as 1e9 or 1G; predicts the time of an iteration"};
inline constexpr Option cores{.name = "cores", .help = "what if: cores of a process (default: its workers)"};
inline constexpr Option latency{.name = "latency", .help = "what if: latency of each message, as 20us"};
inline constexpr Option memory_rate{.name = "memory-rate",
    .help = "what if: bytes/s of a process's memory, as 34G"};
inline constexpr Option csv{.name = "csv", .scope = Scope::first,
    .help = "write the rows to this file as CSV; - is stdout"};
inline constexpr Option compared_transports{.name = "transport", .help = "transport between the hosts"};
inline constexpr Option compare_repeat{.name = "repeat", .least = 1, .most = 1000,
    .help = "runs of each combination"};

// Loads that are predicted.
inline constexpr Option load{.name = "load", .words = "sort|convert",
    .help = "how long `sort` or `convert --memory` takes, of the given files or of --bytes"};
inline constexpr Option load_bytes{.name = "bytes", .least = 1, .most = 0x1p60, .bytes = true,
    .help = "what if: bytes of input, as 1T"};
inline constexpr Option load_edges{.name = "edges",
    .help = "convert: edges of the input, as 60G; a plain edge list tells it. With --kernel and no GRAPH: of "
            "the graph whose processes' memory is predicted"};
inline constexpr Option load_vertices{.name = "vertices",
    .help = "convert: vertices, for 8 bytes of output each; or as --edges"};
inline constexpr Option load_weighted{.name = "weighted", .flag = true,
    .help = "convert: edges have weights; a plain edge list tells it"};
inline constexpr Option load_undirected{.name = "undirected", .flag = true,
    .help = "convert: each edge is stored both ways"};
inline constexpr Option load_parts{.name = "parts", .flag = true,
    .help = "convert: each process is on its own machine and writes its part of the graph"};
inline constexpr Option largest_share{.name = "largest-share", .least = 1, .most = 1e6,
    .help = "the records of the process with most of them, as a multiple of the mean, such as 1.2"};
inline constexpr Option disk_read_rate{.name = "disk-read-rate",
    .help = "bytes/s of a machine's disk, as 1G; measured if not given"};
inline constexpr Option disk_write_rate{.name = "disk-write-rate", .help = "the same for writing"};
inline constexpr Option core_rate{.name = "core-rate",
    .help = "bytes of input that a core loads in a second, as 200M; measured if not given"};

// Measurements of links, disks and machines.
inline constexpr Option test{.name = "test", .words = "bandwidth|rate|latency|all",
    .help = "bandwidth (only the end of the stream is announced), rate (every message is), latency or all"};
inline constexpr Option sizes{.name = "sizes", .bytes = true,
    .help = "bytes of a message, as 8,4k,1M (default: all powers of two to 8M)"};
inline constexpr Option messages{.name = "count", .least = 1, .most = 1e9,
    .help = "messages of each measurement and lane, instead of --seconds"};
inline constexpr Option lanes{.name = "lanes",
    .help = "sending threads; over TCP each has its own connection"};
inline constexpr Option bidirectional{.name = "bidirectional", .flag = true,
    .help = "streams go both ways at once; figures are sums"};
inline constexpr Option busy_poll{.name = "busy-poll", .flag = true,
    .help = "wait by polling, not by sleeping"};
inline constexpr Option seconds{.name = "seconds", .least = 0.001, .most = 3600,
    .help = "seconds of each measurement"};
inline constexpr Option read_sizes{.name = "blocks", .bytes = true, .help = "bytes of a read, as 4k,1M"};
inline constexpr Option depths{.name = "depths", .least = 1, .most = 1024,
    .help = "reads that are under way at a time"};
inline constexpr Option places{.name = "order", .words = "random|sequential",
    .help = "random places, or sequential from front to end"};
inline constexpr Option file_size{.name = "size", .bytes = true, .help = "bytes of each file, as 256M, 4G"};
inline constexpr Option placed_processes{.name = "processes", .letter = 'p', .least = 1, .most = 4096,
    .help = "place this many processes on this machine"};
inline constexpr Option xml{.name = "xml", .value_name = "FILE",
    .help = "another machine, from a file that lstopo wrote"};

// Tasks.
inline constexpr Option repeat{.name = "repeat", .least = 1, .most = 1e6,
    .help = "run the tasks this many times, and report the median"};
inline constexpr Option count{.name = "count", .least = 1, .most = 0x1p40, .help = "number of repetitions"};
inline constexpr Option round_width{.name = "width", .least = 1, .most = 1e6, .help = "tasks of a round"};
inline constexpr Option pattern{.name = "pattern",
    .help = "which tasks of the row before a task waits for: stencil, fft or random"};
inline constexpr Option row_width{.name = "width", .least = 1, .most = 1e5,
    .help = "tasks of a row; by default one for each worker"};
inline constexpr Option steps{.name = "steps", .least = 1, .most = 1e6, .help = "rows, one after the other"};
inline constexpr Option sequences{.name = "sequences",
    .help = "two FASTA files, of which the first sequences are aligned; by default two are generated"};
inline constexpr Option length{.name = "length", .least = 1, .most = 1e6,
    .help = "letters of a generated sequence"};
inline constexpr Option sequence_seed{.name = "seed", .help = "the same seed generates the same sequences"};
inline constexpr Option blocks{.name = "blocks", .help = "cut the matrix into ROWSxCOLUMNS blocks"};
inline constexpr Option match{.name = "match", .least = 0, .most = 1000,
    .help = "score of two equal letters"};
inline constexpr Option mismatch{.name = "mismatch", .least = 0, .most = 1000,
    .help = "cost of two different letters"};
inline constexpr Option gap_open{.name = "gap-open", .least = 0, .most = 1000,
    .help = "cost of a gap, beside that of its letters"};
inline constexpr Option gap_extend{.name = "gap-extend", .least = 0, .most = 1000,
    .help = "cost of each letter of a gap"};

}  // namespace edgewire::opt
