// SPDX-License-Identifier: MIT
#pragma once

// A shell as any program starts one: nobody supervises it, and what it starts may outlive it.

#include <paddock/base/file_descriptor.hpp>

#include <sys/types.h>

#include <string>

namespace paddock::cli {

class plain_shell {
public:
  /// Starts `script` in that directory; where that fails, it has nothing to say.
  plain_shell(const std::string& directory, const char* script);
  plain_shell(const plain_shell&) = delete;
  plain_shell& operator=(const plain_shell&) = delete;
  ~plain_shell() { wait(); }

  /// The next line that it or what it has started prints; empty when none of them is left.
  [[nodiscard]] std::string read_line();
  /// Until the shell itself has ended.
  void wait();

private:
  file_descriptor output_;
  pid_t child_ = -1;
};

} // namespace paddock::cli
