// SPDX-License-Identifier: MIT
#pragma once

// Changes of several files, for the tests that break them off.

#include "support/fault/fault_fixture.hpp"

#include <paddock/file/change_set.hpp>

namespace paddock::test {

struct change_case {
  const char* name;
  std::vector<file_change> changes;
};

/// On the workspace of `workbench`.
inline const std::vector<change_case>& change_cases() {
  using enum change_action;
  static const std::string text(3000, 'n');
  static const std::vector<change_case> all{
      {"three files are replaced",
       {{.action = replace, .path = "f", .bytes = text},
        {.action = replace, .path = "d/x", .bytes = "X", .before = "x"},
        {.action = replace, .path = "d/e/y", .bytes = "y", .is_executable = true}}},
      {"one of each kind",
       {{.action = create, .path = "p/q/new", .bytes = text},
        {.action = replace, .path = "f", .bytes = "1\n"},
        {.action = remove, .path = "d/x"},
        {.action = move, .path = "p/r/y", .from = "d/e/y", .bytes = "Y"},
        {.action = move, .path = "moved", .from = "d/e/deep/z"},
        {.action = move, .path = "empty/l", .from = "l"}}},
  };
  return all;
}

} // namespace paddock::test
