// Tasks of your own, run by two processes of this machine: in how many ways can N queens stand on a board so
// that none attacks another? A task starts one for each place of the next queen, and adds up what they find.
//   c++ -O3 tasks.cpp $(pkg-config --cflags --libs edgewire) -o tasks && ./tasks 10
#include <edgewire/tasks.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>

using namespace edgewire;

namespace {

struct Board {
  int size, row;                  // queens stand in the rows above this one
  unsigned columns, left, right;  // that they attack in it: straight, and along both diagonals

  /// With a queen in this row, too.
  std::vector<Board> next() const {
    std::vector<Board> boards;
    for (unsigned queen = 1; queen < 1U << size; queen <<= 1)
      if ((queen & (columns | left | right)) == 0)
        boards.push_back({size, row + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1});
    return boards;
  }
  long count() const {
    long ways = row == size ? 1 : 0;
    for (const Board& board : next()) ways += row == size ? 0 : board.count();
    return ways;
  }
};

/// In every process.
void run(launch::Bootstrap& bootstrap, int size) {
  tasks::Registry registry;
  tasks::FunctionId count = 0;
  count = registry.add("count", [&count](tasks::Context& task) -> tasks::Task {
    const auto board = task.argument<Board>();
    if (board.size < 1 || board.size > 14) throw Error("a board has 1 to 14 rows");
    if (board.row == 3 || board.row == board.size) co_return tasks::to_bytes(board.count());
    std::vector<tasks::Ref> found;
    for (const Board& next : board.next()) found.push_back(task.spawn(count, tasks::to_bytes(next)));
    long ways = 0;
    for (const tasks::Ref& ref : found) ways += tasks::from_bytes<long>(co_await task.take(ref));
    co_return tasks::to_bytes(ways);
  });
  TaskJob job(bootstrap, registry);
  const auto result = job.run(count, tasks::to_bytes(Board{size, 0, 0, 0, 0}));
  if (bootstrap.rank() == 0) std::printf("%ld\n", tasks::from_bytes<long>(result));
}

}  // namespace

int main(int argc, char** argv) {
  int size = 8;
  const char* const word = argc > 1 ? argv[1] : "8";
  const char* const end = word + std::strlen(word);
  if (const auto [rest, error] = std::from_chars(word, end, size);
      argc > 2 || error != std::errc() || rest != end) {
    std::fprintf(stderr, "usage: %s [N], the rows of the board: 1 to 14\n", argv[0]);
    return 2;
  }
  try {
    launch::LaunchOptions options;
    options.processes = 2;
    launch::run(options, [&](launch::Bootstrap& bootstrap) { run(bootstrap, size); });
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
