// SPDX-License-Identifier: MIT
#pragma once

// Where people ask a server about its processes, with `paddock ps`, `logs` and `stop`: a socket
// file in a directory of theirs, that only programs of the same user may connect to.
//
// A connection is one question, a line of JSON, and one answer, another:
//   {"list":true}                  {"server":PID,"workspace":PATH,"processes":[…]}
//   {"read":ID,"from":OFFSET}      {"output":TEXT,"from":…,"next":…,"dropped":…,"state":…}
//   {"stop":ID,"graceMs":N}        {"state":…}
// or {"error":WHY}. Reading here leaves alone where the agent's reading goes on.

#include "mcp/server/task_runner.hpp"

#include <paddock/base/cancellation.hpp>
#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>
#include <paddock/exec/process.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace paddock::mcp {

class process_socket {
public:
  /// Opens one in `directory`, which is made with mode 0700. The table outlives the socket. Errors:
  /// permission_denied (the directory is not this user's alone), those of sockets and files,
  /// too_many.
  [[nodiscard]] static result<std::unique_ptr<process_socket>>
  open(const std::string& directory, std::string workspace, const process_table& table);
  process_socket(const process_socket&) = delete;
  process_socket& operator=(const process_socket&) = delete;
  ~process_socket();

private:
  process_socket(std::string path, std::string workspace, const process_table& table,
                 file_descriptor listening);
  void serve();
  /// On a thread of its own, if not too many are given; else on this one, before anybody else is
  /// heard.
  void begin_answer(file_descriptor connection);
  void answer_one(int connection);
  [[nodiscard]] std::string answer_to(std::string_view question);
  [[nodiscard]] std::string list() const;

  const std::string path_;
  const std::string workspace_;
  const process_table& table_;
  const file_descriptor listening_;
  const cancellation over_;
  task_runner answers_;
  std::thread thread_;
};

/// The program and its arguments in one line; of one that a shell runs as exec does, the script.
[[nodiscard]] std::string command_text(const process& of);

/// The answer at the socket file `path`. Errors: not_found (nobody is there any more), timed_out,
/// io.
[[nodiscard]] result<std::string> ask_process_socket(const std::string& path,
                                                     std::string_view question);

/// The socket files in `directory`, sorted; those that servers have left behind are removed.
[[nodiscard]] std::vector<std::string> process_sockets_in(const std::string& directory);

} // namespace paddock::mcp
