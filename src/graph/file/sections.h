// All writers of a graph file write sections in blocks, then their checksums, and the header at last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/output_file.h"
#include "base/parallel.h"
#include "graph/file/format.h"

namespace edgewire::graph {

/// A function that puts elements [first, first + count) of a section at `to`.
using FillSection =
    std::function<void(std::uint32_t section, std::uint64_t first, std::uint64_t count, std::byte* to)>;

/// Writes a file that holds a whole graph, whose header is laid out, but not its name: the sections by
/// workers, which need the memory of a block each, then the checksums and the header, which it completes.
/// Several workers call `fill`. `step`: for `progress`. Throws Error.
void write_sections(OutputFile& output, Header& header, int workers, const FillSection& fill,
                    const char* step, const Progress& progress);

/// Writes the table of checksums of all blocks, and puts its own checksum into the header. Throws Error.
void write_checksums(OutputFile& output, Header& header, std::span<const std::uint64_t> checksums);

/// Writes the header with its own checksum, as the last step. Throws Error.
void write_header(OutputFile& output, Header& header);

}  // namespace edgewire::graph
