// SPDX-License-Identifier: MIT
#pragma once

// One JSON line for each finished tool call, and for each begin, end and refusal of a connection to
// a host by name, appended to a file.

#include <paddock/exec/network_event.hpp>
#include <paddock/mcp/server.hpp>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

namespace paddock::cli {

class audit_log {
public:
  /// Opens for appending; `good()` says whether that worked.
  explicit audit_log(const std::string& path);
  [[nodiscard]] bool good() const noexcept { return file_ != nullptr; }
  /// Writes one whole line, from any thread.
  void write(const mcp::call_record& record);
  void write(const network_event& event);

private:
  void append(std::string line);
  struct close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, close> file_;
  std::mutex mutex_;
};

} // namespace paddock::cli
