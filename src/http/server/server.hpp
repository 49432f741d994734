// SPDX-License-Identifier: MIT
#pragma once

// Serves an application over HTTP: one thread owns all connections and deadlines, and reads
// requests. Memory and connections are bounded, slow clients are cut off, an answer goes to the
// connection that asked and to no other.

#include "http/server/application.hpp"
#include "http/server/connection.hpp"
#include "http/server/listener.hpp"

#include <paddock/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace paddock::http {

/// Units and meanings as in mcp::http_server_options.
struct server_options {
  unsigned connections_max = 1024;
  std::size_t buffered_bytes_max = std::size_t{128} * 1024 * 1024;
  std::size_t head_bytes_max = std::size_t{32} * 1024;
  std::uint64_t body_bytes_max = std::uint64_t{1} * 1024 * 1024;
  unsigned head_timeout_ms = 10'000;
  unsigned body_timeout_ms = 60'000;
  unsigned write_timeout_ms = 30'000;
  unsigned idle_timeout_ms = 60'000;
  unsigned keep_alive_ms = 15'000;
  unsigned stop_grace_ms = 5'000;
};

class server {
public:
  /// `app` must live longer. Errors: too_many, io.
  [[nodiscard]] static result<std::unique_ptr<server>> make(application& app, listener l,
                                                            server_options options);

  /// Serves until `stop`, or until `stop_fd` (-1 for none) becomes readable; answers that are ready
  /// then go out. Once. Errors: io, too_many (the loop itself failed).
  [[nodiscard]] result<void> run(int stop_fd);
  /// Ends `run`, also one that comes later; from any thread, and in a signal handler.
  void stop() noexcept;

  // --- for the application, within its calls
  [[nodiscard]] std::int64_t now_ms() const noexcept { return now_ms_; }
  /// The connection of that number, if it still is open.
  [[nodiscard]] connection* find(std::uint64_t number);
  /// Answers the open request. `lines` are whole header lines.
  void respond(connection& c, int status, std::string_view lines, std::string_view type,
               std::string_view body);
  void refuse(connection& c, int status, std::string_view reason, std::string_view lines = {});
  /// Begins an answer that comes in pieces, and says so in `lines`; nothing when it has begun.
  void begin_stream(connection& c, std::string_view lines);
  void stream(connection& c, std::string_view piece);
  void end_stream(connection& c);
  /// To be called in `deliver` after a connection was written to.
  void go_on(connection& c);

private:
  enum class stage : std::uint8_t { serving, finishing, cancelling };

  server(application& app, listener l, server_options options, file_descriptor epoll,
         file_descriptor stop);

  // --- the loop
  [[nodiscard]] result<void> watch();
  void look_away_from_stops() noexcept;
  [[nodiscard]] result<void> wait();
  void on_ready(const sys::readiness& what);
  void accept_connections();
  [[nodiscard]] connection* replaceable();
  [[nodiscard]] connection* idle_for_longest();
  [[nodiscard]] connection* oldest_head(bool reserved);
  void listen_again(bool on);
  void check_deadlines();
  void on_deadline(connection& c);
  [[nodiscard]] std::int64_t deadline_of(const connection& c) const noexcept;
  void begin_finishing();
  void cancel_all();
  [[nodiscard]] bool is_finished() const noexcept;

  // --- a connection
  void on_socket(connection& c, const sys::readiness& what);
  void on_client_gone(connection& c, bool watch_on);
  void take_requests(connection& c);
  [[nodiscard]] bool take_step(connection& c, std::string_view& bytes);
  void on_head(connection& c);
  void update(connection& c);
  void close(connection& c);
  [[nodiscard]] response_head head_for(const connection& c, int status,
                                       std::string_view lines) const;
  void end_response(connection& c);

  static constexpr std::size_t read_bytes = std::size_t{64} * 1024;

  application& app_;
  const server_options options_;
  const request_reader::limits request_limits_;
  listener listener_;
  const file_descriptor epoll_;
  const file_descriptor stop_;

  std::unordered_map<std::uint64_t, std::unique_ptr<connection>> connections_;
  std::unique_ptr<char[]> buffer_;
  std::uint64_t last_number_;
  std::size_t places_;       ///< for connections, without the reserve
  std::size_t reserved_ = 0; ///< connections of the reserve
  std::size_t bytes_held_ = 0;
  std::int64_t now_ms_ = 0;
  std::int64_t check_ms_ = 0; ///< when deadlines are looked at next
  std::int64_t stage_ends_ms_ = 0;
  stage stage_ = stage::serving;
  bool listening_ = true;
  int stop_fd_ = -1;
};

} // namespace paddock::http
