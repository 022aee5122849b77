#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "options/option.h"

/// Runs the tests of a program. Messages name options as the command line does, unless a test says otherwise.
int main(int count, char** words) {
  edgewire::options::speak(edgewire::options::Face::command_line);
  return doctest::Context(count, words).run();
}
