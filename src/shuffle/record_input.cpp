#include "shuffle/record_input.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/file_calls.h"
#include "options/files.h"
#include "shuffle/record.h"

namespace edgewire::shuffle {

void check(const RecordShape& shape) {
  check_range(opt::record, shape.bytes);
  if (shape.key_bytes == 0 || shape.key_offset >= shape.bytes ||
      shape.key_bytes > shape.bytes - shape.key_offset)
    throw UsageError(fmt::format("{}: the key lies outside of records of {} ({})",
                                 opt::key(fmt::format("{}:{}", shape.key_offset, shape.key_bytes)),
                                 shape.bytes, opt::record));
}

RecordInput::RecordInput(const std::vector<std::string>& paths, std::size_t record_bytes)
    : record_bytes_(record_bytes) {
  std::uint64_t begin = 0;
  for (const auto& path : paths) {
    OpenFile file(uninterrupted([&] {
      return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe without a writer must not block
    }));
    struct stat status {};
    if (file.descriptor() < 0 || fstat(file.descriptor(), &status) != 0)
      throw Error(fmt::format("{}: cannot read: {}", path, reason(errno)));
    if (!S_ISREG(status.st_mode))
      throw Error(fmt::format("{}: cannot read: {}", path,
                              S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file"));
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    if (bytes % record_bytes != 0)
      throw Error(fmt::format("{}: {} bytes are no whole number of records of {} bytes ({})", path, bytes,
                              record_bytes, opt::record));
    posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
    files_.push_back({path, std::move(file), begin, begin + bytes / record_bytes, status.st_mtim});
    begin = files_.back().end;
  }
}

void RecordInput::read(std::uint64_t first, std::uint64_t count, std::byte* to) const {
  auto one = std::ranges::upper_bound(files_, first, {}, &One::end);
  for (; count > 0; ++one) {
    const std::uint64_t some = std::min(count, one->end - first);
    read_at(one->file.descriptor(), one->path, to, some * record_bytes_,
            (first - one->begin) * record_bytes_);
    to += some * record_bytes_;
    first += some;
    count -= some;
  }
}

void RecordInput::refuse_changed() const {
  for (const One& one : files_) {
    struct stat now {};
    if (fstat(one.file.descriptor(), &now) != 0)
      throw Error(fmt::format("{}: cannot read: {}", one.path, reason(errno)));
    if (static_cast<std::uint64_t>(now.st_size) != (one.end - one.begin) * record_bytes_ ||
        now.st_mtim.tv_sec != one.written.tv_sec || now.st_mtim.tv_nsec != one.written.tv_nsec)
      throw Error(fmt::format("{}: the file was written while it was read; run again", one.path));
  }
}

}  // namespace edgewire::shuffle
