#include "cli/commands.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/kernel_options.h"
#include "cli/option.h"

namespace edgewire::cli {

namespace {

constexpr const char* kOfTasks = "--count --processes --workers --repeat --json";
/// The common options of kernels, behind their own.
constexpr std::string_view kOfKernels = " --output --top --processes --labels --verbose";

constexpr std::array kFamilies{
    Family{"generate, convert, info", "make a graph, turn files into one, show what it holds"},
    Family{"pagerank, ppr", "ranks of all vertices, also as seen from some of them"},
    Family{"bfs, sssp", "distances from one vertex, by edges or by weights"},
    Family{"wcc, scc, cdlp", "connected components (weakly, strongly), communities"},
    Family{"bc, lcc, tc", "betweenness centrality; clustering; triangles"},
    Family{"spmv", "the matrix of the graph times a vector"},
    Family{"sort, tasks", "sort records; measure the cost of tasks"},
    Family{"bound, compare", "the least that must be sent; runs beside it"},
    Family{"profile", "where the time of a run went"},
    Family{"topology, transports", "this machine, and its transports"},
    Family{"netbench, diskbench", "the speed of links and disks"},
    Family{"help", "explain a command, as COMMAND --help does"},
};

std::vector<Command>& all_commands() {
  static std::vector<Command> all = {
      {.path = "",
       .examples = {{"edgewire generate kronecker --scale 16 --weights -o g.ew",
                     "Make a graph to try things with."},
                    {"edgewire pagerank g.ew -p 2", "Rank its vertices by two processes."},
                    {"edgewire help pagerank", "Explain a command."}}},
      {.path = "topology",
       .add = add_topology,
       .examples = {{"edgewire topology", "The cores, memory and network cards of this machine."},
                    {"edgewire topology -p 2", "Where the workers of two processes would be."}}},
      {.path = "generate", .add = add_generate},
      {.path = "generate kronecker",
       .most_used = "--output --scale --edge-factor --weights --undirected --seed",
       .examples = {{"edgewire generate kronecker --scale 16 --weights -o g.ew",
                     "A graph as Graph500 has them, with 2^16 vertices and random weights."}}},
      {.path = "generate uniform",
       .most_used = "--output --vertices --edge-factor --weights --undirected --seed",
       .examples = {{"edgewire generate uniform --vertices 5000 -o uniform.ew",
                     "5000 vertices, with 16 edges each to any vertices."}}},
      {.path = "generate grid",
       .most_used = "--output --rows --columns --weights --seed",
       .examples = {{"edgewire generate grid --rows 300 --columns 200 -o grid.ew",
                     "A grid, in which each cell is joined to its neighbours."}}},
      {.path = "generate records",
       .examples = {{"edgewire generate records --bytes 4M --files 2 -o records", "Files to sort."}}},
      {.path = "pagerank",
       .add = add_pagerank,
       .kind = Kind::kernel,
       .most_used = "--tolerance --iterations --damping",
       .other_names = "pr",
       .examples = {{"edgewire pagerank g.ew", "The ten vertices of the highest ranks."},
                    {"edgewire pagerank g.ew -p 2 --tolerance 1e-6 -o ranks.tsv",
                     "Iterate until ranks hardly change, by two processes, and write all ranks."},
                    {"edgewire pagerank names.tsv --labels -o -",
                     "Ranks of a list of edges with names, on standard output."}}},
      {.path = "bfs",
       .add = add_bfs,
       .kind = Kind::kernel,
       .most_used = "--source --samples --target",
       .examples = {{"edgewire bfs g.ew --source 1",
                     "How many vertices can be reached from a vertex, and how far."},
                    {"edgewire bfs g.ew --source 1 --target 5", "A shortest path to one of them."},
                    {"edgewire bfs g.ew --samples 64 --json report.json",
                     "Search from 64 vertices, as Graph500 does."}}},
      {.path = "sssp",
       .add = add_sssp,
       .kind = Kind::kernel,
       .most_used = "--source --target --unit-weights",
       .other_names = "dijkstra shortest-paths",
       .examples = {{"edgewire sssp g.ew --source 1 -o distances.tsv",
                     "Shortest distances by the weights of the graph."},
                    {"edgewire sssp edges.txt --unit-weights --source 1 --target 3",
                     "Where a graph has no weights: the path of the fewest edges."}}},
      {.path = "ppr",
       .add = add_ppr,
       .kind = Kind::kernel,
       .most_used = "--source --sources --tolerance",
       .examples = {{"edgewire ppr g.ew --source 17", "The ten vertices that are nearest to one."},
                    {"edgewire ppr g.ew --sources 17,42 --weighted -o ranks.tsv",
                     "As seen from two vertices, by weights; write all ranks."}}},
      {.path = "spmv",
       .add = add_spmv,
       .kind = Kind::kernel,
       .most_used = "--x --iterations --direction",
       .examples = {{"edgewire spmv g.ew -o y.tsv", "Multiply by a vector of ones."},
                    {"edgewire spmv g.ew --iterations 3 --verify", "Three times, and verify the result."}}},
      {.path = "wcc",
       .add =
           [](CLI::App& app) {
             add_frontier_kernel(
                 app, "wcc", "compute the weakly connected component of every vertex",
                 {"Two vertices are in the same component when edges, in any direction, lead from one to the "
                  "other. The label of a component is its first vertex in the file. In graphs that store "
                  "every edge both ways (convert --undirected) most edges are skipped.",
                  kLabelsOutput,
                  "check that labels agree along each edge and that no two components share one, and exit "
                  "with 1 when they do",
                  "largest components, by label and number of vertices"},
                 true, [](const KernelOptions&) { return runs::make_wcc(); });
           },
       .kind = Kind::kernel,
       .other_names = "cc components",
       .examples = {{"edgewire wcc g.ew", "How many components there are, and how large the largest one is."},
                    {"edgewire wcc g.ew -o components.tsv --top 3",
                     "Write the component of each vertex, and show the three largest."}}},
      {.path = "scc",
       .add =
           [](CLI::App& app) {
             add_frontier_kernel(
                 app, "scc", "compute the strongly connected component of every vertex",
                 {"Two vertices are in the same component when paths lead along edges from each to the "
                  "other. The label of a component is its first vertex in the file. In graphs that store "
                  "every edge both ways (convert --undirected) these are the components of wcc, and are "
                  "found as it finds them. Edges stay in memory: those that are left beside the largest "
                  "component are needed in both directions.",
                  kLabelsOutput,
                  "find the components again by one depth-first search, and exit with 1 when a label is not "
                  "the first vertex of its component",
                  "largest components, by label and number of vertices"},
                 false, [](const KernelOptions&) { return runs::make_scc(); });
           },
       .kind = Kind::kernel,
       .examples = {{"edgewire scc g.ew", "How many components there are, and how large the largest one is."},
                    {"edgewire scc g.ew -o components.tsv --top 3",
                     "Write the component of each vertex, and show the three largest."}}},
      {.path = "bc",
       .add = add_bc,
       .kind = Kind::kernel,
       .most_used = "--samples --sources --normalized",
       .other_names = "betweenness",
       .examples = {{"edgewire bc g.ew --samples 16 --normalized",
                     "An estimate from 16 sources: the ten highest scores."},
                    {"edgewire bc grid.ew --sources 1,2,3 -o scores.tsv",
                     "Only the paths that start at three vertices."}}},
      {.path = "cdlp",
       .add = add_cdlp,
       .kind = Kind::kernel,
       .most_used = "--iterations",
       .other_names = "communities label-propagation",
       .examples = {{"edgewire cdlp g.ew",
                     "How many communities there are, and how large the largest one is."},
                    {"edgewire cdlp g.ew --iterations 5 -o communities.tsv",
                     "Write the community of each vertex after five iterations."}}},
      {.path = "lcc",
       .add =
           [](CLI::App& app) {
             add_frontier_kernel(
                 app, "lcc", "compute the local clustering coefficient of every vertex, count triangles",
                 {"The neighbours of a vertex are all others with an edge to or from it. Its coefficient is "
                  "the number of edges that lead from one neighbour to another, divided by d (d - 1), the "
                  "most that there can be between d neighbours; it is 0 where d is less than 2. An edge that "
                  "occurs several times counts once, self loops do not count. A triangle is three vertices "
                  "that are neighbours of one another.",
                  "the coefficients to this file as lines of id, tab and coefficient",
                  "count the edges between the neighbours of each vertex again, one vertex after another, "
                  "and exit with 1 when a coefficient is wrong",
                  "vertices of the highest coefficients"},
                 false, [](const KernelOptions&) { return runs::make_lcc(); });
           },
       .kind = Kind::kernel,
       .other_names = "clustering",
       .examples = {{"edgewire lcc g.ew", "The mean coefficient, and the number of triangles."},
                    {"edgewire lcc g.ew -o coefficients.tsv --top 5",
                     "Write the coefficients, and show the five highest."}}},
      {.path = "tc",
       .add =
           [](CLI::App& app) {
             auto& asked = add_frontier_kernel(
                 app, "tc", "count the triangles of the graph, or of each vertex",
                 {"A triangle is three vertices that are neighbours of one another: an edge leads from one "
                  "to the other, in any direction. It counts once, also where edges occur several times; "
                  "self loops do not count. With -o or --top the triangles that each vertex is a corner of "
                  "are counted, too, which takes longer.",
                  "the triangles of each vertex to this file as lines of id, tab and number",
                  "count the triangles again, one vertex after another, and exit with 1 when a number is "
                  "wrong",
                  "vertices in most triangles"},
                 false, [](const KernelOptions& options) {
                   return runs::make_tc(
                       {.vertices = !options.output_path.empty() || options.top.value_or(0) > 0});
                 });
             asked.python_call = "edgewire.tc(..., vertices=True)";
           },
       .kind = Kind::kernel,
       .other_names = "triangles",
       .examples = {{"edgewire tc g.ew", "The number of triangles alone, with less work than lcc."},
                    {"edgewire tc g.ew -o triangles.tsv --top 5",
                     "Write the triangles of each vertex, and show the five vertices in most of them."}}},
      {.path = "sort",
       .add = add_sort,
       .kind = Kind::profiled,
       .most_used = "--output --record --key --partitions --memory --processes --verify",
       .examples = {{"edgewire sort records/* -o sorted", "Sort files of records into parts."},
                    {"edgewire sort records/* -o four --partitions 4 --verify",
                     "Into four parts, and verify them."}}},
      {.path = "tasks", .add = add_tasks, .kind = Kind::profiled},
      {.path = "tasks number-inc",
       .most_used = kOfTasks,
       .examples = {{"edgewire tasks number-inc -p 2 -w 1", "What a task costs between two processes."}}},
      {.path = "tasks yield",
       .most_used = kOfTasks,
       .examples = {{"edgewire tasks yield -p 2 -w 1", "What it costs to go on in another process."}}},
      {.path = "tasks suspend",
       .most_used = kOfTasks,
       .examples = {{"edgewire tasks suspend -p 2 -w 1",
                     "What it costs to wait for a task in another process."}}},
      {.path = "tasks iterative",
       .most_used = kOfTasks,
       .examples = {{"edgewire tasks iterative --width 20", "20 tasks a round."}}},
      {.path = "tasks iterative-j",
       .most_used = kOfTasks,
       .examples = {{"edgewire tasks iterative-j --width 20", "20 tasks a round, and one that joins."}}},
      {.path = "tasks smith-waterman",
       .most_used = "--length --sequences --verify --processes --workers --json",
       .examples = {{"edgewire tasks smith-waterman --length 600 --verify", "Align two sequences."}}},
      {.path = "tasks metg",
       .most_used = "--pattern --width --steps --processes --workers --json",
       .examples = {{"edgewire tasks metg --width 4 --steps 20 --repeat 1",
                     "The shortest tasks that are worth it."}}},
      {.path = "profile",
       .add = add_profile,
       .examples = {{"edgewire profile -- pagerank g.ew", "Where the time of a run went."},
                    {"edgewire profile -o page.html -- pagerank g.ew -p 2",
                     "The same on a page with charts."}}},
      {.path = "convert",
       .add = add_convert,
       .kind = Kind::profiled,
       .most_used = "--output --labels --columns --undirected --simple --memory",
       .other_names = "import",
       .examples = {{"edgewire convert edges.txt -o edges.ew",
                     "A list of edges, a pair of numbers on each line."},
                    {"edgewire convert names.tsv --labels -o names.ew",
                     "The same with names instead of numbers, which results show."},
                    {"edgewire convert edges.ew -o edges.csv.gz",
                     "To another format: a compressed table, with names where the graph has some."}}},
      {.path = "info",
       .add = add_info,
       .other_names = "stats",
       .examples = {{"edgewire info g.ew", "What a graph holds."},
                    {"edgewire info edges.txt --verify",
                     "A file in another format, and whether it is in order."}}},
      {.path = "bound",
       .add = add_bound,
       .most_used = "--kernel --source --processes --workers --rate --ownership --strategy --json",
       .examples = {{"edgewire bound g.ew -p 2", "What PageRank must send at least between two processes."},
                    {"edgewire bound g.ew -p 2,4 -w 2 --rate 10G",
                     "And how long 10 Gbit/s take for it, also with four processes."},
                    {"edgewire bound g.ew -p 4 --kernel bfs --source 1",
                     "The same for a search, by superstep."}}},
      {.path = "compare",
       .add = add_compare,
       .most_used = "--kernel --processes --workers --rate --strategy --repeat --output --json",
       .examples = {{"edgewire compare g.ew -p 2 --rate 1G --repeat 1 -o page.html",
                     "Strategies over a shaped link of this machine (as root)."},
                    {"edgewire compare g.ew --kernel bfs -p 2 --repeat 1 -- --source 1",
                     "Another kernel over two links; its own options stand behind --."}}},
      {.path = "transports",
       .add = add_transports,
       .examples = {{"edgewire transports", "What can be used here."}}},
      {.path = "netbench",
       .add = add_netbench,
       .most_used = "--transport --test --sizes --seconds --hosts --rank --json",
       .examples = {{"edgewire netbench --transport tcp --test latency --sizes 8,4k",
                     "How long messages take over TCP."}}},
      {.path = "diskbench",
       .add = add_diskbench,
       .examples = {{"edgewire diskbench . --size 4M --seconds 0.01",
                     "How fast the disk of this folder reads."}}},
      {.path = "help",
       .add = add_help,
       .examples = {{"edgewire help tasks metg", "Explain a program of tasks."}}},
      {.path = "manual", .add = add_manual},
  };
  return all;
}

}  // namespace

const std::vector<Command>& commands() { return all_commands(); }

void add_commands(CLI::App& app, std::vector<Command> more) {
  forget_file_options();
  forget_rows();
  auto& all = all_commands();
  for (Command& one : more) {
    if (std::ranges::find(all, one.path, &Command::path) != all.end())
      throw UsageError(
          fmt::format("{}: a command of this program has this name; choose another one", one.path));
    all.push_back(std::move(one));
  }
  for (const Command& one : all)
    if (one.add) one.add(app);
  add_version(app);
}

std::vector<Example> examples_of(const std::string& path, bool below) {
  std::vector<Example> found;
  for (const Command& one : commands())
    if (one.path == path || (below && one.path.starts_with(path + " ")))
      found.insert(found.end(), one.examples.begin(), one.examples.end());
  return found;
}

std::vector<std::string> most_used(const std::string& path) {
  const auto found = std::ranges::find(commands(), path, &Command::path);
  if (found == commands().end()) return {};
  std::istringstream words(found->most_used + std::string(found->kind == Kind::kernel ? kOfKernels : ""));
  return {std::istream_iterator<std::string>(words), {}};
}

std::vector<Family> families() {
  std::vector<Family> all(kFamilies.begin(), kFamilies.end());
  for (const Command& one : commands())
    if (!one.purpose.empty()) all.push_back({one.path, one.purpose});
  return all;
}

}  // namespace edgewire::cli
