// SPDX-License-Identifier: MIT
#pragma once

// Looks names up as this machine does, on a few threads, because nothing can interrupt getaddrinfo.
// Lasts until the process ends, as they do.

#include "sys/socket.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
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

  void ask(std::uint64_t key, std::string name);
  /// Nobody waits for it any more.
  void forget(std::uint64_t key);
  [[nodiscard]] std::vector<resolved> take();

private:
  struct asked {
    std::uint64_t key = 0;
    std::string name;
  };

  void work();

  const int event_;
  std::mutex lock_;
  std::condition_variable wanted_;
  std::deque<asked> asked_;
  std::vector<resolved> done_;
  unsigned threads_ = 0;
};

} // namespace paddock::egress
