// SPDX-License-Identifier: MIT
#pragma once

// What a client's transport delivers, kept to be looked at and waited for.

#include "mcp/client/client_transport.hpp"
#include "precompiled/tests.hpp"

namespace paddock::test {

/// How long a test waits for what must come, before it gives up.
inline constexpr std::chrono::seconds patience{60};

struct refusal {
  std::string id;
  int status = 0;
  std::string body;
  error_code code{};
  std::string why;
};

class transport_sink final : public mcp::incoming {
public:
  void on_message(std::string_view json) override {
    note([&] { messages_.emplace_back(json); });
  }
  void on_refused(const mcp::request_id& id, int status, std::string_view body,
                  paddock::error reason, std::string_view why) override {
    note([&] {
      refusals_.push_back({id.json(), status, std::string(body), reason.code, std::string(why)});
    });
  }
  void on_log(std::string_view line) override {
    note([&] { logs_.emplace_back(line); });
  }
  void on_lost(paddock::error, std::string_view why) override {
    note([&] { losses_.emplace_back(why); });
  }

  std::vector<std::string> wait_for_messages(std::size_t n) { return wait_for(messages_, n); }
  std::vector<refusal> wait_for_refusals(std::size_t n) { return wait_for(refusals_, n); }
  std::vector<std::string> wait_for_logs(std::size_t n) { return wait_for(logs_, n); }
  std::vector<std::string> wait_for_losses(std::size_t n) { return wait_for(losses_, n); }
  /// How much was delivered in all.
  std::size_t delivered() {
    const std::lock_guard lock(guard_);
    return messages_.size() + refusals_.size() + logs_.size() + losses_.size();
  }

private:
  template <class F> void note(F f) {
    const std::lock_guard lock(guard_);
    f();
    changed_.notify_all();
  }
  template <class T> std::vector<T> wait_for(const std::vector<T>& what, std::size_t n) {
    std::unique_lock lock(guard_);
    EXPECT_TRUE(changed_.wait_for(lock, patience, [&] { return what.size() >= n; }))
        << "only " << what.size() << " of " << n
        << " came; refused: " << (refusals_.empty() ? "" : refusals_.back().why);
    std::vector<T> out = what;
    out.resize(std::max(n, out.size()));
    return out;
  }

  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<std::string> messages_;
  std::vector<refusal> refusals_;
  std::vector<std::string> logs_;
  std::vector<std::string> losses_;
};

/// Something that happens once and is waited for.
class signal_once {
public:
  void raise() {
    const std::lock_guard lock(guard_);
    raised_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool wait() {
    std::unique_lock lock(guard_);
    return changed_.wait_for(lock, patience, [&] { return raised_; });
  }

private:
  std::mutex guard_;
  std::condition_variable changed_;
  bool raised_ = false;
};

} // namespace paddock::test
