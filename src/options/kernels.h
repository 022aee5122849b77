// Options of kernels on a graph.
#pragma once

#include "edgewire/numbering.h"
#include "options/option.h"

// clang-format off
namespace edgewire::opt {

/// The largest number of vertices.
inline constexpr double kMostVertices = kIds64 ? 0x1p48 : 0x1p32;

// The graph, and where it is in the processes.
inline constexpr Option ownership{.name = "ownership", .cpp = "JobOptions::ownership", .python = "ownership",
    .part = Part::graph, .other_names = "--partition",
    .help = "who owns a vertex: hash, ranges, or a partition file with a part for each line"};
inline constexpr Option rows{.name = "rows", .cpp = "JobOptions::rows", .python = "rows",
    .part = Part::graph, .words = "auto|own|shares",
    .help = "on several hosts, where vertices of a process lie all over the graph file: own reads them in "
            "each process, shares reads each row once in all and sends it to its owner; auto is own where "
            "the file is in the page cache of every host"};
inline constexpr Option edges{.name = "edges", .words = "auto|memory|disk",
    .help = "keep the edges in memory, or on disk, from where each iteration reads them; auto takes disk "
            "where memory does not suffice"};
inline constexpr Option devices{.name = "devices", .cpp = "JobOptions::disks", .python = "devices",
    .scope = Scope::process, .part = Part::graph,
    .help = "share the edges out among these folders (a,b), each on a disk of its own; by default they are "
            "beside the plan cache"};
inline constexpr Option memory{.name = "memory", .cpp = "JobOptions::memory_bytes", .python = "memory",
    .scope = Scope::process, .part = Part::graph, .least = 1 << 20, .most = 0x1p60, .bytes = true,
    .help = "memory of a process, such as 2G: auto decides by it, and a process with edges on disk takes "
            "this at most, beside 64M; by default the memory that is free"};
inline constexpr Option weighted{.name = "weighted", .cpp = "weighted", .python = "weight", .flag = true,
    .help = "use the weights of the edges; by default all count the same"};
inline constexpr Option edges_weighted{.name = "weighted", .cpp = "JobOptions::weighted", .flag = true,
    .part = Part::weights};
inline constexpr Option deterministic{.name = "deterministic", .cpp = "deterministic",
    .python = "deterministic", .flag = true};

// Passes over all edges.
inline constexpr Option strategy{.name = "strategy", .cpp = "JobOptions::strategy", .python = "strategy",
    .part = Part::tiles, .words = "auto|edge|worker|process|slots|cover",
    .help = "send a value for each edge, for each destination of a worker or of a process (as published in "
            "2015, with ids), for each destination without ids (slots), or the fewest that suffice (cover); "
            "auto takes slots, or cover where sending takes longer than computing"};
inline constexpr Option compute_rate{.name = "compute-rate", .least = 1, .most = 1e15,
    .help = "let --strategy auto assume this many edges/s for a worker; measured by default"};
inline constexpr Option wire{.name = "wire", .cpp = "JobOptions::wire", .python = "wire",
    .part = Part::tiles, .words = "f32|bf16|f16|u16",
    .help = "how values travel: as they are (f32), or bf16, f16 or u16 with error feedback"};
/// The same, with all values of the enumeration Wire, in their order.
inline constexpr Option any_wire = [] {
  Option all = wire;
  all.words = "f32|f64|bf16|f16|u16|raw16|bit";
  return all;
}();
inline constexpr Option precision{.name = "precision", .cpp = "JobOptions::wire", .python = "wire",
    .words = "f32|f64", .help = "precision of messages along edges: f32 (4 bytes) or f64 (8 bytes)"};
inline constexpr Option direction{.name = "direction", .words = "out|in|both",
    .other_names = "--transpose --reverse",
    .help = "let values go along edges from source to target (out), against them (in), or both ways, where a "
            "self loop counts once; a graph that `info` calls symmetric has each edge both ways, and all "
            "three are the same"};
inline constexpr Option layout{.name = "layout", .cpp = "JobOptions::layout", .python = "layout",
    .part = Part::tiles, .words = "auto|given|degree",
    .help = "keep a process's vertices in the given order, or put those of high degree first; auto measures "
            "and takes the faster one"};
inline constexpr Option order{.name = "order", .cpp = "JobOptions::order", .python = "order",
    .part = Part::tiles, .words = "auto|strips|hilbert|bins",
    .help = "let workers sweep tiles strip by strip in one column after the other (strips), along the "
            "Hilbert curve over several columns (hilbert), or strip by strip but for thin tiles, whose "
            "values go through memory in bins (bins); auto measures a sample and takes the fastest one"};
inline constexpr Option plan_cache{.name = "plan-cache", .cpp = "JobOptions::plan_cache",
    .python = "plan_cache", .part = Part::tiles,
    .help = "keep the plan next to the graph, or in a folder (--plan-cache=DIR), so that the next run with "
            "the same options starts at once"};

// The computation.
inline constexpr Option iterations{.name = "iterations", .cpp = "iterations", .python = "iterations",
    .least = 1, .most = 0x7fffffff,
    .other_names = "-i --iters --max-iter --max-iters --niter --max-iterations",
    .help = "stop after this many iterations"};
inline constexpr Option rank_iterations{.name = "iterations", .cpp = "PageRankOptions::iterations",
    .python = "iterations", .least = 0, .most = 0x7fffffff,
    .other_names = "-i --iters --max-iter --max-iters --niter --max-iterations",
    .help = "stop after this many iterations; with --tolerance alone after 1000"};
inline constexpr Option damping{.name = "damping", .cpp = "PageRankOptions::damping", .python = "damping",
    .least = 0, .most = 1, .other_names = "--alpha", .help = "let this share of a rank follow the edges"};
inline constexpr Option tolerance{.name = "tolerance", .cpp = "PageRankOptions::tolerance",
    .python = "tolerance", .least = 0, .most = 1e9, .other_names = "--epsilon --eps --tol",
    .help = "stop when all changes of an iteration sum to less than this; 0: never"};
inline constexpr Option pagerank_2015{.name = "pagerank-2015", .cpp = "PageRankOptions::form_2015",
    .flag = true,
    .help = "compute the form of 2015 instead: ranks start at 0, a new one is 1 - d + d * sum, and what "
            "vertices without out-edges have is dropped"};
inline constexpr Option x{.name = "x", .cpp = "x", .python = "x",
    .help = "read x from this file: lines of vertex and value, others 0; by default x is 1 everywhere"};
inline constexpr Option source{.name = "source", .cpp = "source", .python = "source", .value_name = "ID",
    .other_names = "--root --start --src", .help = "start at this vertex, by its id or label"};
inline constexpr Option sources{.name = "sources", .cpp = "sources", .python = "sources",
    .value_name = "ID[,ID...]|@FILE", .other_names = "--roots --seeds --personalization"};
inline constexpr Option samples{.name = "samples", .least = 1, .most = kMostVertices,
    .help = "start at this many vertices, drawn by --seed"};
inline constexpr Option sample_seed{.name = "seed", .help = "the same seed draws the same samples"};
inline constexpr Option target{.name = "target", .value_name = "ID", .other_names = "--sink --destination",
    .help = "print a shortest path to this vertex, by its id or label: for each source one"};
inline constexpr Option parallel{.name = "parallel", .cpp = "parallel", .words = "auto|levels|sources"};
inline constexpr Option parents{.name = "parents", .cpp = "parents", .python = "parents", .flag = true};
inline constexpr Option delta{.name = "delta", .cpp = "SsspOptions::delta", .python = "delta",
    .least = 1e-300, .most = 1e300,
    .help = "the width of a bucket of distances; by default a quarter of average weight / average degree"};
inline constexpr Option unit_weights{.name = "unit-weights", .cpp = "SsspOptions::unit_weights", .flag = true,
    .help = "let each edge have weight 1"};
inline constexpr Option distance_precision{.name = "precision", .cpp = "SsspOptions::precision",
    .words = "auto|f64|f32",
    .help = "precision of distances: f64 (8 bytes), f32 (4 bytes, faster, each edge rounds more), or auto: "
            "whole weights are added exactly, as whole numbers of 8 bytes, others as f64"};
inline constexpr Option endpoints{.name = "endpoints", .cpp = "BcOptions::endpoints", .python = "endpoints",
    .flag = true, .help = "let a path lead over its first and last vertex, too: s or t may be v"};
inline constexpr Option normalized{.name = "normalized", .cpp = "BcOptions::normalized",
    .python = "normalized", .flag = true,
    .help = "divide by the number of pairs s, t of vertices other than v, as NetworkX does; with "
            "--endpoints, of all vertices; with --samples s is a sampled one, with --sources any"};

// Results and checkpoints.
inline constexpr Option output{.name = "output", .letter = 'o', .scope = Scope::first,
    .other_names = "--out --outfile --output-file"};
inline constexpr Option output_parts{.name = "output-parts", .flag = true,
    .help = "let each process write the vertices that it owns where it runs, as OUTPUT.0000-of-0004; by "
            "default rank 0 writes one file"};
inline constexpr Option verbose{.name = "verbose", .flag = true, .letter = 'v', .scope = Scope::first,
    .help = "show all of the report: also plan, order, supersteps, memory and checksum"};
inline constexpr Option top{.name = "top", .scope = Scope::first, .least = 0, .most = kMostVertices,
    .value_name = "K", .other_names = "-k"};
inline constexpr Option verify{.name = "verify", .cpp = "JobOptions::verify", .python = "verify",
    .flag = true, .scope = Scope::first, .part = Part::tools, .other_names = "--check --validate",
    .help = "check the result at rank 0, one vertex after another"};
inline constexpr Option bound{.name = "bound", .cpp = "JobOptions::bound", .python = "bound", .flag = true,
    .scope = Scope::first, .part = Part::supersteps,
    .help = "also count what had to be sent, as `edgewire bound` does, in sequence at rank 0, and report it "
            "beside what was sent"};
inline constexpr Option checkpoint{.name = "checkpoint"};
inline constexpr Option every{.name = "every", .least = 1, .most = 1e6};
inline constexpr Option resume{.name = "resume",
    .help = "go on from the checkpoint in this folder, also with another number of processes"};

}  // namespace edgewire::opt
