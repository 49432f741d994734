// SPDX-License-Identifier: MIT
#pragma once

// Says which skills are being waited for, where a person would see nothing for long.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace paddock::cli {

/// Thread-safe.
class waiting_notices {
public:
  /// `say` is called on a thread of its own, once for each start that takes long.
  explicit waiting_notices(std::function<void(const std::string& skill)> say);
  waiting_notices(const waiting_notices&) = delete;
  waiting_notices& operator=(const waiting_notices&) = delete;
  ~waiting_notices();

  /// Nothing is said any more when this has returned.
  void stop();
  void begin(std::string_view skill);
  void end(std::string_view skill);

private:
  using clock = std::chrono::steady_clock;
  void watch();

  const std::function<void(const std::string& skill)> say_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::map<std::string, clock::time_point, std::less<>> due_;
  bool over_ = false;
  std::thread thread_;
};

} // namespace paddock::cli
