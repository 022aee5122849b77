#include "graph/mapped_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "graph/format.h"

namespace edgewire::graph {

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("{}: cannot read: {}", path_, why));
  };
  const auto message = [](int cause) { return std::generic_category().message(cause); };
  // Nonblocking, so that a pipe without a writer does not hang.
  const int descriptor = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse(message(errno));
  struct stat status {};
  int cause = fstat(descriptor, &status) == 0 ? 0 : errno;
  if (cause == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    bytes_ = static_cast<std::uint64_t>(status.st_size);
    void* mapped = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) {
      cause = errno;
    } else {
      data_ = static_cast<const std::uint8_t*>(mapped);
    }
  }
  if (status.st_uid != geteuid())
    distrust_ = "it belongs to another user";
  else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    distrust_ = "others can write it (chmod go-w helps)";
  close(descriptor);
  if (cause != 0) refuse(message(cause));
  if (S_ISDIR(status.st_mode)) refuse(message(EISDIR));
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::uint8_t*>(data_), bytes_);
}

void MappedFile::fail(std::uint64_t offset, std::string_view what) const {
  throw Error(fmt::format("{}: byte {}: {}", path_, offset, what));
}

void MappedFile::release(std::uint64_t begin, std::uint64_t end) const noexcept {
  begin = padded(begin);
  end = end / kPageBytes * kPageBytes;
  if (begin < end) madvise(const_cast<std::uint8_t*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace edgewire::graph
