// This file makes the completion for bash, zsh and fish from the program's own options.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/help.h"

namespace edgewire::cli {
namespace {

/// An option for the completion.
struct Offered {
  std::vector<std::string> names;   ///< "-o", "--output"
  std::vector<std::string> values;  ///< values of a fixed set; else empty
  bool takes_value = false, names_file = false;
  std::string text;
};

/// Returns the first words of an option's help.
std::string in_short(const std::string& text) {
  constexpr std::size_t kMost = 60;
  std::string line = text.substr(0, text.find_first_of(";\n"));
  if (line.size() <= kMost) return line;
  line.resize(line.rfind(' ', kMost));
  return line + " ...";
}

std::vector<Offered> offered(const CLI::App& command) {
  std::vector<Offered> all;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty() || option->get_positional()) continue;
    Offered one{{},
                choices(*option),
                option->get_type_size() != 0,
                names_files(option),
                in_short(option->get_description())};
    for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    all.push_back(std::move(one));
  }
  return all;
}

/// Returns whether the words behind the options are files.
bool takes_files(const CLI::App& command) {
  return std::ranges::any_of(command.get_options(), [](const CLI::Option* option) {
    return option->get_positional() && names_files(option);
  });
}

/// Calls act(command, path) for `command` and all below it; the path of the program is "".
void each_command(const CLI::App& command, const std::string& path,
                  const std::function<void(const CLI::App&, const std::string&)>& act) {
  act(command, path);
  for (const CLI::App* sub : visible_commands(command))
    each_command(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), act);
}

/// Returns the text between single quotes. `quote` stands for one: '\'' in bash and zsh, \' in fish.
std::string quoted(const std::string& text, const char* quote) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string(quote) : std::string(1, c);
  return result + "'";
}

std::string shell_quoted(const std::string& text) { return quoted(text, "'\\''"); }

/// Escapes the characters that _arguments of zsh interprets.
std::string zsh_text(const std::string& text) { return backslashed(text, "[]:\\"); }

/// Returns a text such as "(-p --processes)"{-p+,--processes=}"[text]:value:(a b)".
std::string zsh_option(const Offered& option) {
  std::string names;
  for (const std::string& name : option.names) {
    const char* const value = !option.takes_value ? "" : name.starts_with("--") ? "=" : "+";
    names += (names.empty() ? "" : ",") + name + value;
  }
  std::string spec = fmt::format("[{}]", zsh_text(option.text));
  if (option.takes_value) {
    spec += ":value:";
    if (!option.values.empty())
      spec += fmt::format("({})", fmt::join(option.values, " "));
    else if (option.names_file)
      spec += "_files";
  }
  const std::string others = shell_quoted(fmt::format("({})", fmt::join(option.names, " ")));
  return option.names.size() == 1 ? fmt::format("{}{}{}", others, names, shell_quoted(spec))
                                  : fmt::format("{}{{{}}}{}", others, names, shell_quoted(spec));
}

std::string fish_option(const Offered& option, const std::string& condition) {
  std::string line = fmt::format("complete -c edgewire -n {}", condition);
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value) {
    line += option.names_file ? " -r -F" : " -x";
    if (!option.values.empty()) line += fmt::format(" -a '{}'", fmt::join(option.values, " "));
  }
  return line + " -d " + quoted(option.text, "\\'") + "\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string commands, options, values;
  each_command(app, "", [&](const CLI::App& command, const std::string& path) {
    const std::string here = path.empty() ? "edgewire" : "edgewire " + path;
    std::vector<std::string> names;
    for (const Offered& option : offered(command)) {
      names.insert(names.end(), option.names.begin(), option.names.end());
      if (!option.values.empty())
        for (const std::string& name : option.names)
          values += fmt::format("    '{} {}') words='{}' ;;\n", here, name, fmt::join(option.values, " "));
    }
    options += fmt::format("    '{}') words='{}' ;;\n", here, fmt::join(names, " "));
    if (const auto below = names_below(command); !below.empty())
      commands += fmt::format("    '{}') words='{}' ;;\n", here, fmt::join(below, " "));
  });
  return fmt::format(
      "# bash completion for edgewire, made from its options\n"
      "_edgewire() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} path=edgewire words= i\n"
      "  if [[ $cur == '=' ]]; then cur=; elif [[ $prev == '=' ]]; then "
      "prev=${{COMP_WORDS[COMP_CWORD-2]}}; fi\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    [[ $path == 'edgewire profile' && ${{COMP_WORDS[i]}} == -- ]] && path=edgewire\n"
      "    [[ $path == edgewire && ${{COMP_WORDS[i]}} == help ]] && continue\n"
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
      commands, options, values);
}

