// A regular file mapped read only.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace edgewire {

/// Sections of files begin at multiples of this, as pages of memory do.
inline constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

/// Maps a whole file. Directories, pipes and devices are refused, without blocking. An empty file has no
/// data. If the file is cut short, or its disk fails, while its data is used, the process ends with exit
/// status 1 and a line that names the file and the byte. If the process crashes after the file was written
/// anew, it ends in the same way. A file that another one replaces by its name does not change.
class MappedFile {
 public:
  /// Throws Error with the path and the system's reason. `name`: what messages call it; empty: `path`.
  explicit MappedFile(const std::string& path, const std::string& name = {});
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// Returns the name that messages call it by.
  const std::string& path() const noexcept { return path_; }
  const std::uint8_t* data() const noexcept { return data_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Returns whether nine tenths of the file, by a sample, lie in the system's page cache. Returns false
  /// where the system does not say, as for files of other users.
  bool is_cached() const noexcept;
  /// Returns why somebody else may have written the file; empty where only this user could.
  std::string_view distrust() const noexcept { return distrust_; }
  /// Throws Error: "PATH: byte OFFSET: WHAT", or FileChanged if that is why.
  [[noreturn]] void fail(std::uint64_t offset, std::string_view what) const;
  /// Maps `bytes` of the file from `offset` on at `address`, over what is mapped there. Both are multiples of
  /// pages; the pages must not be used when this object has gone. At most kPlaces times. Throws Error.
  void map_at(void* address, std::uint64_t offset, std::uint64_t bytes);
  static constexpr std::size_t kPlaces = 4;
  /// Tells the kernel whether few bytes in many places will be read next. If so, the kernel reads no more
  /// than these from the disk. Else it reads ahead, as at first.
  void expect_scattered_reads(bool scattered) const noexcept;
  /// Lets the kernel drop the pages that lie within [begin, end) from this process.
  void release(std::uint64_t begin, std::uint64_t end) const noexcept;
  /// Does the same where a file is mapped, by addresses.
  static void release(const std::uint8_t* begin, const std::uint8_t* end) noexcept;

 private:
  std::string path_;
  const std::uint8_t* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::string_view distrust_;
  int descriptor_ = -1;    ///< descriptor that is open as long as the file is mapped, so that changes show
  std::size_t range_ = 0;  ///< number of the file among all that are mapped
};

/// The flags by which the processes of a job tell each other that one of them has said how the job ends. They
/// are in memory that all of them share.
struct SaidOfEnd {
  /// A process has ended, and said why, before others could hear it: they need not say that it was lost.
  std::atomic<bool> early = false;
  /// A process has said why the job fails. Another one may find a fault of the same kind at the same time,
  /// such as a weight at another edge: one is enough.
  std::atomic<bool> cause = false;
};

/// Lets this process, and those that it forks from now on, heed and set these flags when a mapped file ends
/// them: they cannot tell their peers then. Null: nothing is shared. `said` must outlive the processes.
void share_end(SaidOfEnd* said) noexcept;

/// Throws FileChanged if a mapped file was written since: its size, its time or its first page differs. Call
/// it before you publish anything that files were read for. It costs a system call for each file.
void refuse_changed_files();

}  // namespace edgewire
