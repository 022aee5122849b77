// A file that appears whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <sys/stat.h>

#include "base/output_folder.h"

namespace edgewire {

/// A file without a name until commit() gives it PATH: whatever ends the process before, nothing is left
/// behind. Where the system knows no such files, or refuses to give them a name (linkat), it has a name
/// meanwhile that nobody can foresee, beside the file. Links are followed (see output_target()): the file
/// that they lead to is replaced, and the links stay. A file that was there hands down its permissions, and
/// its owner where this process may give files away. All members throw Error with the path and the system's
/// reason.
class OutputFile {
 public:
  /// Refuses paths that exist and are not regular files. `mode`: the permissions, less the umask, whatever a
  /// file that is there has.
  explicit OutputFile(std::string path, std::optional<std::uint32_t> mode = {});
  /// Makes a file in `folder` that never gets a name. It is gone with this and with all who have it open.
  static std::unique_ptr<OutputFile> nameless(const std::string& folder);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  bool nameless() const noexcept { return nameless_; }
  /// Returns a descriptor for reading and writing, until commit(). A nameless file has it afterwards, too,
  /// and this also holds for the next function.
  int descriptor() const noexcept { return descriptor_; }
  /// Returns a path by which another process of this host and user can open it, until commit().
  std::string path_for_others() const;
  /// Takes the room that the file will need, where the file system can; so a full disk is noticed early.
  void reserve(std::uint64_t bytes);
  /// Writes bytes at an offset. It is thread safe.
  void write(const void* data, std::uint64_t bytes, std::uint64_t offset);
  /// Does all of commit() that may find the disk full, and closes the file, so that only the name is left to
  /// be given: where several files belong together, none replaces an older one before all can.
  void prepare();
  void commit();
  /// Commits all of them. Where it fails, none has a name, and what was there before stays unless the system
  /// refuses the very names.
  static void commit_all(std::span<const std::unique_ptr<OutputFile>> files);
  /// Removes the file that has the name: the one that was there before commit(), or what commit() has named.
  void remove_named() const noexcept;

 private:
  struct Nameless {};
  OutputFile(Nameless, const std::string& folder);
  void open_file(std::uint32_t mode);
  void open_aside(std::uint32_t mode);
  bool link_to(const std::string& name) const;
  void link_aside();
  void copy_aside();
  void finish();
  [[noreturn]] void fail(int cause) const;
  std::string path_;                    ///< path that was asked for
  std::string target_;                  ///< path with its links followed
  std::optional<struct stat> old_;      ///< the file that was there, if it hands down its permissions
  std::optional<TemporaryName> aside_;  ///< name until commit(), if the file has one
  bool nameless_ = false;
  int descriptor_ = -1;
};

/// Returns the path of the file that an output named `path` is written to: all links are followed, so the
/// link stays and its target is replaced. A name that leads into /proc (as /dev/fd/5 does) ends there. Throws
/// Error with the path when it is a link whose target is missing, and when another user has put a link into a
/// folder that group or others can write to, sticky or not: whoever prepared it would choose what is written
/// over. It follows links of root in folders that lead to the file.
std::string output_target(const std::string& path);

/// Returns a name in the folder of `path` that nobody else uses or can foresee.
std::string name_aside(const std::string& path);

}  // namespace edgewire
