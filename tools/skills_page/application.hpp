// SPDX-License-Identifier: MIT
#pragma once

// The page as an HTTP server's application: on 127.0.0.1 only, and for requests only that prove to
// come from the page. What every request has to have is decided here, before its body is read; what
// it means is decided in api.cpp.

#include "http/server/access.hpp"
#include "http/server/pooled_application.hpp"

#include <paddock/skill/store.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace paddock::skills_page {

/// Largest body of a request; the page refuses to send more.
inline constexpr std::size_t body_bytes_max = std::size_t{64} * 1024 * 1024;
/// How requests of the page's script carry the token; makes them ones that no other origin can send
/// without asking first, and asking is answered with a refusal. In lower case.
inline constexpr std::string_view token_header = "x-paddock-token";

class application final : public http::pooled_application {
public:
  /// Listens on 127.0.0.1; port 0 stands for any that is free. Errors: those of the system's random
  /// numbers, of events, and of http::listener.
  [[nodiscard]] static result<std::unique_ptr<application>>
  make(std::shared_ptr<const skill_store> store, std::uint16_t port);

  /// Serves until `stop_fd` becomes readable; once.
  [[nodiscard]] result<outcome> serve(int stop_fd);
  /// "http://127.0.0.1:port/token/"
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  [[nodiscard]] http::judgement judge(const http::request_head& head) override;
  [[nodiscard]] http::refusal_answer refuse(const http::request_head& head,
                                            std::string_view reason) override;

private:
  application(std::shared_ptr<const skill_store> store, http::listener l, std::string token,
              file_descriptor wake);
  [[nodiscard]] http::answer answer_to(const http::request& r) override;
  [[nodiscard]] bool knows_token(const http::request_head& head, std::string_view path) const;

  const std::shared_ptr<const skill_store> store_;
  http::listener listener_;
  const std::string token_;
  const std::string page_path_; ///< "/token/", where the page and its parts are
  const std::string address_;
  http::asker_rules who_;
};

} // namespace paddock::skills_page
