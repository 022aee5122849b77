// The program to compare with: PageRank as a plain pull over the transposed CSR, in the given order, with a
// float for each vertex (pull.h).
//
// Usage: pull GRAPH.ew --threads N --iterations N --ranks FILE
// FILE gets the ranks as f32; stdout one line of JSON.
#include "perf/peers/pull.h"

#include <exception>
#include <nlohmann/json.hpp>

namespace {

void run(std::span<char* const> words) {
  if (words.size() < 2) throw edgewire::Error("usage: pull GRAPH.ew --threads N --iterations N --ranks FILE");
  const int threads = std::stoi(pull::option(words, 2, "--threads"));
  const int iterations = std::stoi(pull::option(words, 2, "--iterations"));
  const auto start = edgewire::Clock::now();
  const auto graph = edgewire::Graph::open(words[1]);
  graph.verify_rows(0, graph.vertices());
  const pull::OwnInEdges edges(graph);
  pull::PageRank kernel(edges.view());
  const double seconds_load = edgewire::seconds_since(start);
  const std::vector<double> seconds = pull::run_passes(kernel, threads, iterations);
  pull::OutputBytes ranks(pull::option(words, 2, "--ranks"));
  ranks.write(kernel.values());
  ranks.close();
  const nlohmann::ordered_json figures{
      {"version", "-O3"}, {"seconds", seconds}, {"seconds_load", seconds_load}};
  fmt::print("{}\n", figures.dump());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv, static_cast<std::size_t>(argc)});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "pull: {}\n", error.what());
    return 1;
  }
}