std::string zsh_completion(const CLI::App& app) {
  std::string cases;
  std::vector<std::string> parents;
  each_command(app, "", [&](const CLI::App& command, const std::string& path) {
    cases += fmt::format("    {})\n", shell_quoted(path));
    if (const auto below = visible_commands(command); !below.empty()) {
      if (!path.empty()) parents.push_back(path);
      cases += "      if [[ $PREFIX != -* ]]; then\n        words_here=(\n";
      for (const CLI::App* sub : below)
        cases += fmt::format("          {}\n", shell_quoted(sub->get_name() + ":" +
                                                            zsh_text(in_short(sub->get_description()))));
      cases += "        )\n        _describe command words_here; return\n      fi\n";
    }
    cases += "      _arguments -S";
    for (const Offered& option : offered(command)) cases += " \\\n        " + zsh_option(option);
    if (takes_files(command)) cases += " \\\n        '*:file:_files'";
    cases += " ;;\n";
  });
  return fmt::format(
      "#compdef edgewire\n"
      "# zsh completion for edgewire, made from its options\n"
      "_edgewire() {{\n"
      "  local -a words_here\n"
      "  local depth=0 separator\n"
      "  [[ ${{words[2]}} == help ]] && (( CURRENT > 2 )) && {{ shift words; (( CURRENT-- )) }}\n"
      "  separator=${{words[(ie)--]}}\n"
      "  if [[ ${{words[2]}} == profile ]] && (( separator < CURRENT )); then\n"
      "    words=(edgewire \"${{(@)words[separator+1,-1]}}\"); (( CURRENT -= separator - 1 ))\n"
      "  fi\n"
      "  (( CURRENT > 2 )) && depth=1\n"
      "  [[ ${{words[2]}} == ({0}) ]] && (( CURRENT > 3 )) && depth=2\n"
      "  local at=\"${{words[2,depth+1]}}\"\n"
      "  words=(edgewire \"${{(@)words[depth+2,-1]}}\"); (( CURRENT -= depth ))\n"
      "  case $at in\n{1}  esac\n"
      "}}\n"
      "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _edgewire \"$@\"; else compdef _edgewire "
      "edgewire; fi\n",
      fmt::join(parents, "|"), cases);
}

std::string fish_completion(const CLI::App& app) {
  std::string lines;
  std::vector<std::string> parents;
  each_command(app, "", [&](const CLI::App& command, const std::string& path) {
    const std::string condition = fmt::format("\"__edgewire_at '{}'\"", path);
    const auto below = visible_commands(command);
    if (!path.empty() && !below.empty()) parents.push_back(path);
    if (!takes_files(command)) lines += fmt::format("complete -c edgewire -n {} -f\n", condition);
    for (const CLI::App* sub : below)
      lines += fmt::format("complete -c edgewire -n {} -f -a {} -d {}\n", condition, sub->get_name(),
                           quoted(in_short(sub->get_description()), "\\'"));
    for (const Offered& option : offered(command)) lines += fish_option(option, condition);
  });
  return fmt::format(
      "# fish completion for edgewire, made from its options\n"
      "function __edgewire_at\n"
      "    set -l words (commandline -opc)\n"
      "    set -e words[1]\n"
      "    test \"$words[1]\" = help; and set -e words[1]\n"
      "    if test \"$words[1]\" = profile; and contains -- -- $words\n"
      "        set words $words[(math (contains -i -- -- $words) + 1)..]\n"
      "    end\n"
      "    set -l path $words[1]\n"
      "    contains -- \"$words[1]\" {}; and set path $words[1..2]\n"
      "    test \"$path\" = \"$argv[1]\"\n"
      "end\n{}",
      fmt::join(parents, " "), lines);
}

}  // namespace edgewire::cli
