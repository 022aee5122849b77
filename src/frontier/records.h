// Records (vertex, value) to the owners of their vertices, superstep by superstep, through rings.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "channel/record_stream.h"
#include "edgewire/numbering.h"
#include "launch/bootstrap.h"
#include "transport/transport.h"

namespace edgewire::frontier {

/// A record of two numbers that have the width of a global id.
struct Record {
  PlainId vertex;  ///< global id of the vertex or its local number at the owner, as the kernel decides
  PlainId value;   ///< value in as many bytes, of any type
};
/// The bytes of a record with a local number and a value of 4 bytes or of 8 bytes.
inline constexpr std::size_t kShortRecordBytes = 8, kWideRecordBytes = 12;

/// Returns the local number of a record that has one, which was checked.
inline LocalNumber local_of(const Record& record) noexcept {
  return LocalNumber(static_cast<std::uint32_t>(record.vertex));
}

/// The bytes that a process has sent.
struct Sent {
  /// Bytes that had to be sent: records of the kernel, without anything around them.
  std::uint64_t record_bytes = 0;
  std::uint64_t payload_bytes = 0, wire_bytes = 0;

  Sent& operator+=(const Sent& more) noexcept {
    record_bytes += more.record_bytes;
    payload_bytes += more.payload_bytes;
    wire_bytes += more.wire_bytes;
    return *this;
  }
  /// Returns the bytes sent since `before`.
  Sent operator-(const Sent& before) const noexcept {
    return {record_bytes - before.record_bytes, payload_bytes - before.payload_bytes,
            wire_bytes - before.wire_bytes};
  }
};

/// The records between processes. Worker w sends on lane w. Functions with a lane belong to that worker;
/// allgather() and min_of_all() belong to worker 0 while the others are idle. `take` is called as
/// take(record) or as take(peer, record); the records of a peer come in the order in which it sent them on
/// the lane. All records of a job have the same size.
class Records {
 public:
  using Note = channel::RingNote;

  /// Makes a channel::RecordStream. `record_bytes`: those of a Record, of a short or of a wide one.
  Records(launch::Bootstrap& bootstrap, process::LocalProcess& process, std::size_t record_bytes)
      : stream_(bootstrap, process, record_bytes) {}

  /// Sends a record for a vertex of `peer`. While there is no room, take(record) is called for those that
  /// have arrived. Throws Error when the job has failed.
  template <class Take>
  void send(int lane, int peer, const Record& record, const Take& take) {
    stream_.send(lane, peer, &record, sizeof record, one_by_one(take));
  }
  /// Ends the superstep of this lane: sends the rest, and calls take(record) for all records of the superstep
  /// until those of all peers were taken. All processes get `note`; note() returns theirs afterwards.
  template <class Take>
  void finish(int lane, const Take& take, const Note& note = {}) {
    stream_.finish(lane, one_by_one(take), note);
  }
  /// Returns the note of another process for the last superstep of this lane.
  const Note& note(int lane, int peer) const noexcept { return stream_.note(lane, peer); }
  /// Does the same for 8 bytes of any meaning, with take(peer, word). They are not counted as records.
  template <class Take>
  void send_word(int lane, int peer, std::uint64_t word, const Take& take) {
    std::array<std::byte, std::max(sizeof(Record), kWideRecordBytes)> record{};
    std::memcpy(record.data(), &word, sizeof word);
    stream_.send(lane, peer, record.data(), stream_.record_bytes(), words(take));
    stream_.bytes_sent(lane) -= stream_.record_bytes();
  }
  template <class Take>
  void finish_words(int lane, const Take& take, const Note& note = {}) {
    stream_.finish(lane, words(take), note);
  }
  /// Does the same with a record as it is, or with several that lie side by side; take(peer, bytes) gets
  /// whole ones. take_bytes() takes arrived records and returns their number.
  template <class Take>
  void send_bytes(int lane, int peer, const void* record, std::size_t bytes, const Take& take) {
    stream_.send(lane, peer, record, bytes, take);
  }
  template <class Take>
  std::size_t take_bytes(int lane, const Take& take) {
    return stream_.make_progress(lane, take);
  }
  template <class Take>
  void finish_bytes(int lane, const Take& take, const Note& note = {}) {
    stream_.finish(lane, take, note);
  }
  /// Returns the numbers that all processes pass, in the order of their ranks: equally many each, at most
  /// three. All get the same. No record travels: the numbers are part of the note at the end of a superstep.
  std::vector<std::uint64_t> allgather(std::span<const std::uint64_t> mine) {
    Note note{};
    if (mine.size() > note.size()) throw Error(fmt::format("{} numbers are too many to share", mine.size()));
    std::ranges::copy(mine, note.begin());
    finish_words(
        0, [](int peer, std::uint64_t) { throw Error(fmt::format("rank {} shared too many numbers", peer)); },
        note);
    std::vector<std::uint64_t> all;
    for (int p = 0; p < stream_.size(); ++p) {
      const Note& said = p == stream_.rank() ? note : stream_.note(0, p);
      all.insert(all.end(), said.begin(), said.begin() + static_cast<std::ptrdiff_t>(mine.size()));
    }
    return all;
  }
  /// Returns the least of the numbers that all processes pass.
  std::uint64_t min_of_all(std::uint64_t mine) { return std::ranges::min(allgather(std::span(&mine, 1))); }

  /// Returns the bytes that this process has sent since the start. Workers must not send meanwhile.
  Sent sent() const noexcept {
    const auto counters = stream_.counters();
    return {stream_.bytes_sent(), counters.payload_bytes, counters.wire_bytes};
  }

 private:
  template <class Take>
  auto words(const Take& take) const {
    return [&take, bytes = stream_.record_bytes()](int peer, std::span<const std::byte> records) {
      for (std::size_t at = 0; at < records.size(); at += bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, &records[at], sizeof word);
        take(peer, word);
      }
    };
  }
  template <class Take>
  static auto one_by_one(const Take& take) {
    return [&take](int peer, std::span<const std::byte> bytes) {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(Record)) {
        Record record;
        std::memcpy(&record, &bytes[at], sizeof record);
        if constexpr (std::is_invocable_v<Take, int, Record>)
          take(peer, record);
        else
          take(record);
      }
    };
  }

  channel::RecordStream stream_;
};

}  // namespace edgewire::frontier
