// The man page and the shell completion, both made from the program's own options.
#include <fmt/core.h>

#include <array>
#include <sstream>

#include "cli/help.h"

namespace edgewire::cli {
namespace {

/// A variable of the environment that the program reads, and what it says.
struct Variable {
  const char* names;
  const char* meaning;
};
constexpr std::array kEnvironment{
    Variable{"EDGEWIRE_HOSTS, EDGEWIRE_RANK, EDGEWIRE_PORT, EDGEWIRE_SECRET_FILE, EDGEWIRE_INTERFACE",
             "stand for the options of these names where those are not given."},
    Variable{"EDGEWIRE_SECRET",
             "The secret of a host list itself, in 64 hexadecimal digits, where no file holds it."},
    Variable{
        "EDGEWIRE_CPU",
        "The level of instructions that loops use (v2, v3 or v4) instead of the highest of the processor."},
    Variable{"XDG_RUNTIME_DIR",
             "The folder in which jobs lock the cores that they pin; without it /tmp/edgewire-UID."},
    Variable{"TMPDIR", "The folder for graphs that a run makes for itself, without names; without it /tmp."},
    Variable{"TERM", "A terminal that is dumb gets no progress bars."},
    Variable{"PMIX_RANK, OMPI_COMM_WORLD_SIZE, SLURM_STEP_ID, SLURM_STEP_NUM_TASKS, PMI_SIZE",
             "tell which launcher has started the process; --launcher none leaves them aside."},
};

/// Text that roff prints as it is.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

/// Paragraph by paragraph; none of its lines is taken for a request.
std::string paragraphs(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) result += (line[0] == '.' || line[0] == '\'' ? "\\&" : "") + escaped(line) + "\n";
  return result;
}

std::string man_options(const CLI::App& command) {
  std::string text, group;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty() || option->get_name() == "--help") continue;
    if (option->get_group() != group) {
      group = option->get_group();
      text += fmt::format(".PP\n.I {}\n", escaped(group));
    }
    text += fmt::format(".TP\n.B {}\n{}", escaped(heading(*option)), paragraphs(option->get_description()));
  }
  return text;
}

std::string man_command(const CLI::App& command, const std::string& path) {
  std::string text = fmt::format(".SS {}\n{}", escaped(path), paragraphs(command.get_description()));
  if (!command.get_footer().empty()) text += ".PP\n" + paragraphs(command.get_footer());
  text += man_options(command);
  for (const CLI::App* sub : visible_commands(command))
    text += man_command(*sub, path + " " + sub->get_name());
  return text;
}

std::string quoted_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return "'" + text + "'";
}

/// The cases of `path` and of what is below it, for each of the three questions that a completion asks.
struct Cases {
  std::string commands, options, values;

  void add(const CLI::App& command, const std::string& path) {
    std::vector<std::string> names, below;
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_group().empty()) continue;
      std::vector<std::string> same;
      for (const std::string& name : option->get_lnames()) same.push_back("--" + name);
      for (const std::string& name : option->get_snames()) same.push_back("-" + name);
      names.insert(names.end(), same.begin(), same.end());
      const auto values_of_option = choices(*option);
      for (const std::string& name : same)
        if (!values_of_option.empty())
          values += fmt::format("    '{} {}') words={} ;;\n", path, name, quoted_words(values_of_option));
    }
    for (const CLI::App* sub : visible_commands(command)) below.push_back(sub->get_name());
    options += fmt::format("    '{}') words={} ;;\n", path, quoted_words(names));
    if (!below.empty()) commands += fmt::format("    '{}') words={} ;;\n", path, quoted_words(below));
    for (const CLI::App* sub : visible_commands(command)) add(*sub, path + " " + sub->get_name());
  }
};

}  // namespace

std::string man_page(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH EDGEWIRE 1 \"\" \"edgewire {}\"\n"
      ".SH NAME\nedgewire \\- PageRank over processes, and how close it comes to what the network allows\n"
      ".SH SYNOPSIS\n.B edgewire\n.I COMMAND\n[options]\n.SH DESCRIPTION\n{}.SH COMMANDS\n",
      EDGEWIRE_VERSION, paragraphs(app.get_description()));
  for (const CLI::App* command : visible_commands(app)) text += man_command(*command, command->get_name());
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n.B 0\nThe result is right and complete.\n"
      ".TP\n.B 1\nA file, a peer or a limit was at fault; one line on standard error names it.\n"
      ".TP\n.B 2\nThe command line cannot be understood.\n"
      ".TP\n.B 130\nCtrl\\-C ended the run (128 and the number of the signal).\n"
      ".TP\n.B 141\nNobody read the output any more.\n"
      ".SH ENVIRONMENT\n";
  for (const Variable& variable : kEnvironment)
    text += fmt::format(".TP\n.B {}\n{}", escaped(variable.names),
                        paragraphs(std::string(variable.meaning) + "\n"));
  return text;
}

std::string bash_completion(const CLI::App& app) {
  Cases cases;
  cases.add(app, "edgewire");
  return fmt::format(
      "# bash completion for edgewire, made from its options\n"
      "_edgewire() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} path=edgewire words= i\n"
      "  if [[ $cur == '=' ]]; then cur=; elif [[ $prev == '=' ]]; then "
      "prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    [[ $path == 'edgewire profile' && ${{COMP_WORDS[i]}} == pagerank ]] && path=edgewire\n"
      "    words=\n"
      "    case $path in\n{0}    esac\n"
      "    [[ \" $words \" == *\" ${{COMP_WORDS[i]}} \"* ]] && path=\"$path ${{COMP_WORDS[i]}}\"\n"
      "  done\n"
      "  words=\n"
      "  case \"$path $prev\" in\n{2}  esac\n"
      "  if [[ -z $words && $cur == -* ]]; then\n    case $path in\n{1}    esac\n"
      "  elif [[ -z $words ]]; then\n    case $path in\n{0}    esac\n  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
      "}}\n"
      "complete -o default -F _edgewire edgewire\n",
      cases.commands, cases.options, cases.values);
}

}  // namespace edgewire::cli
