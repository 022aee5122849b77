#pragma once

#include <cstdint>
#include <string>

#include "edgewire/tasks.h"

namespace edgewire::bench {

/// Task graphs that do next to nothing, so that the cost of starting tasks shows: the shapes by which Ciel
/// was measured. Processes are counted in turn, so that tasks and results cross the link.
enum class Shape {
  number_inc,  ///< `count` times, one after the other: two tasks add 1 to a number, a third one combines them
  yield,       ///< a task that goes on `count` times as a new task, each in the next process
  suspend,     ///< a task that `count` times starts a task elsewhere and waits for it
  iterative,   ///< a task that `count` times starts `width` tasks and waits for all of them
  iterative_j,  ///< the same, but the task that waits is a new one each time
};

struct ShapeSize {
  Shape shape = Shape::number_inc;
  std::uint64_t count = 1, width = 1;
};

/// Adds the functions of all shapes, and returns the first task's. Its arguments are first_arguments(size),
/// its result is a number.
tasks::FunctionId add_shapes(tasks::Registry& registry, Shape shape);
std::string first_arguments(const ShapeSize& size);

/// What a right run returns: each task that adds has added 1.
std::uint64_t number_of(const ShapeSize& size);

}  // namespace edgewire::bench
