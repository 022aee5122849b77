// This file has what --quiet does: the program says nothing that nobody asked for, but why it fails.
#pragma once

#include <string>

namespace edgewire {

/// Lets note() say nothing from now on, or all again, in this process and in those that it forks.
void be_quiet(bool quiet = true) noexcept;
bool is_quiet() noexcept;

/// Says on stderr why the program, or a process of its job, fails: in one line as note() does, but always.
void say_failure(const std::string& line);

}  // namespace edgewire
