// Kernels of your own that run as Edgewire's do: as a command with all options of kernels, or in one call.
// They have the progress, the report and the profile of the others, and are verified in the same way.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "edgewire/frontier.h"
#include "edgewire/graph.h"
#include "edgewire/kernels.h"
#include "edgewire/launch.h"
#include "edgewire/options.h"
#include "edgewire/program.h"

#pragma GCC visibility push(default)

namespace edgewire {

/// What a kernel is asked for: an option of its command.
struct OwnOption {
  std::string name;  ///< "alpha"
  std::string help;  ///< a line that begins with a verb or a noun
  /// A number, which has its default; or a vertex, which must be named on the command line, as results name
  /// it. The command line sets it before the program is made or the search begins. It outlives the kernel.
  std::variant<double*, VertexId*> value;
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
};

/// What is said of a kernel of your own. Names have small letters, digits, - and _.
struct OwnWords {
  std::string name;     ///< name of its command, and of the kernel in reports
  std::string summary;  ///< what it computes, in a line that begins with a verb
  std::string value;    ///< what results and messages call the value of a vertex: "score"
  std::vector<OwnOption> options{};
};

/// A kernel that passes over all edges in each iteration: program P, see DenseRun, whose values are doubles
/// and whose messages have 4 or 8 bytes. It uses weights where P needs some.
template <class P>
struct OwnProgram {
  OwnWords words;
  std::function<P()> program;  ///< makes the program, once in each process; the options have their values
  int iterations = 20;         ///< the most, unless --iterations says otherwise
  bool has_goal = false;       ///< it ends where P::done() says so
  /// Looks at the program and at the totals of the last iteration, in each process. It throws Error where
  /// values mean nothing; or it is empty. Values that are no numbers (NaN) are refused in any case.
  typename DenseRun<P>::Ended ended{};
  /// Returns the values of all vertices after so many iterations, by other code, for `verify`; or it is
  /// empty, and nobody can verify the kernel. The graph has the direction of P.
  std::function<std::vector<double>(const Graph& graph, int iterations)> expected{};
  /// `verify` takes values that differ from the expected ones by this part of them, and by this number.
  double tolerance = 1e-4, absolute = 0;
};

/// A kernel that follows a frontier, in a FrontierJob whose processes send a Message. Values are doubles, or
/// labels: PlainId, each a vertex that stands for a group. Then a Message has no fewer bytes than they.
template <class Message, class Value>
struct OwnSearch {
  static_assert(std::is_same_v<Value, double> || std::is_same_v<Value, PlainId>);
  static_assert(std::is_same_v<Value, double> || sizeof(Message) >= sizeof(Value));

  OwnWords words;
  /// Returns the values of the owned vertices, by local number. Collective.
  std::function<std::vector<Value>(FrontierJob<Message>& job)> values;
  bool weighted = false;  ///< rows have weights
  /// Returns "" for right values of all vertices, or what is wrong with them, by other code, for `verify`; or
  /// it is empty, and nobody can verify the kernel.
  std::function<std::string(const Graph& graph, std::span<const Value> all)> fault{};
};

namespace detail {

/// An OwnProgram of any type.
struct AnyProgram {
  OwnWords words;
  std::function<std::unique_ptr<detail::AnyRun<double>>(DenseJob&)> start;
  int iterations;
  bool has_goal;
  bool uses_weights, needs_weights;  ///< where the graph has some, and in any case
  bool doubles;                      ///< messages are doubles, otherwise floats
  graph::Direction direction;
  std::function<std::vector<double>(const Graph&, int)> expected;
  double tolerance, absolute;

  bool can_verify() const noexcept { return expected != nullptr; }
};

/// An OwnSearch of any type whose values are these.
template <class Value>
struct AnySearch {
  OwnWords words;
  std::function<std::vector<Value>(frontier::Job&, frontier::SuperstepLog&)> values;
  std::size_t record_bytes;
  bool weighted;
  std::function<std::string(const Graph&, std::span<const Value>)> fault;

  bool can_verify() const noexcept { return fault != nullptr; }
};

}  // namespace detail

/// A kernel of your own, of any type.
using OwnKernel = std::variant<detail::AnyProgram, detail::AnySearch<double>, detail::AnySearch<PlainId>>;

/// Makes a kernel of what is said of it.
template <class P>
detail::AnyProgram own_kernel(const OwnProgram<P>& own) {
  constexpr std::size_t kMessageBytes = sizeof(typename P::Message);
  static_assert(std::is_same_v<typename P::Value, double>, "values are doubles");
  static_assert(kMessageBytes == 4 || kMessageBytes == 8, "messages have 4 or 8 bytes");
  auto direction = graph::Direction::out;
  if constexpr (requires { P::direction; }) direction = P::direction;
  std::function<std::unique_ptr<detail::AnyRun<double>>(DenseJob&)> start;
  if (own.program)
    start = [make = own.program, ended = own.ended](DenseJob& job) {
      return std::make_unique<detail::OwningRun<P>>(job, make(), ended);
    };
  return {.words = own.words,
          .start = start,
          .iterations = own.iterations,
          .has_goal = own.has_goal,
          .uses_weights = detail::kUsesWeights<P>,
          .needs_weights = detail::kNeedsWeights<P>,
          .doubles = kMessageBytes == 8,
          .direction = direction,
          .expected = own.expected,
          .tolerance = own.tolerance,
          .absolute = own.absolute};
}
template <class Message, class Value>
detail::AnySearch<Value> own_kernel(const OwnSearch<Message, Value>& own) {
  std::function<std::vector<Value>(frontier::Job&, frontier::SuperstepLog&)> values;
  if (own.values)
    values = [search = own.values](frontier::Job& within, frontier::SuperstepLog& log) {
      FrontierJob<Message> job(within, &log);
      return search(job);
    };
  return {own.words, values, FrontierJob<Message>::kRecordBytes, own.weighted, own.fault};
}

/// Runs a kernel of your own, as the calls in kernels.h run ours; see there. The graph has the direction of
/// its program, see graph::view(). Throws UsageError where what is said of the kernel makes no sense, or
/// where it is to be verified and says nothing of what is right.
Result<double> run_kernel(launch::Bootstrap& bootstrap, const Graph& graph, const detail::AnyProgram& kernel,
                          const JobOptions& job = {});
template <class Value>
Result<Value> run_kernel(launch::Bootstrap& bootstrap, const Graph& graph,
                         const detail::AnySearch<Value>& kernel, const JobOptions& job = {});

/// Does what a command line of `edgewire` asks for, with these kernels as commands beside its own: their
/// help, their options, completion and reports are those of all kernels. Returns the exit status of the
/// process: 0; 1 after a failure; 2 where the command line is wrong. Failures are a line on stderr.
int run_command_line(int argc, char** argv, const std::vector<OwnKernel>& kernels = {});

}  // namespace edgewire

#pragma GCC visibility pop
