// SPDX-License-Identifier: MIT
#pragma once

// The helper program, held so that nobody can exchange it: whoever may write its file, or the
// directory that it lies in, changes nothing for a process that has loaded it.

#include "sys/process.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/exec/command.hpp>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace paddock {

struct held_helper {
  std::string path;
  file_descriptor sealed; ///< a copy in memory that cannot be changed; empty: there is none
  file_descriptor opened; ///< the file itself
  bool settled = false;   ///< whether there is a copy, or cannot be one here
  std::atomic<bool> sealed_runs = true; ///< whether this system lets memory be run

  [[nodiscard]] helper_form form() const {
    return sealed && sealed_runs ? helper_form::sealed : helper_form::opened;
  }
  [[nodiscard]] int program() const {
    return form() == helper_form::sealed ? sealed.get() : opened.get();
  }
};

/// Loaded by the first call for a path and the same ever after; empty: what find_command_helper
/// returned then. A failure is not remembered, but the file is, once it was opened: the next call
/// copies that one. Any thread. Errors: unsupported, too_many.
result<std::shared_ptr<held_helper>> hold_helper(const std::string& path);

/// sys::spawn of it. A system that keeps memory from being run gets the open file.
result<sys::child_process> spawn(held_helper& helper, char* const* argv, char* const* envp,
                                 std::span<const int> inherited);

/// Pointers to the strings and a null pointer, as execve wants them.
[[nodiscard]] std::vector<char*> pointers_to(const std::vector<std::string>& strings);

} // namespace paddock
