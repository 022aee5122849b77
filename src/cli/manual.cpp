// This file makes the man pages from the program's own options.
#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/help.h"

namespace edgewire::cli {
namespace {

/// The date on the pages, which is the day of a release.
constexpr const char* kDate = "2026-11-26";

/// The variables of the environment that the program reads, and their meaning.
constexpr std::pair<const char*, const char*> kEnvironment[] = {
    {"EDGEWIRE_HOSTS, EDGEWIRE_RANK, EDGEWIRE_PORT, EDGEWIRE_SECRET_FILE, EDGEWIRE_INTERFACE",
     "stand for the options of these names where those are not given."},
    {"EDGEWIRE_SECRET",
     "The secret of a host list itself, in 64 hexadecimal digits, where no file holds it."},
    {"EDGEWIRE_CPU",
     "The level of instructions that loops use (v2, v3 or v4) instead of the highest of the processor."},
    {"XDG_RUNTIME_DIR",
     "The folder in which jobs lock the cores that they pin; without it /tmp/edgewire-UID."},
    {"TMPDIR",
     "The folder for graphs, and tables of partition files, that a run makes for itself, without "
     "names; without it /tmp."},
    {"TERM", "A terminal that is dumb gets no progress bars."},
    {"PMIX_RANK, OMPI_COMM_WORLD_SIZE, SLURM_STEP_ID, SLURM_STEP_NUM_TASKS, PMI_SIZE",
     "tell which launcher has started the process; --launcher none ignores them."},
};

/// Returns text that roff prints as it is.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return result;
}

/// Returns the text line by line. No line is longer than editors show, and none is taken for a request.
std::string paragraphs(const std::string& text) {
  std::string result;
  std::istringstream lines(wrapped(escaped(text), 0));
  for (std::string line; std::getline(lines, line);)
    result += (line[0] == '.' || line[0] == '\'' ? "\\&" : "") + line + "\n";
  return result;
}

bool is_shown(const CLI::Option& option) {
  return !option.get_group().empty() && option.get_name() != "--help";
}

/// Returns the options that all jobs have, as pagerank: places of processes, and the way they send.
std::vector<const CLI::Option*> options_of_jobs(const CLI::App& app) {
  const CLI::App& pagerank = *app.get_subcommand("pagerank");
  return pagerank.get_options([](const CLI::Option* option) {
    return option->get_group() == "Processes" || option->get_group() == "Transport";
  });
}

/// Returns whether the page of jobs' options has all of this option.
bool is_of_jobs(const CLI::Option& option, const std::vector<const CLI::Option*>& of_jobs) {
  return std::ranges::any_of(of_jobs, [&](const CLI::Option* one) {
    return heading(*one) == heading(option) && one->get_description() == option.get_description();
  });
}

std::string man_option(const CLI::Option& option) {
  return fmt::format(".TP\n.B {}\n{}", escaped(heading(option)), paragraphs(option.get_description()));
}

/// Returns the options as help shows them, but without those of jobs.
std::string man_options(const CLI::App& command, const std::vector<const CLI::Option*>& of_jobs) {
  std::string text, elsewhere;
  for (const auto& [name, options] : groups_of(command)) {
    std::string group;
    for (const CLI::Option* option : options) {
      if (is_of_jobs(*option, of_jobs))
        elsewhere += (elsewhere.empty() ? "" : ", ") + option->get_name();
      else if (is_shown(*option))
        group += man_option(*option);
    }
    if (!group.empty()) text += fmt::format(".SS {}\n{}", escaped(name), group);
  }
  if (elsewhere.empty()) return text;
  return text + ".SS Processes and transport\nAs explained in\n.BR edgewire\\-options (7):\n" +
         paragraphs(elsewhere + ".");
}

std::string title(const std::string& page, int section) {
  std::string name = page;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(".TH {} {} \"{}\" \"edgewire {}\" \"Edgewire\"\n", escaped(name), section, kDate,
                     EDGEWIRE_VERSION);
}

std::string name_section(const std::string& page, const std::string& description) {
  return ".SH NAME\n" + paragraphs(page + " - " + description.substr(0, description.find_first_of(":;\n")));
}

/// Returns "edgewire tasks metg [options]", and the other arguments.
std::string synopsis(const CLI::App& command, const std::string& path) {
  std::string text = fmt::format(".B edgewire {}\n[options]\n", escaped(path));
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional())
      text += fmt::format(
          ".I {}\n", escaped(option->get_name(true, false) + (option->get_expected_max() > 1 ? " ..." : "")));
  return text;
}

std::string examples_section(const std::string& command) {
  std::string text;
  for (const Example& one : examples_of(command, !command.empty()))
    text += fmt::format("{}{}.PP\n.nf\n.RS 4\n{}\n.RE\n.fi\n", text.empty() ? "" : ".PP\n",
                        paragraphs(one.meaning), escaped(one.line));
  return text.empty() ? text : ".SH EXAMPLES\n" + text;
}

