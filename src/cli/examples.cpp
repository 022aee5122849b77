#include "cli/examples.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>

namespace edgewire::cli {

namespace {

/// An example of the command at this path.
struct Shown {
  std::string_view path, line, meaning;
};
constexpr std::array kExamples{
    Shown{"", "edgewire generate kronecker --scale 16 --weights -o g.ew", "Make a graph to try things with."},
    Shown{"", "edgewire pagerank g.ew -p 2", "Rank its vertices by two processes."},
    Shown{"", "edgewire help pagerank", "Explain a command."},
    Shown{"generate kronecker", "edgewire generate kronecker --scale 16 --weights -o g.ew",
          "A graph as Graph500 has them, with 2^16 vertices and random weights."},
    Shown{"generate uniform", "edgewire generate uniform --vertices 5000 -o uniform.ew",
          "5000 vertices, with 16 edges each to any vertices."},
    Shown{"generate grid", "edgewire generate grid --rows 300 --columns 200 -o grid.ew",
          "A grid, in which each cell is joined to its neighbours."},
    Shown{"generate records", "edgewire generate records --bytes 4M --files 2 -o records", "Files to sort."},
    Shown{"convert", "edgewire convert edges.txt -o edges.ew",
          "A list of edges, a pair of numbers on each line."},
    Shown{"convert", "edgewire convert names.tsv --labels -o names.ew",
          "The same with names instead of numbers, which results show."},
    Shown{"convert", "edgewire convert edges.ew -o edges.csv.gz",
          "To another format: a compressed table, with names where the graph has some."},
    Shown{"info", "edgewire info g.ew", "What a graph holds."},
    Shown{"info", "edgewire info edges.txt --verify",
          "A file in another format, and whether it is in order."},
    Shown{"topology", "edgewire topology", "The cores, memory and network cards of this machine."},
    Shown{"topology", "edgewire topology -p 2", "Where the workers of two processes would be."},
    Shown{"pagerank", "edgewire pagerank g.ew", "The ten vertices of the highest ranks."},
    Shown{"pagerank", "edgewire pagerank g.ew -p 2 --tolerance 1e-6 -o ranks.tsv",
          "Iterate until ranks hardly change, by two processes, and write all ranks."},
    Shown{"pagerank", "edgewire pagerank names.tsv --labels -o -",
          "Ranks of a list of edges with names, on standard output."},
    Shown{"bfs", "edgewire bfs g.ew --source 1",
          "How many vertices can be reached from a vertex, and how far."},
    Shown{"bfs", "edgewire bfs g.ew --source 1 --target 5", "A shortest path to one of them."},
    Shown{"bfs", "edgewire bfs g.ew --samples 64 --json report.json",
          "Search from 64 vertices, as Graph500 does."},
    Shown{"sssp", "edgewire sssp g.ew --source 1 -o distances.tsv",
          "Shortest distances by the weights of the graph."},
    Shown{"sssp", "edgewire sssp edges.txt --unit-weights --source 1 --target 3",
          "Where a graph has no weights: the path of the fewest edges."},
    Shown{"ppr", "edgewire ppr g.ew --source 17", "The ten vertices that are nearest to one."},
    Shown{"ppr", "edgewire ppr g.ew --sources 17,42 --weighted -o ranks.tsv",
          "As seen from two vertices, by weights; write all ranks."},
    Shown{"spmv", "edgewire spmv g.ew -o y.tsv", "Multiply by a vector of ones."},
    Shown{"spmv", "edgewire spmv g.ew --iterations 3 --verify", "Three times, and verify the result."},
    Shown{"wcc", "edgewire wcc g.ew", "How many components there are, and how large the largest one is."},
    Shown{"wcc", "edgewire wcc g.ew -o components.tsv --top 3",
          "Write the component of each vertex, and show the three largest."},
    Shown{"scc", "edgewire scc g.ew", "How many components there are, and how large the largest one is."},
    Shown{"scc", "edgewire scc g.ew -o components.tsv --top 3",
          "Write the component of each vertex, and show the three largest."},
    Shown{"bc", "edgewire bc g.ew --samples 16 --normalized",
          "An estimate from 16 sources: the ten highest scores."},
    Shown{"bc", "edgewire bc grid.ew --sources 1,2,3 -o scores.tsv",
          "Only the paths that start at three vertices."},
    Shown{"cdlp", "edgewire cdlp g.ew", "How many communities there are, and how large the largest one is."},
    Shown{"cdlp", "edgewire cdlp g.ew --iterations 5 -o communities.tsv",
          "Write the community of each vertex after five iterations."},
    Shown{"lcc", "edgewire lcc g.ew", "The mean coefficient, and the number of triangles."},
    Shown{"lcc", "edgewire lcc g.ew -o coefficients.tsv --top 5",
          "Write the coefficients, and show the five highest."},
    Shown{"sort", "edgewire sort records/* -o sorted", "Sort files of records into parts."},
    Shown{"sort", "edgewire sort records/* -o four --partitions 4 --verify",
          "Into four parts, and verify them."},
    Shown{"tasks number-inc", "edgewire tasks number-inc -p 2 -w 1",
          "What a task costs between two processes."},
    Shown{"tasks yield", "edgewire tasks yield -p 2 -w 1", "What it costs to go on in another process."},
    Shown{"tasks suspend", "edgewire tasks suspend -p 2 -w 1",
          "What it costs to wait for a task in another process."},
    Shown{"tasks iterative", "edgewire tasks iterative --width 20", "20 tasks a round."},
    Shown{"tasks iterative-j", "edgewire tasks iterative-j --width 20",
          "20 tasks a round, and one that joins."},
    Shown{"tasks smith-waterman", "edgewire tasks smith-waterman --length 600 --verify",
          "Align two sequences."},
    Shown{"tasks metg", "edgewire tasks metg --width 4 --steps 20 --repeat 1",
          "The shortest tasks that are worth it."},
    Shown{"profile", "edgewire profile -- pagerank g.ew", "Where the time of a run went."},
    Shown{"profile", "edgewire profile -o page.html -- pagerank g.ew -p 2",
          "The same on a page with charts."},
    Shown{"bound", "edgewire bound g.ew -p 2", "What PageRank must send at least between two processes."},
    Shown{"bound", "edgewire bound g.ew -p 2,4 -w 2 --rate 10G",
          "And how long 10 Gbit/s take for it, also with four processes."},
    Shown{"bound", "edgewire bound g.ew -p 4 --kernel bfs --source 1",
          "The same for a search, by superstep."},
    Shown{"compare", "edgewire compare g.ew -p 2 --rate 1G --repeat 1 -o page.html",
          "Strategies over a shaped link of this machine (as root)."},
    Shown{"compare", "edgewire compare g.ew --kernel bfs -p 2 --repeat 1 -- --source 1",
          "Another kernel over two links; its own options stand behind --."},
    Shown{"transports", "edgewire transports", "What can be used here."},
    Shown{"netbench", "edgewire netbench --transport tcp --test latency --sizes 8,4k",
          "How long messages take over TCP."},
    Shown{"diskbench", "edgewire diskbench . --size 4M --seconds 0.01",
          "How fast the disk of this folder reads."},
    Shown{"help", "edgewire help tasks metg", "Explain a program of tasks."},
};

/// The options that most users of a command need. Kernels have some in common, behind their own.
struct Used {
  std::string_view path, options;
  bool kernel = false;
};
constexpr std::string_view kOfKernels = " --output --top --processes --labels --verbose";
constexpr std::string_view kOfTasks = "--count --processes --workers --repeat --json";
constexpr std::array kUsed{
    Used{"convert", "--output --labels --columns --undirected --simple --memory"},
    Used{"generate kronecker", "--output --scale --edge-factor --weights --undirected --seed"},
    Used{"generate uniform", "--output --vertices --edge-factor --weights --undirected --seed"},
    Used{"generate grid", "--output --rows --columns --weights --seed"},
    Used{"pagerank", "--tolerance --iterations --damping", true},
    Used{"ppr", "--source --sources --tolerance", true},
    Used{"spmv", "--x --iterations --direction", true},
    Used{"bfs", "--source --samples --target", true},
    Used{"sssp", "--source --target --unit-weights", true},
    Used{"wcc", "", true},
    Used{"scc", "", true},
    Used{"bc", "--samples --sources --normalized", true},
    Used{"cdlp", "--iterations", true},
    Used{"lcc", "", true},
    Used{"sort", "--output --record --key --partitions --memory --processes --verify"},
    Used{"tasks number-inc", kOfTasks},
    Used{"tasks yield", kOfTasks},
    Used{"tasks suspend", kOfTasks},
    Used{"tasks iterative", kOfTasks},
    Used{"tasks iterative-j", kOfTasks},
    Used{"tasks smith-waterman", "--length --sequences --verify --processes --workers --json"},
    Used{"tasks metg", "--pattern --width --steps --processes --workers --json"},
    Used{"bound", "--kernel --source --processes --workers --rate --ownership --strategy --json"},
    Used{"compare", "--kernel --processes --workers --rate --strategy --repeat --output --json"},
    Used{"netbench", "--transport --test --sizes --seconds --hosts --rank --json"},
};

constexpr std::array kFamilies{
    Family{"generate, convert, info", "make a graph, turn files into one, say what it holds"},
    Family{"pagerank, ppr", "ranks of all vertices, also as seen from some of them"},
    Family{"bfs, sssp", "how far vertices are from one, by edges or by weights"},
    Family{"wcc, scc, cdlp", "connected components (weakly, strongly), communities"},
    Family{"bc, lcc", "betweenness centrality; clustering, triangles"},
    Family{"spmv", "the matrix of the graph times a vector"},
    Family{"sort, tasks", "sort records; what tasks cost that start others"},
    Family{"bound, compare", "what must be sent at least; runs beside that"},
    Family{"profile", "where the time of a run went"},
    Family{"topology, transports", "this machine, and what it can send by"},
    Family{"netbench, diskbench", "how fast links and disks are"},
    Family{"help", "explain a command, as COMMAND --help does"},
};

}  // namespace

std::vector<Example> examples_of(const std::string& path, bool below) {
  std::vector<Example> found;
  for (const Shown& one : kExamples)
    if (one.path == path || (below && one.path.starts_with(path + " ")))
      found.push_back({std::string(one.line), std::string(one.meaning)});
  return found;
}

std::vector<std::string> most_used(const std::string& path) {
  const auto* const found = std::ranges::find(kUsed, path, &Used::path);
  if (found == kUsed.end()) return {};
  std::istringstream words(std::string(found->options) + std::string(found->kernel ? kOfKernels : ""));
  return {std::istream_iterator<std::string>(words), {}};
}

std::span<const Family> families() { return kFamilies; }

}  // namespace edgewire::cli
