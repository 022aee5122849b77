#include "perf/bench/alignment.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "base/error.h"

namespace edgewire::bench {

using namespace tasks;

namespace {

using Score = std::int32_t;
constexpr Score kNever = -(1 << 30);  // no alignment has this score

bool is_better(const Best& one, const Best& other) {
  return std::tuple(-one.score, one.end_a, one.end_b) < std::tuple(-other.score, other.end_a, other.end_b);
}

/// Scores along an edge of a block: of the best alignments that end there (h), and of those that end there
/// with a gap that goes on across the edge (gap).
struct Edge {
  std::vector<Score> h, gap;
  Edge() = default;
  explicit Edge(std::size_t letters) : h(letters, 0), gap(letters, kNever) {}
};

/// The result of a block: the best score of itself and all that it depends on, and its right and lower edge.
struct Block {
  Best best{};
  Edge right, below;
};

void append(std::string& bytes, std::span<const Score> scores) {
  bytes.append(reinterpret_cast<const char*>(scores.data()), scores.size_bytes());
}

std::string pack(const Block& block) {
  std::string bytes = to_bytes(block.best);
  bytes.reserve(bytes.size() + 8 * (block.right.h.size() + block.below.h.size()));
  append(bytes, block.right.h);
  append(bytes, block.right.gap);
  append(bytes, block.below.h);
  append(bytes, block.below.gap);
  return bytes;
}

/// The result of a block of so many letters, of which only what is asked for is copied.
class Packed {
 public:
  Packed(std::string bytes, std::size_t rows, std::size_t columns)
      : bytes_(std::move(bytes)), rows_(rows), columns_(columns) {
    if (bytes_.size() != sizeof(Best) + 8 * (rows + columns))
      throw Error("a block has edges of a wrong length");
  }
  Best best() const { return from_bytes<Best>(std::string_view(bytes_).substr(0, sizeof(Best))); }
  Edge right() const { return edge(0, rows_); }
  Edge below() const { return edge(2 * rows_, columns_); }
  Score corner() const { return scores(2 * rows_ + columns_ - 1, 1)[0]; }

 private:
  Edge edge(std::size_t begin, std::size_t letters) const {
    Edge edge;
    edge.h = scores(begin, letters);
    edge.gap = scores(begin + letters, letters);
    return edge;
  }
  std::vector<Score> scores(std::size_t begin, std::size_t count) const {
    std::vector<Score> values(count);
    std::memcpy(values.data(), bytes_.data() + sizeof(Best) + 4 * begin, 4 * count);
    return values;
  }

  std::string bytes_;
  std::size_t rows_, columns_;
};

/// Letters [first, last) of a sequence.
struct Range {
  std::size_t first, last;
  std::size_t size() const { return last - first; }
  static Range of(std::size_t letters, std::uint32_t block, std::uint32_t blocks) {
    return {letters * block / blocks, letters * (block + 1) / blocks};
  }
};

/// Turns the edges above and to the left of a block into those below and to the right. Returns its best.
Best sweep(const Alignment& all, Range rows, Range columns, Score corner, Edge& left, Edge& above) {
  const auto [match, mismatch, open, extend] = all.scoring;
  const Score first = open + extend;
  const std::size_t width = columns.size();
  const char* const b = all.b.data() + columns.first;
  Score* const h = above.h.data();
  Score* const gap_in_b = above.gap.data();
  Best best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const char letter = all.a[rows.first + i];
    Score diagonal = corner, here = left.h[i], gap_in_a = left.gap[i];
    corner = here;
    for (std::size_t j = 0; j < width; ++j) {
      gap_in_a = std::max(here - first, gap_in_a - extend);
      gap_in_b[j] = std::max(h[j] - first, gap_in_b[j] - extend);
      const Score paired = diagonal + (letter == b[j] ? match : -mismatch);
      here = std::max(std::max(paired, 0), std::max(gap_in_a, gap_in_b[j]));
      diagonal = h[j];
      h[j] = here;
      if (here > best.score)
        best = {here, static_cast<std::uint32_t>(rows.first + i + 1),
                static_cast<std::uint32_t>(columns.first + j + 1)};
    }
    left.h[i] = here;
    left.gap[i] = gap_in_a;
  }
  return best;
}

struct Place {
  std::uint32_t row, column;
};

/// References: the block to the left, above, and at the upper left, as far as there are any.
Task align_block(Context& task, const Alignment& all) {
  const auto [row, column] = task.argument<Place>();
  const Range rows = Range::of(all.a.size(), row, all.rows);
  const Range columns = Range::of(all.b.size(), column, all.columns);
  const std::size_t rows_above = row > 0 ? Range::of(all.a.size(), row - 1, all.rows).size() : 0;
  const std::size_t columns_left = column > 0 ? Range::of(all.b.size(), column - 1, all.columns).size() : 0;
  const auto refs = task.refs();
  Block block{{}, Edge(rows.size()), Edge(columns.size())};
  std::vector<Best> bests;
  Score corner = 0;
  if (column > 0) {
    const Packed left((co_await task.get(refs[0])).bytes, rows.size(), columns_left);
    block.right = left.right();
    bests.push_back(left.best());
  }
  if (row > 0) {
    const Packed above((co_await task.get(refs[column > 0 ? 1 : 0])).bytes, rows_above, columns.size());
    block.below = above.below();
    bests.push_back(above.best());
  }
  // The two blocks that also need this one have ended.
  if (row > 0 && column > 0)
    corner = Packed((co_await task.take(refs[2])).bytes, rows_above, columns_left).corner();
  block.best = sweep(all, rows, columns, corner, block.right, block.below);
  for (const Best& other : bests)
    if (is_better(other, block.best)) block.best = other;
  co_return pack(block);
}

/// Starts the blocks of a row; they stay in its process. Its reference is the row above. Returns theirs.
Task align_row(Context& task, const Alignment& all, FunctionId block) {
  const auto row = task.argument<std::uint32_t>();
  std::vector<Ref> above;
  Result mine;
  if (row > 0) above = (co_await task.take(task.refs()[0])).refs;
  for (std::uint32_t column = 0; column < all.columns; ++column) {
    std::vector<Ref> refs;
    if (column > 0) refs.push_back(mine.refs[column - 1]);
    if (row > 0) refs.push_back(above[column]);
    if (row > 0 && column > 0) refs.push_back(above[column - 1]);
    mine.refs.push_back(task.spawn(block, to_bytes(Place{row, column}), std::move(refs), task.process()));
  }
  co_return mine;
}

}  // namespace