std::string see_also(const std::vector<std::string>& pages) {
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto dot = pages[i].rfind('.');
    text += fmt::format(".BR {} ({}){}\n", escaped(pages[i].substr(0, dot)), pages[i].substr(dot + 1),
                        i + 1 == pages.size() ? "" : ",");
  }
  return text;
}

/// Returns description and footer for the text below the name of a command.
std::string explained(const CLI::App& command) {
  std::string text = paragraphs(command.get_description());
  std::istringstream lines(command.get_footer());
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) text += ".PP\n" + paragraphs(line);
  return text;
}

std::string program_page(const CLI::App& app) {
  std::string text = title("edgewire", 1) +
                     name_section("edgewire",
                                  "kernels on graphs over processes, and how close they come to "
                                  "what the network allows") +
                     ".SH SYNOPSIS\n.B edgewire\n.I command\n[options]\n.PP\n.B edgewire help\n"
                     "[\\fIcommand\\fR]\n.SH DESCRIPTION\n" +
                     explained(app) + ".SH COMMANDS\n";
  std::vector<std::string> others;
  for (const CLI::App* command : visible_commands(app)) {
    text += fmt::format(".TP\n.BR edgewire\\-{} (1)\n{}", escaped(command->get_name()),
                        paragraphs(command->get_description()));
    others.push_back("edgewire-" + command->get_name() + ".1");
  }
  text += ".SH OPTIONS\n";
  for (const CLI::Option* option : app.get_options())
    if (is_shown(*option)) text += man_option(*option);
  text += examples_section("");
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n.B 0\nThe result is right and complete.\n"
      ".TP\n.B 1\nA file, a peer or a limit was at fault; one line on standard error names it.\n"
      ".TP\n.B 2\nThe command line cannot be understood.\n"
      ".TP\n.B 130\nCtrl\\-C ended the run (128 and the number of the signal).\n"
      ".TP\n.B 141\nNobody read the output any more.\n"
      ".SH ENVIRONMENT\n";
  for (const auto& [names, meaning] : kEnvironment)
    text += fmt::format(".TP\n.B {}\n{}", escaped(names), paragraphs(meaning));
  others.emplace_back("edgewire-options.7");
  return text + see_also(others);
}

std::string options_page(const CLI::App& app) {
  std::string text = title("edgewire-options", 7) +
                     name_section("edgewire-options", "where the processes of a job run, and how they send") +
                     ".SH DESCRIPTION\n"
                     "All commands that run as a job of one or several processes take these options.\n";
  std::string group;
  for (const CLI::Option* option : options_of_jobs(app)) {
    if (option->get_group() != group) {
      group = option->get_group();
      text += fmt::format(".SH {}\n", escaped(group));
    }
    text += man_option(*option);
  }
  std::vector<std::string> jobs{"edgewire.1"};
  for (const CLI::App* command : visible_commands(app))
    if (command->get_option_no_throw("--transport") != nullptr)
      jobs.push_back("edgewire-" + command->get_name() + ".1");
  return text + see_also(jobs);
}

std::string command_page(const CLI::App& app, const CLI::App& command) {
  const auto of_jobs = options_of_jobs(app);
  const std::string& name = command.get_name();
  const auto below = visible_commands(command);
  std::string text = title("edgewire-" + name, 1) +
                     name_section("edgewire-" + name, command.get_description()) + ".SH SYNOPSIS\n";
  if (below.empty()) text += synopsis(command, name);
  for (std::size_t i = 0; i < below.size(); ++i)
    text += (i == 0 ? "" : ".br\n") + synopsis(*below[i], name + " " + below[i]->get_name());
  text += ".SH DESCRIPTION\n" + explained(command);
  if (below.empty()) text += ".SH OPTIONS\n" + man_options(command, of_jobs);
  for (const CLI::App* sub : below)
    text += fmt::format(".SH {}\n{}", escaped(name + " " + sub->get_name()), explained(*sub)) +
            man_options(*sub, of_jobs);
  text += examples_section(name);
  const bool is_job = text.find("edgewire\\-options") != text.npos;
  return text + see_also(is_job ? std::vector<std::string>{"edgewire.1", "edgewire-options.7"}
                                : std::vector<std::string>{"edgewire.1"});
}

}  // namespace

std::vector<std::string> man_pages(const CLI::App& app) {
  std::vector<std::string> pages{"edgewire.1", "edgewire-options.7"};
  for (const CLI::App* command : visible_commands(app))
    pages.push_back("edgewire-" + command->get_name() + ".1");
  return pages;
}

std::string man_page(const CLI::App& app, const std::string& page) {
  if (page == "edgewire.1") return program_page(app);
  if (page == "edgewire-options.7") return options_page(app);
  constexpr std::size_t kBefore = std::string_view("edgewire-").size(), kBehind = 2;
  return command_page(app, *app.get_subcommand(page.substr(kBefore, page.size() - kBefore - kBehind)));
}

}  // namespace edgewire::cli
