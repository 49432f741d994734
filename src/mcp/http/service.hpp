// SPDX-License-Identifier: MIT
#pragma once

// A server at work: one thread owns all connections, sessions and deadlines, reads requests,
// answers what is quick itself, and hands calls to the pool. Calls speak through the mailbox.

#include "http/server/listener.hpp"
#include "mcp/http/access.hpp"
#include "mcp/http/call_pool.hpp"
#include "mcp/http/served_connection.hpp"
#include "mcp/http/sessions.hpp"

#include <paddock/mcp/http_server.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace paddock::mcp {

class http_server::service {
public:
  [[nodiscard]] static result<std::unique_ptr<service>>
  make(std::shared_ptr<const server::core> core, http_server_options options);

  [[nodiscard]] result<http_serve_outcome> run(int stop_fd);
  void stop() noexcept;
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

private:
  using conn = served_connection;
  enum class stage : std::uint8_t { serving, finishing, cancelling };

  service(std::shared_ptr<const server::core> core, http_server_options options, http::listener l,
          file_descriptor epoll, file_descriptor wake, file_descriptor stop);

  // --- the loop
  [[nodiscard]] result<void> watch();
  void look_away_from_stops() noexcept;
  [[nodiscard]] result<void> wait();
  void on_ready(const sys::readiness& what);
  void accept_connections();
  [[nodiscard]] conn* replaceable();
  [[nodiscard]] conn* idle_for_longest();
  [[nodiscard]] conn* oldest_head(bool reserved);
  void listen_again(bool on);
  void check_deadlines();
  void on_deadline(conn& c);
  [[nodiscard]] std::int64_t deadline_of(const conn& c) const noexcept;
  void begin_finishing();
  void cancel_all();
  [[nodiscard]] bool is_finished() const noexcept;

  // --- a connection
  [[nodiscard]] conn* find(std::uint64_t number);
  void on_socket(conn& c, const sys::readiness& what);
  void on_client_gone(conn& c, bool watch_on);
  void take_requests(conn& c);
  [[nodiscard]] bool take_step(conn& c, std::string_view& bytes);
  void update(conn& c);
  void close(conn& c);

  // --- a request
  void on_head(conn& c);
  void on_request(conn& c);
  void on_message(conn& c);
  void on_modern(conn& c, const std::shared_ptr<exchange>& e, std::unique_ptr<work> w,
                 const message& m);
  void on_legacy(conn& c, const std::shared_ptr<exchange>& e, std::unique_ptr<work> w,
                 const message& m);
  void begin_session(conn& c, const std::shared_ptr<exchange>& e, std::unique_ptr<work> w,
                     const message& m);
  void end_session(conn& c);
  void pass_on(conn& c, const std::shared_ptr<exchange>& e, std::unique_ptr<work> w,
               const message& m);

  // --- an answer
  void deliver_letters();
  void deliver(const letter& l);
  void begin_events(conn& c);
  void write(conn& c, std::string_view bytes);
  void respond(conn& c, std::string_view response);
  void refuse(conn& c, int status, std::string_view reason, std::string_view lines = {});
  void refuse(conn& c, int status, const message& m, std::string_view reason,
              rpc_error code = rpc_error::invalid_request);
  [[nodiscard]] answer_head head_for(const conn& c, int status) const;
  void end_response(conn& c);

  const std::shared_ptr<const server::core> core_;
  const http_server_options options_;
  access_rules rules_;
  http::request_reader::limits request_limits_;
  http::listener listener_;
  std::string address_;
  const file_descriptor epoll_;
  const file_descriptor stop_;
  const std::shared_ptr<mailbox> mailbox_;
  const std::shared_ptr<call_pool> pool_;

  session_table sessions_;
  std::unordered_map<std::uint64_t, std::unique_ptr<conn>> connections_;
  std::unique_ptr<char[]> buffer_;
  std::uint64_t last_number_;
  std::size_t places_;       ///< for connections, without the reserve
  std::size_t reserved_ = 0; ///< connections of the reserve
  std::size_t calls_open_ = 0;
  std::size_t bytes_held_ = 0;
  std::int64_t now_ms_ = 0;
  std::int64_t check_ms_ = 0; ///< when deadlines are looked at next
  std::int64_t stage_ends_ms_ = 0;
  stage stage_ = stage::serving;
  bool listening_ = true;
  int stop_fd_ = -1;
};

} // namespace paddock::mcp
