// Options of conversions, of sort, and of synthetic graphs and records.
#pragma once

#include "options/option.h"

// clang-format off
namespace edgewire::opt {

// Conversions.
inline constexpr Option format{.name = "format", .cpp = "ConvertOptions::format", .python = "format",
    .help = "the format of the input: auto (from name and content), snap (edge list: SOURCE TARGET "
            "[WEIGHT]), csv (table), mtx (Matrix Market), metis, dimacs (.gr), el, wel, sg, wsg (GAP), "
            "u32pairs (little endian), webgraph (BVGraph), ew"};
inline constexpr Option to{.name = "to", .cpp = "format",
    .help = "the format to write, whatever the name: ew, el, wel, csv, tsv, mtx, sg, wsg, graph"};
inline constexpr Option columns{.name = "columns", .cpp = "ConvertOptions::columns", .python = "src= and dst",
    .in_python = &options::columns_in_python,
    .help = "tables (csv): SOURCE,TARGET[,WEIGHT], each the name of a column or its number from 1 on"};
inline constexpr Option labels{.name = "labels", .cpp = "ConvertOptions::labels", .python = "labels",
    .flag = true,
    .help = "edge lists and tables: ids are names, of any text, and results show them; convert keeps them in "
            "OUTPUT.labels, or in the .csv, .tsv, .el or .wel file that it writes. If no id is a number, "
            "they are names anyway"};
inline constexpr Option vertices{.name = "vertices", .cpp = "ConvertOptions::vertices",
    .help = "edge lists: a file of ids, one a line, of vertices that exist even without edges (LDBC's .v)"};
inline constexpr Option keep_ids{.name = "keep-ids", .cpp = "ConvertOptions::keep_ids", .python = "keep_ids",
    .flag = true,
    .help = "vertices are all ids up to the largest, also where few of them have edges; otherwise sparse ids "
            "are numbered anew, and results have the ids of the file"};
inline constexpr Option allow_empty{.name = "allow-empty", .cpp = "ConvertOptions::allow_empty", .flag = true,
    .help = "an input without an edge is no error: it becomes a graph of the vertices that it names"};
inline constexpr Option no_weights{.name = "no-weights", .flag = true, .help = "drop weights"};
inline constexpr Option undirected{.name = "undirected", .cpp = "ConvertOptions::undirected",
    .python = "undirected", .flag = true, .other_names = "--symmetrize", .help = "store each edge both ways"};
inline constexpr Option simple{.name = "simple", .cpp = "ConvertOptions::simple", .python = "simple",
    .flag = true, .help = "drop duplicate edges (the one of least weight stays) and self loops"};
inline constexpr Option convert_memory{.name = "memory", .scope = Scope::process, .least = 1, .most = 0x1p60,
    .bytes = true,
    .help = "memory of each process, such as 2G; edges that do not fit go to disk as sorted runs. By default "
            "all are kept in memory, and with -p 1G, or three quarters of a process's share of the memory "
            "that is free where that is less"};
inline constexpr Option parts{.name = "parts", .flag = true,
    .help = "the output is a folder, to which each process writes a part of the graph on its own host; "
            "commands read the folder as one graph. With --hosts every host has the parts of its processes, "
            "on a disk of its own or on one that all share"};

// Sort.
inline constexpr Option record{.name = "record", .cpp = "SortOptions::record_bytes", .least = 1, .most = 4096,
    .help = "bytes of a record"};
inline constexpr Option key{.name = "key", .cpp = "SortOptions::key_offset",
    .help = "where the key lies in a record: OFFSET:LENGTH, in bytes"};
inline constexpr Option partitions{.name = "partitions", .cpp = "SortOptions::partitions", .least = 1,
    .most = 65536,
    .help = "cut the sorted sequence into so many parts of about equal size; by default one for each worker"};
inline constexpr Option sort_memory{.name = "memory", .cpp = "SortOptions::memory_bytes",
    .scope = Scope::process, .least = 1, .most = 0x1p60, .bytes = true,
    .help = "memory for records in each process, such as 512M; what does not fit goes to disk. By default "
            "1G, or three quarters of its share of the memory that is free where that is less"};
inline constexpr Option temp{.name = "temp", .cpp = "SortOptions::temp", .scope = Scope::process,
    .other_names = "--tmpdir", .help = "write what does not fit to this folder; by default the output's"};
inline constexpr Option check{.name = "check", .flag = true, .scope = Scope::first};  // verify, before

// Synthetic graphs and records.
inline constexpr Option scale{.name = "scale", .cpp = "scale", .python = "scale", .help = "2^scale vertices"};
inline constexpr Option edge_factor{.name = "edge-factor", .cpp = "edge_factor", .python = "edge_factor",
    .help = "edges for each vertex"};
inline constexpr Option seed{.name = "seed", .cpp = "seed", .python = "seed",
    .help = "the same seed gives the same file"};
inline constexpr Option weights{.name = "weights", .cpp = "GenerateOptions::weighted", .python = "weights",
    .flag = true, .help = "random edge weights in (0, 1]"};
inline constexpr Option generated_bytes{.name = "bytes", .bytes = true,
    .help = "bytes of all files together, such as 4G; rounded down to whole records"};
inline constexpr Option generated_record{.name = "record", .least = 32, .most = 4096,
    .help = "bytes of a record"};
inline constexpr Option keys{.name = "keys", .least = 1, .most = 2'821'109'907'456.0,
    .help = "number of different keys"};
inline constexpr Option files{.name = "files", .least = 1, .most = 10000,
    .help = "cut the records into this many files"};
inline constexpr Option key_order{.name = "order", .words = "random|sorted|reversed",
    .help = "order of the keys in the files"};
inline constexpr Option record_seed{.name = "seed", .help = "the same seed gives the same files"};
inline constexpr Option vertex_count{.name = "vertices", .cpp = "vertices", .python = "vertices",
    .help = "number of vertices"};
inline constexpr Option grid_rows{.name = "rows", .help = "rows of cells"};
inline constexpr Option grid_columns{.name = "columns", .help = "columns of cells"};
inline constexpr Option torus{.name = "torus", .flag = true,
    .help = "join the last row and column to the first"};
inline constexpr Option keep_order{.name = "keep-order", .flag = true,
    .help = "number cells row by row instead"};

}  // namespace edgewire::opt
