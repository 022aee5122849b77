#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/option.h"
#include "cli/task_command.h"
#include "options/measures.h"
#include "perf/bench/shapes.h"

namespace edgewire::cli {

namespace {

using bench::Shape;

struct TasksSettings {
  TaskOptions tasks;
  bench::ShapeSize size{Shape::number_inc, 500, 8};
};

class ShapeProgram : public TaskProgram {
 public:
  ShapeProgram(std::string name, const bench::ShapeSize& size) : name_(std::move(name)), size_(size) {}

  std::string name() const override { return name_; }
  std::string describe() const override {
    return has_width() ? fmt::format("{} rounds of {} tasks", size_.count, size_.width)
                       : fmt::format("{} times", size_.count);
  }
  void add_to(nlohmann::ordered_json& report) const override {
    report["count"] = size_.count;
    if (has_width()) report["width"] = size_.width;
  }
  tasks::FunctionId add_functions(tasks::Registry& registry) const override {
    return bench::add_shapes(registry, size_.shape);
  }
  std::string arguments() const override { return bench::first_arguments(size_); }
  std::string result(const std::string& bytes) override {
    const auto number = tasks::from_bytes<std::uint64_t>(bytes);
    if (number != bench::number_of(size_))
      throw Error(fmt::format("the result is wrong: {}, not {}", number, bench::number_of(size_)));
    return std::to_string(number);
  }

 private:
  bool has_width() const { return size_.shape == Shape::iterative || size_.shape == Shape::iterative_j; }

  std::string name_;
  bench::ShapeSize size_;
};

void add_shape(CLI::App& all, const char* name, Shape shape, const char* description) {
  auto settings = std::make_shared<TasksSettings>();
  settings->size.shape = shape;
  CLI::App* command = all.add_subcommand(name, description);
  add(*command, opt::count, settings->size.count);
  if (shape == Shape::iterative || shape == Shape::iterative_j)
    add(*command, opt::round_width, settings->size.width);
  settings->tasks.add_to(*command);
  add_run_options(*command, settings->tasks);
  command->callback([settings, name] {
    run_tasks(settings->tasks, [&] { return std::make_unique<ShapeProgram>(name, settings->size); });
  });
}

}  // namespace

void add_tasks(CLI::App& app) {
  CLI::App* all =
      app.add_subcommand("tasks", "measure what it costs to start tasks, here and in other processes");
  all->require_subcommand(1);
  add_shape(*all, "number-inc", Shape::number_inc,
            "again and again, two tasks add to a number and a third one combines what they found");
  add_shape(*all, "yield", Shape::yield, "a task goes on as a new task in the next process, again and again");
  add_shape(*all, "suspend", Shape::suspend,
            "a task starts a task elsewhere and waits for it, again and again");
  add_shape(*all, "iterative", Shape::iterative,
            "a task starts many tasks and waits for all of them, again and again");
  add_shape(*all, "iterative-j", Shape::iterative_j, "as iterative, but each round is joined by a new task");
  add_smith_waterman(*all);
  add_metg(*all);
}

}  // namespace edgewire::cli
