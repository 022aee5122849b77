// number-inc and Task Bench's patterns in plain MPI. There are no tasks: each rank knows from round or row
// and column what to do, and sends what others wait for. Prints the seconds of each run and the result.
//   task_mpi number-inc COUNT RUNS | task_mpi stencil|fft|random WIDTH STEPS WORK[,WORK...] RUNS
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using Number = std::uint64_t;
extern "C" void work_for(Number multiplications);

namespace {

int rank, size;

void send(Number value, int to, int tag) { MPI_Send(&value, 1, MPI_UINT64_T, to, tag, MPI_COMM_WORLD); }
Number receive(int from, int tag) {
  Number value;
  MPI_Recv(&value, 1, MPI_UINT64_T, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return value;
}

Number number_inc(Number count) {
  Number number = 0;
  for (Number i = 0; i < count; ++i) {
    const int first = static_cast<int>(2 * i) % size, second = static_cast<int>(2 * i + 1) % size;
    const int third = static_cast<int>(i) % size;
    if (rank == 0) {
      if (first != 0) send(number, first, 0);
      if (second != 0) send(number, second, 0);
      const Number a = first == 0 ? number + 1 : receive(first, 0);
      const Number b = second == 0 ? number + 1 : receive(second, 0);
      if (third != 0) {
        for (const Number one : {number, a, b}) send(one, third, 1);
        number = receive(third, 1);
      } else {
        number = a + b - number;
      }
      continue;
    }
    for (const int where : {first, second})
      if (where == rank) send(receive(0, 0) + 1, 0, 0);
    if (third == rank) {
      const Number before = receive(0, 1), a = receive(0, 1), b = receive(0, 1);
      send(a + b - before, 0, 1);
    }
  }
  return number;
}

bool waits_for(const std::string& pattern, int width, int t, int i, int j) {
  const int distance = abs(i - j);
  if (pattern == "stencil") return distance <= 1;
  if (pattern == "fft") {
    int bits = 1;
    while (width > 1 << bits) ++bits;
    return distance == 0 || distance == 1 << (t - 1) % bits;
  }
  Number mixed = (static_cast<Number>(t) << 40) + (static_cast<Number>(i) << 20) + static_cast<Number>(j);
  mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9;
  return distance == 0 || (distance <= 5 && (mixed >> 62) == 0);
}

Number grains(const std::string& pattern, int width, int steps, Number work) {
  const auto owner = [&](int i) { return i * size / width; };
  std::vector<Number> before(width), row(width);
  std::vector<MPI_Request> requests;
  for (int t = 0; t < steps; ++t) {
    requests.clear();
    // A value goes once to each rank that waits for it.
    for (int j = 0; t > 0 && j < width; ++j)
      for (int to = 0, from = owner(j); to < size; ++to) {
        bool wanted = false;
        for (int i = 0; i < width; ++i) wanted |= owner(i) == to && waits_for(pattern, width, t, i, j);
        if (!wanted || to == from || (to != rank && from != rank)) continue;
        MPI_Request& request = requests.emplace_back();
        if (to == rank)
          MPI_Irecv(&before[j], 1, MPI_UINT64_T, from, j, MPI_COMM_WORLD, &request);
        else
          MPI_Isend(&before[j], 1, MPI_UINT64_T, to, j, MPI_COMM_WORLD, &request);
      }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < width; ++i) {
      if (owner(i) != rank) continue;
      row[i] = static_cast<Number>(t) * 1'000'003 + static_cast<Number>(i) + 1;
      for (int j = 0; t > 0 && j < width; ++j)
        if (waits_for(pattern, width, t, i, j)) row[i] += before[j];
      work_for(work);
    }
    before.swap(row);
  }
  Number mine = 0, sum = 0;
  for (int i = 0; i < width; ++i) mine += owner(i) == rank ? before[i] : 0;
  MPI_Reduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string what = argv[1];
  const bool inc = what == "number-inc";
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  std::vector<Number> works{0};
  if (!inc) {
    works.clear();
    for (char* at = argv[4]; *at != '\0'; at += *at == ',') works.push_back(std::strtoull(at, &at, 10));
  }
  for (const Number work : works)
    for (Number run = 0; run < number(argc - 1); ++run) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      const Number result =
          inc ? number_inc(number(2))
              : grains(what, static_cast<int>(number(2)), static_cast<int>(number(3)), work);
      if (rank == 0) std::printf("%.9f %llu\n", MPI_Wtime() - start, static_cast<unsigned long long>(result));
    }
  MPI_Finalize();
}
