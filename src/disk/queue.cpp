#include "disk/queue.h"

#include <liburing.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/mapped_file.h"

namespace edgewire::disk {

namespace {

constexpr unsigned kEntries = 64;  // number of entries that are handed over at a time; more may be under way
// The system is asked again where it lacks memory or has too many completions to tell: for about a second.
constexpr int kMostRefusals = 1000;
constexpr std::chrono::milliseconds kPause{1};
/// The most transfers under way. The ring has room to tell of all of them: where it has not, the kernel takes
/// more memory, and in a control group without any the end of a transfer is lost.
constexpr unsigned kMostUnderWay = 1024;

}  // namespace

void Queue::Close::operator()(io_uring* ring) const noexcept {
  io_uring_queue_exit(ring);
  delete ring;  // NOLINT(cppcoreguidelines-owning-memory): this is the deleter of the unique_ptr
}

Queue::Queue(bool allowed) {
  if (!allowed) return;
  auto ring = std::make_unique<io_uring>();
  io_uring_params params{};
  params.flags = IORING_SETUP_CQSIZE;
  params.cq_entries = kMostUnderWay;
  if (io_uring_queue_init_params(kEntries, ring.get(), &params) != 0) return;
  ring_.reset(ring.release());
  // The system refuses the ring.
  if (syscall(SYS_io_uring_enter, ring_->ring_fd, 0, 0, 0, nullptr, 0) < 0) ring_.reset();
}

/// Closes the ring. The system gives registered files back some time after the ring is closed, even after the
/// process has ended, and a disk cannot be unmounted until then.
Queue::~Queue() {
  if (!files_.empty()) io_uring_unregister_files(ring_.get());
}

void Queue::register_memory(std::span<std::byte> memory) noexcept {
  const iovec one{memory.data(), memory.size()};
  if (ring_ && io_uring_register_buffers(ring_.get(), &one, 1) == 0) memory_ = memory;
}

void Queue::register_files(std::span<const int> descriptors) noexcept {
  if (ring_ && io_uring_register_files(ring_.get(), descriptors.data(),
                                       static_cast<unsigned>(descriptors.size())) == 0)
    files_.assign(descriptors.begin(), descriptors.end());
}

bool Queue::has_registered(std::span<const std::byte> memory) const noexcept {
  return memory.data() >= memory_.data() && memory.data() + memory.size() <= memory_.data() + memory_.size();
}

/// Hands requests to the system, unless a batch is open. If the system takes none now, the next call hands
/// them over, or the next wait for a transfer.
void Queue::submit() noexcept {
  if (ring_ && batches_ == 0) io_uring_submit(ring_.get());
}

void Queue::wait_for_one() noexcept {
  io_uring_cqe* done = nullptr;
  for (int refusals = 0; io_uring_peek_cqe(ring_.get(), &done) != 0;) {
    const int result = io_uring_submit_and_wait(ring_.get(), 1);
    if (result >= 0 || result == -EINTR) continue;
    if ((result != -EAGAIN && result != -EBUSY) || ++refusals == kMostRefusals) {
      error_ = -result;
      return;
    }
    std::this_thread::sleep_for(kPause);
  }
  auto* const transfer = static_cast<Transfer*>(io_uring_cqe_get_data(done));
  const int result = done->res;
  io_uring_cqe_seen(ring_.get(), done);
  --under_way_;
  transfer->advance(result);
  if (transfer->under_way_) transfer->go_on();
}

void Transfer::write(int descriptor, std::span<const std::byte> from, std::uint64_t offset) noexcept {
  auto* const memory =
      const_cast<std::byte*>(from.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast): only read
  start(descriptor, {memory, from.size()}, offset, true);
}

void Transfer::start(int descriptor, std::span<std::byte> memory, std::uint64_t offset,
                     bool writes) noexcept {
  descriptor_ = descriptor;
  writes_ = writes;
  memory_ = memory.data();
  left_ = memory.size();
  offset_ = offset;
  go_on();
}

void Transfer::go_on() noexcept {
  error_ = queue_.error_;
  under_way_ = left_ > 0 && error_ == 0;
  if (!under_way_) return;
  io_uring* const ring = queue_.ring_.get();
  if (ring == nullptr) {
    topology::Asides asides(queue_.observer(), queue_.worker_, -1);
    while (under_way_) {
      const auto at = static_cast<off_t>(offset_);
      const ssize_t bytes =
          writes_ ? pwrite(descriptor_, memory_, left_, at) : pread(descriptor_, memory_, left_, at);
      advance(bytes < 0 ? -errno : static_cast<int>(bytes));
    }
    asides.was(topology::Phase::wait);
    return;
  }
  while (queue_.under_way_ == kMostUnderWay && queue_.error_ == 0) queue_.wait_for_one();
  ++queue_.under_way_;
  io_uring_sqe* entry = io_uring_get_sqe(ring);
  for (; entry == nullptr && queue_.error_ == 0; entry = io_uring_get_sqe(ring))
    if (io_uring_submit(ring) < 0) queue_.wait_for_one();  // the system has too many completions to tell
  if (entry == nullptr) return;                            // wait() says why
  const auto bytes = static_cast<unsigned>(left_);
  if (writes_)
    io_uring_prep_write(entry, descriptor_, memory_, bytes, offset_);
  else if (queue_.has_registered({memory_, left_}))
    io_uring_prep_read_fixed(entry, descriptor_, memory_, bytes, offset_, 0);
  else
    io_uring_prep_read(entry, descriptor_, memory_, bytes, offset_);
  if (const auto file = std::ranges::find(queue_.files_, descriptor_); file != queue_.files_.end()) {
    entry->fd = static_cast<int>(file - queue_.files_.begin());
    entry->flags |= IOSQE_FIXED_FILE;
  }
  io_uring_sqe_set_data(entry, this);
  queue_.submit();
}

void Transfer::advance(int result) noexcept {
  if (result == -EINTR || result == -EAGAIN)
    result = 0;
  else if (result <= 0)
    error_ = result == 0 ? (writes_ ? ENOSPC : ENODATA) : -result;
  const auto bytes = static_cast<std::size_t>(result > 0 ? result : 0);
  memory_ += bytes;
  left_ -= bytes;
  offset_ += bytes;
  under_way_ = error_ == 0 && left_ > 0;
}

int Transfer::wait() noexcept {
  if (!under_way_) return error_;
  topology::Asides asides(queue_.observer(), queue_.worker_, -1);
  while (under_way()) queue_.wait_for_one();
  asides.was(topology::Phase::wait);
  if (std::exchange(under_way_, false)) error_ = queue_.error_;
  return error_;
}

BlockRing::BlockRing(std::size_t capacity, Queue& queue) : capacity_(padded(capacity)), queue_(queue) {}

std::byte* BlockRing::take(std::size_t bytes) {
  if (memory_.bytes() == 0) {
    // Readers of codes look a little behind the end of a block.
    memory_ = topology::NodeMemory(capacity_ + kAlignment, -1, "blocks that are read");
    queue_.register_memory(memory_.as<std::byte>().first(capacity_));
  }
  std::size_t begin = 0;
  if (!blocks_.empty()) {
    const std::size_t oldest = blocks_.front().begin, end = blocks_.back().end;
    const bool wrapped = blocks_.back().begin < oldest;
    if (bytes <= (wrapped ? oldest : capacity_) - end)
      begin = end;
    else if (wrapped || bytes > oldest)
      return nullptr;
  }
  blocks_.push_back({begin, begin + bytes});
  return memory_.as<std::byte>().data() + begin;
}

}  // namespace edgewire::disk
