// SPDX-License-Identifier: MIT
#pragma once

// MCP as an application of http::server: what is quick is answered at once, calls run on a pool and
// speak through the mailbox.

#include "http/server/server.hpp"
#include "http/server/worker_pool.hpp"
#include "mcp/http/access.hpp"
#include "mcp/http/posted_message.hpp"
#include "mcp/server/session.hpp"

#include <paddock/mcp/http_server.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace paddock::mcp {

/// The sessions of clients from before 2026-07-28. Belongs to one thread.
struct legacy_session {
  std::string id;
  std::shared_ptr<session> talk;
  std::size_t calls_open = 0;
  std::int64_t used_ms = 0; ///< when a request of it came, or a call of it ended
};

class session_table {
public:
  session_table(std::size_t sessions_max, std::int64_t idle_ms)
      : sessions_max_(sessions_max), idle_ms_(idle_ms) {}

  /// Makes room by ending the session that was idle for longest. Nothing when all of them have open
  /// calls. Errors: those of the system's random numbers.
  [[nodiscard]] result<std::shared_ptr<legacy_session>> add(std::shared_ptr<session> talk,
                                                            std::int64_t now_ms);
  /// nullptr when there is none.
  [[nodiscard]] std::shared_ptr<legacy_session> find(std::string_view id, std::int64_t now_ms);
  /// Its calls are cancelled. False when there is none.
  bool end(std::string_view id);
  /// Cancels the calls of all.
  void end_all();
  /// Forgets those that were idle for too long; returns when to look again, or `never`.
  [[nodiscard]] std::int64_t expire(std::int64_t now_ms, std::int64_t never);

private:
  const std::size_t sessions_max_;
  const std::int64_t idle_ms_;
  std::unordered_map<std::string, std::shared_ptr<legacy_session>> by_id_;
};

class http_server::service final : public http::application {
public:
  [[nodiscard]] static result<std::unique_ptr<service>>
  make(std::shared_ptr<const server::core> core, http_server_options options);

  [[nodiscard]] result<http_serve_outcome> run(int stop_fd);
  void stop() noexcept { http_->stop(); }
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  [[nodiscard]] http::judgement judge(const http::request_head& head) override;
  void handle(http::connection& c) override;
  [[nodiscard]] http::refusal_answer refuse(const http::request_head& head,
                                            std::string_view reason) override;
  [[nodiscard]] std::string_view sign_of_life() const noexcept override { return ":\n\n"; }
  [[nodiscard]] int wake_descriptor() const noexcept override { return mailbox_->descriptor(); }
  void deliver() override;
  [[nodiscard]] std::int64_t expire(std::int64_t now_ms, std::int64_t never) override;
  void cancel_all() override;
  [[nodiscard]] bool is_idle() const noexcept override { return calls_open_ == 0; }

private:
  using conn = http::connection;
  using post = std::shared_ptr<posted_message>;

  service(std::shared_ptr<const server::core> core, http_server_options options,
          const http::listener& l, file_descriptor wake);

  // --- a request
  void on_message(conn& c);
  void on_modern(conn& c, const post& p, std::unique_ptr<transaction> t, const message& m);
  void on_legacy(conn& c, const post& p, std::unique_ptr<transaction> t, const message& m);
  void begin_session(conn& c, const post& p, std::unique_ptr<transaction> t, const message& m);
  void end_session(conn& c);
  [[nodiscard]] static bool is_always_taken(std::string_view method);
  void pass_on(conn& c, const post& p, std::unique_ptr<transaction> t, const message& m);

  // --- an answer
  void deliver(const reply_part& part);
  void begin_events(conn& c, const posted_message& p);
  void respond(conn& c, int status, std::string_view json, std::string_view session = {});
  void refuse(conn& c, int status, const message& m, std::string_view reason,
              rpc_error code = rpc_error::invalid_request);

  const std::shared_ptr<const server::core> core_;
  const http_server_options options_;
  const std::string address_;
  access_rules rules_;
  const std::shared_ptr<mailbox> mailbox_;
  const std::shared_ptr<http::worker_pool> pool_;
  const std::shared_ptr<task_runner> runner_;
  const std::shared_ptr<task_table> tasks_; ///< of clients without a session; nullptr: no tool
                                            ///< allows any
  session_table sessions_;
  std::size_t calls_open_ = 0;
  std::unique_ptr<http::server> http_; ///< the last: it refers to the rest
};

} // namespace paddock::mcp
