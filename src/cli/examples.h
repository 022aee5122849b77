// This file has command lines that the man pages show.
#pragma once

#include <span>
#include <string>

namespace edgewire::cli {

struct Example {
  std::string command;  ///< whose page shows it, such as "pagerank"; empty: the page of the program
  std::string line;     ///< line for a shell
  std::string meaning;
};

/// Returns the examples in an order in which they can be run in one folder that has edges.txt and names.tsv.
std::span<const Example> examples();

}  // namespace edgewire::cli
