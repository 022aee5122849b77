// The graph in an archive of the SuiteSparse collection (.tar.gz) or of KONECT (.tar.bz2).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "graph/decompress.h"

namespace edgewire::graph {

inline constexpr std::size_t kTarBlock = 512;

/// Whether the first block of a file is a header of a tar archive (ustar, POSIX or GNU).
bool is_tar(std::string_view first_block);

/// Reads the one file of an archive that holds the graph: NAME/NAME.mtx (SuiteSparse) or NAME/out.NAME
/// (KONECT). The rest of the archive is read through after it, so that damage is noticed.
class TarReader final : public ByteStream {
 public:
  /// `archive` stands after its first block, which is `first_block`. Throws Error, with `name` (the
  /// archive's), when it holds no such file.
  TarReader(std::unique_ptr<ByteStream> archive, std::string name, std::string_view first_block);

  std::size_t read(char* to, std::size_t room) override;
  /// The path of the file within the archive.
  const std::string& member() const noexcept { return member_; }

 private:
  void skip(std::uint64_t bytes);
  [[noreturn]] void fail(std::string_view what) const;

  std::unique_ptr<ByteStream> archive_;
  std::string name_;
  std::string member_;
  std::uint64_t left_ = 0;  ///< bytes of the member that have not been read
};

}  // namespace edgewire::graph
