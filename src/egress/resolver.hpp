// SPDX-License-Identifier: MIT
#pragma once

// Looks names up as this machine does, on a few threads, because nothing can interrupt getaddrinfo.
// Names of one domain that nobody answers leave threads for others. What was found counts for a few
// seconds: getaddrinfo does not tell for how long. Lasts until the process ends, as they do.

#include "sys/socket.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

struct resolved {
  std::uint64_t key = 0;
  std::vector<sys::ip_address> addresses{}; ///< none: there is no such name, or nobody knows
};

class resolver {
public:
  /// `event` is raised when there is something to take.
  explicit resolver(int event);
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

  void ask(std::uint64_t key, const std::string& name);
  /// Nobody waits for it any more.
  void forget(std::uint64_t key, const std::string& name);
  [[nodiscard]] std::vector<resolved> take();

private:
  struct lookup {
    std::vector<std::uint64_t> waiting{};
    std::vector<sys::ip_address> found{};
    std::int64_t until_ms = 0; ///< it counts
  };

  void work();
  void start_worker();
  void make_room();
  [[nodiscard]] std::deque<std::string>::iterator next();

  const int event_;
  std::mutex lock_;
  std::condition_variable wanted_;
  std::deque<std::string> asked_; ///< the names that no thread looks up yet
  std::map<std::string, lookup, std::less<>> names_;
  std::map<std::string, unsigned, std::less<>> busy_; ///< threads, by domain
  std::vector<resolved> done_;
  unsigned threads_ = 0;
  unsigned idle_ = 0;
};

} // namespace paddock::egress
