// SPDX-License-Identifier: MIT
#pragma once

// A server as a child process, spoken to over pipes: a line goes out, a line comes back.

#include <paddock/file_descriptor.hpp>
#include <paddock/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

class mcp_child {
public:
  /// Starts `argv[0]`, a path. Its standard error stays this process's. Errors: those of pipe2 and
  /// posix_spawn.
  [[nodiscard]] static result<mcp_child> start(const std::vector<std::string>& argv);
  mcp_child(mcp_child&& other) noexcept;
  mcp_child& operator=(mcp_child&&) = delete;
  mcp_child(const mcp_child&) = delete;
  mcp_child& operator=(const mcp_child&) = delete;
  /// Kills the child unless `finish` has been called.
  ~mcp_child();

  /// Sends a request (without its newline) and waits for the next line.
  /// Errors: timed_out; io when the child has gone or the line is endless.
  [[nodiscard]] result<std::string> exchange(std::string_view request);

  /// Ends the child's input and waits until it has ended. Its exit code, or -1 when it did not end
  /// by itself.
  int finish();

private:
  mcp_child() = default;
  [[nodiscard]] result<void> send(std::string_view bytes);
  [[nodiscard]] result<std::string> receive(std::int64_t deadline_ms);

  int id_ = -1;
  file_descriptor input_;  ///< the child's standard input
  file_descriptor output_; ///< the child's standard output
  std::string received_;   ///< beyond the last line
};

} // namespace paddock::cli
