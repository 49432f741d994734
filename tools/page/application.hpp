// SPDX-License-Identifier: MIT
#pragma once

// A page as an HTTP server's application: on 127.0.0.1 only, and for requests only that prove to
// come from the page. What every request has to have is decided here, before its body is read; what
// it means is the page's own. The address contains a random token; who does not know it gets
// nothing, and pages of other origins get nothing even with it.

#include "page.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace paddock::page {

/// How requests of the page's script carry the token; makes them ones that no other origin can send
/// without asking first, and asking is answered with a refusal. In lower case.
inline constexpr std::string_view token_header = "x-paddock-token";

class application final : public http::pooled_application {
public:
  /// Listens on 127.0.0.1; port 0 stands for any that is free. Errors: those of the system's random
  /// numbers, of events, and of http::listener.
  [[nodiscard]] static result<std::unique_ptr<application>> make(definition what,
                                                                 std::uint16_t port);

  /// Serves until `stop_fd` becomes readable; once.
  [[nodiscard]] result<outcome> serve(int stop_fd);
  /// "http://127.0.0.1:port/token/"
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  [[nodiscard]] http::judgement judge(const http::request_head& head) override;
  [[nodiscard]] http::refusal_answer refuse(const http::request_head& head,
                                            std::string_view reason) override;

private:
  application(definition what, http::listener l, std::string token, file_descriptor wake);
  [[nodiscard]] http::answer answer_to(const http::request& r) override;
  [[nodiscard]] bool knows_token(const http::request_head& head, std::string_view path) const;
  [[nodiscard]] const asset* asset_at(std::string_view path) const;
  /// The methods that `path` knows, as the value of Allow has them; empty when nothing is there.
  [[nodiscard]] std::string methods_of(std::string_view path) const;

  const definition what_;
  const std::string guard_lines_;
  const std::string wrong_address_;
  http::listener listener_;
  const std::string token_;
  const std::string page_path_; ///< "/token/", where the page and its parts are
  const std::string address_;
  http::asker_rules who_;
};

/// Serves the page until SIGINT, SIGTERM or SIGHUP; port 0 stands for any that is free. The address
/// is the first and only line on standard output. Returns the exit code (workspace_cli.hpp).
[[nodiscard]] int serve(definition what, std::uint16_t port);

} // namespace paddock::page
