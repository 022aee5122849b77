// The options folder knows the options of Edgewire by all their names. Any folder may include it: messages
// name an option as a value, and this folder says it in the words of whoever reads the message.
#pragma once

#include <fmt/core.h>

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "edgewire/error.h"

namespace edgewire::options {

/// The interfaces of Edgewire. Each has words of its own for options.
enum class Face { cpp, command_line, python };

/// Puts messages of this process, and of those that it forks later, into the words of `face`; C++ by default.
void speak(Face face) noexcept;
Face spoken() noexcept;

/// Returns the text for the face that is spoken.
std::string_view in_words_of_face(std::string_view cpp, std::string_view command_line,
                                  std::string_view python) noexcept;

/// Returns the arguments for "SOURCE,TARGET[,WEIGHT]", names or numbers of columns: "src='a', dst=2".
std::string columns_in_python(std::string_view columns);

/// The processes of a job that an option belongs to.
enum class Scope : char {
  job,      ///< all processes, which must have the same value
  process,  ///< each process, with a value of its own
  first     ///< rank 0, which alone uses the option
};

/// The work that a job must do for JobOptions to have a meaning.
enum class Part : char {
  processes,   ///< work in processes
  graph,       ///< keep a graph's vertices and edges in its processes
  weights,     ///< let its caller say whether edges have weights; kernels know by themselves
  tiles,       ///< pass over all edges
  tools,       ///< have a result that can be verified, and a report
  supersteps,  ///< follow a frontier, and have a report
};

/// An option of a job, a kernel or a command: all that its messages, help, checks and agreement go by.
struct Option {
  std::string_view name;         ///< name on the command line, without its dashes: "peer-timeout"
  std::string_view cpp = {};     ///< member of a public struct: "JobOptions::wire"; empty: there is none
  std::string_view python = {};  ///< argument in Python: "peer_timeout"; empty: there is none
  bool flag = false;             ///< whether it is on or off, without a value: "labels=True"
  /// Returns the arguments of Python for its value; null: it is one argument, with the value.
  std::string (*in_python)(std::string_view value) = nullptr;
  char letter = 0;  ///< short name on the command line; 0: there is none
  Scope scope = Scope::job;
  Part part = Part::processes;  ///< work that gives a member of JobOptions a meaning
  std::string_view words = {};  ///< values that it takes: "auto|given|degree"; empty: any
  /// The range of a number. A default out of it, such as 0 workers, stands for a value that is chosen later.
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool bytes = false;                 ///< whether it is a number of bytes, such as 512M on the command line
  std::string_view value_name = {};   ///< name of its value in help: "RATE"; empty: the name of its type
  std::string_view other_names = {};  ///< names in other programs: "-n -np --nprocs"
  std::string_view help = {};         ///< a line that begins with a verb or a noun

  /// Returns whether the face that is spoken has this option.
  bool is_known() const noexcept;
  /// Returns its name: "--wire", "JobOptions::wire" or "wire="; an option that the face lacks is "--wire".
  std::string said() const;
  /// Returns its name with a value: "--wire f64", "JobOptions::wire = f64" or "wire='f64'".
  std::string with(std::string_view value) const;
  template <class Value>
  std::string operator()(const Value& value) const {
    return with(fmt::format("{}", value));
  }
  /// Returns the text with the option, and its value if there is one, for "{}"; or an empty text where the
  /// face does not have it. It is for remedies.
  std::string hint(std::string_view text, std::string_view value = {}) const;
  bool has_range() const noexcept { return most < std::numeric_limits<double>::infinity(); }
  /// Returns whether a number is in the range. NaN is in no range.
  bool is_in_range(double number) const noexcept { return number >= least && number <= most; }
};

/// Returns whether a word is in a list with blanks between the words.
bool has_word(std::string_view list, std::string_view word);
/// Returns the items of a list with bars between them: "auto|given|degree".
std::vector<std::string> split_words(std::string_view words);

/// Returns options that are given together, in the way of the face.
std::string together(const std::string& one, const std::string& other);

/// Returns how a graph is converted with this option: "`edgewire convert --undirected`", "convert() with
/// ConvertOptions::undirected" or "read() with undirected=True".
std::string conversion_with(const std::string& option);

/// Returns the error of an option: "NAME: PROBLEM; REMEDY". `option`: its name, with the value or without.
UsageError wrong(std::string_view option, std::string_view problem, std::string_view remedy = {});
inline UsageError wrong(const Option& option, std::string_view problem, std::string_view remedy = {}) {
  return wrong(option.said(), problem, remedy);
}

}  // namespace edgewire::options

/// The rows of all options. A row is one sentence, which is broken where the line is full.
namespace edgewire::opt {
using options::Option;
using options::Part;
using options::Scope;
}  // namespace edgewire::opt

namespace edgewire {

/// Throws UsageError with the range unless least <= value <= most. NaN is in no range.
template <class T>
void check_range(std::string_view what, T value, std::type_identity_t<T> least,
                 std::type_identity_t<T> most) {
  if (value >= least && value <= most) return;
  throw UsageError(fmt::format("{}: {} is outside the range {} to {}", what, value, least, most));
}
template <class T>
void check_range(const options::Option& option, T value, std::type_identity_t<T> least,
                 std::type_identity_t<T> most) {
  if (value >= least && value <= most) return;
  throw UsageError(fmt::format("{} is outside the range {} to {}", option(value), least, most));
}

/// Throws the same unless a number is in the range of the option's row.
template <class T>
void check_range(const options::Option& option, T value) {
  if (!option.is_in_range(static_cast<double>(value)))
    throw UsageError(
        fmt::format("{} is outside the range {} to {}", option(value), option.least, option.most));
}
/// Throws UsageError unless a value is one of the words of the option's row. Returns its place among them.
std::size_t check_word(const options::Option& option, std::string_view value);

/// Returns the word for a value of an enumeration that has the words of the option's row, in their order.
template <class Enum>
requires std::is_enum_v<Enum> std::string word_of(const options::Option& option, Enum value) {
  const auto words = options::split_words(option.words);
  if (static_cast<std::size_t>(value) >= words.size())
    throw options::wrong(option(static_cast<std::size_t>(value)), "there is no such value");
  return words[static_cast<std::size_t>(value)];
}
/// Returns the value of such an enumeration for a word. Throws UsageError that lists the words.
template <class Enum>
requires std::is_enum_v<Enum> Enum meant_by(const options::Option& option, std::string_view word) {
  return static_cast<Enum>(check_word(option, word));
}

}  // namespace edgewire

template <>
struct fmt::formatter<edgewire::options::Option> {
  constexpr auto parse(format_parse_context& context) const { return context.begin(); }
  template <class Context>
  auto format(const edgewire::options::Option& option, Context& context) const {
    return fmt::format_to(context.out(), "{}", option.said());
  }
};
