// Formats that Edgewire does not know, but Python does: the calls that messages name.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "graph/read/formats.h"
#include "graph/write/compress.h"

namespace edgewire::graph {

namespace {

/// A format, with calls in which {0} is the name of the file, and {1} in `writes` the thing that is written.
struct ForeignFormat {
  std::string_view endings;            ///< endings, separated by spaces
  std::string_view content{};          ///< name in formats.cpp, where the call is right for files of any name
  std::string_view reads{}, writes{};  ///< calls; empty: there is none
};

constexpr std::array kForeignFormats{
    ForeignFormat{".parquet .pq", "", "edgewire.read({0})", "{1}.to_parquet({0})"},
    ForeignFormat{".feather .arrow", "", "edgewire.read({0})", "{1}.to_feather({0})"},
    ForeignFormat{"", "Parquet", "edgewire.Graph.from_pandas(pandas.read_parquet({0}))"},
    ForeignFormat{"", "Arrow", "edgewire.Graph.from_pandas(pandas.read_feather({0}))"},
    ForeignFormat{".orc", "", "edgewire.Graph.from_pandas(pandas.read_orc({0}))", "{1}.to_orc({0})"},
    ForeignFormat{".xlsx .xls .ods", "", "edgewire.Graph.from_pandas(pandas.read_excel({0}))",
                  "{1}.to_excel({0}, index=False)"},
    ForeignFormat{".pkl .pickle", "", "edgewire.Graph.from_pandas(pandas.read_pickle({0}))",
                  "{1}.to_pickle({0})"},
    ForeignFormat{".h5 .hdf5 .hdf", "HDF5", "edgewire.Graph.from_pandas(pandas.read_hdf({0}))",
                  "{1}.to_hdf({0}, key=\"table\")"},
    ForeignFormat{".jsonl .ndjson", "", "edgewire.Graph.from_pandas(pandas.read_json({0}, lines=True))",
                  "{1}.to_json({0}, orient=\"records\", lines=True)"},
    ForeignFormat{".npy", "a NumPy array", "edgewire.Graph.from_numpy(*numpy.load({0}).T)"},
    ForeignFormat{".npz", "", "edgewire.Graph.from_scipy(scipy.sparse.load_npz({0}))"},
    ForeignFormat{".graphml", "", "edgewire.Graph.from_networkx(networkx.read_graphml({0}))",
                  "networkx.write_graphml({1}, {0})"},
    ForeignFormat{".gexf", "", "edgewire.Graph.from_networkx(networkx.read_gexf({0}))",
                  "networkx.write_gexf({1}, {0})"},
    ForeignFormat{".gml", "GML", "edgewire.Graph.from_networkx(networkx.read_gml({0}))",
                  "networkx.write_gml({1}, {0})"},
    ForeignFormat{".net .paj", "Pajek", "edgewire.Graph.from_networkx(networkx.read_pajek({0}))",
                  "networkx.write_pajek({1}, {0})"},
    ForeignFormat{".mat .xml .html .avro .sqlite .db .yaml .dot .gv"},
};

const ForeignFormat* format_with(std::string_view ending) {
  const auto found = std::ranges::find_if(
      kForeignFormats, [&](const ForeignFormat& one) { return has_ending(one.endings, ending); });
  return found == kForeignFormats.end() ? nullptr : &*found;
}

std::string literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

bool is_foreign_ending(std::string_view ending) { return format_with(ending) != nullptr; }

std::string python_reads(const std::string& path, std::string_view content) {
  if (!packed_ending(path).empty()) return {};
  const ForeignFormat* format = format_with(ending_of(path));
  for (const ForeignFormat& one : kForeignFormats)
    if (format == nullptr && !content.empty() && one.content == content) format = &one;
  if (format == nullptr || format->reads.empty()) return {};
  const std::string graph = std::filesystem::path(path).replace_extension(".ew");
  return fmt::format("{}.save({})", fmt::format(fmt::runtime(format->reads), literal(path)), literal(graph));
}

std::string python_writes(const std::string& path, std::string_view table, std::string_view network) {
  if (!packed_ending(path).empty()) return {};
  const ForeignFormat* const format = format_with(ending_of(path));
  if (format == nullptr || format->writes.empty()) return {};
  const std::string_view written = format->writes.starts_with("networkx.") ? network : table;
  if (written.empty()) return {};
  return fmt::format(fmt::runtime(format->writes), literal(path), written);
}

}  // namespace edgewire::graph