FunctionId add_alignment(Registry& registry, const std::shared_ptr<const Alignment>& all) {
  const auto block = registry.add("align_block", [all](Context& task) { return align_block(task, *all); });
  const auto row =
      registry.add("align_row", [all, block](Context& task) { return align_row(task, *all, block); });
  return registry.add("align", [all, row](Context& task) -> Task {
    Ref last{};
    for (std::uint32_t r = 0; r < all->rows; ++r) {
      const Refs above = r > 0 ? Refs(last) : Refs();
      last = task.spawn(row, to_bytes(r), above, static_cast<int>(r) % task.processes());
    }
    const auto blocks = (co_await task.take(last)).refs;
    co_return (co_await task.take(blocks.back())).bytes.substr(0, sizeof(Best));
  });
}

Best align_plainly(std::string_view a, std::string_view b, const Scoring& scoring) {
  // best[j], and ending[j] in a gap in b, of the row above; then of this row.
  std::vector<Score> best(b.size() + 1, 0), vertical(b.size() + 1, kNever);
  Best found;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<Score> row(b.size() + 1, 0);
    Score horizontal = kNever;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      horizontal = std::max(row[j - 1] - scoring.gap_open, horizontal) - scoring.gap_extend;
      vertical[j] = std::max(best[j] - scoring.gap_open, vertical[j]) - scoring.gap_extend;
      const Score pair = best[j - 1] + (a[i - 1] == b[j - 1] ? scoring.match : -scoring.mismatch);
      row[j] = std::max({0, pair, horizontal, vertical[j]});
      if (row[j] > found.score)
        found = {row[j], static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)};
    }
    best.swap(row);
  }
  return found;
}

std::string read_fasta(const std::string& path) {
  std::ifstream file(path);
  const auto refuse = [&](std::size_t line, const std::string& why) {
    throw Error(fmt::format("{}:{}: {}", path, line, why));
  };
  std::string letters, line;
  bool begun = false;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with('>')) {
      if (begun) break;
      begun = true;
    } else if (!begun && !line.empty()) {
      refuse(number, "this is no FASTA file: it does not begin with a line of > and a name");
    } else {
      for (const char letter : line) {
        if (std::isalpha(static_cast<unsigned char>(letter)) == 0 && letter != '*')
          refuse(number, fmt::format("a sequence has letters only, not the byte {}",
                                     static_cast<unsigned char>(letter)));
        letters.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(letter))));
      }
    }
  }
  if (!file.is_open() || file.bad()) throw Error(fmt::format("{}: cannot read: {}", path, reason(errno)));
  if (letters.empty()) throw Error(fmt::format("{}: it holds no sequence", path));
  return letters;
}

std::pair<std::string, std::string> related_sequences(std::size_t letters, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto letter = [&] { return "ACGT"[random() % 4]; };
  std::string a, b;
  while (a.size() < letters) a.push_back(letter());
  for (const char one : a) {
    const auto chance = random() % 100;
    if (chance == 0) continue;
    if (chance == 1) b.push_back(letter());
    b.push_back(chance < 12 ? letter() : one);
  }
  if (b.empty()) b.push_back(letter());
  return {std::move(a), std::move(b)};
}

}  // namespace edgewire::bench
