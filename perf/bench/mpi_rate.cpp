// The same as ring_rate, with MPI: two processes send records to each other with MPI_Isend, in batches of
// 64 KiB: mpirun -n 2 mpi_rate NAME RECORD_BYTES RECORDS. Prints JSON for rings.py.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/seconds.h"
#include "perf/bench/records.h"

namespace {

using namespace edgewire;

constexpr std::size_t kBatchBytes = 1 << 16;
constexpr std::size_t kBatches = 4;  ///< under way in each direction, as rings have

/// Batches of one direction.
struct Batches {
  std::vector<std::byte> memory = std::vector<std::byte>(kBatches * kBatchBytes);
  std::vector<MPI_Request> requests = std::vector<MPI_Request>(kBatches, MPI_REQUEST_NULL);
  std::size_t next = 0;

  std::byte* batch() { return memory.data() + next * kBatchBytes; }
  MPI_Request& request() { return requests[next]; }
  void turn() { next = (next + 1) % kBatches; }
  /// Whether the next batch may be used; `bytes` becomes its size, if it was received.
  bool ready(int& bytes) {
    int done = 0;
    MPI_Status status;
    MPI_Test(&request(), &done, &status);
    if (done != 0) MPI_Get_count(&status, MPI_BYTE, &bytes);
    return done != 0;
  }
};

bool exchange_records(int peer, std::size_t record_bytes, std::uint64_t records) {
  const std::size_t batch_bytes = kBatchBytes / record_bytes * record_bytes;
  Batches out, in;
  std::uint64_t sent = 0, arrived = 0, sum = 0;
  for (std::size_t i = 0; i < kBatches; ++i, in.turn())
    MPI_Irecv(in.batch(), kBatchBytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &in.request());
  while (sent < records || arrived < records) {
    int bytes = 0;
    if (sent < records && out.ready(bytes)) {
      const std::size_t size = std::min<std::uint64_t>(batch_bytes, (records - sent) * record_bytes);
      bench::make_records({out.batch(), size}, record_bytes, sent);
      MPI_Isend(out.batch(), static_cast<int>(size), MPI_BYTE, peer, 0, MPI_COMM_WORLD, &out.request());
      out.turn();
      sent += size / record_bytes;
    }
    if (arrived < records && in.ready(bytes)) {
      sum += bench::sum_records({in.batch(), static_cast<std::size_t>(bytes)}, record_bytes);
      arrived += static_cast<std::size_t>(bytes) / record_bytes;
      MPI_Irecv(in.batch(), kBatchBytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &in.request());
      in.turn();
    }
  }
  MPI_Waitall(kBatches, out.requests.data(), MPI_STATUSES_IGNORE);
  for (MPI_Request& request : in.requests) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return arrived == records && sum == records * (records - 1) / 2;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::size_t record_bytes = argc == 4 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const std::uint64_t records = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (size != 2 || record_bytes == 0 || record_bytes % 4 != 0 || records == 0) {
    fmt::print(stderr, "usage: mpirun -n 2 mpi_rate NAME RECORD_BYTES RECORDS\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const auto start = Clock::now();
  const bool right = exchange_records(1 - rank, record_bytes, records);
  const double seconds = seconds_since(start);
  if (!right) {
    fmt::print(stderr, "mpi_rate: records were lost or changed\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) bench::print_rate(argv[1], record_bytes, records, seconds);
  MPI_Finalize();
  return 0;
}
