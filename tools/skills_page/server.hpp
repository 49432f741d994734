// SPDX-License-Identifier: MIT
#pragma once

// The HTTP server of the page: on 127.0.0.1 only, and for requests only that prove to come from the
// page. What every request has to have is decided here, before its body is read; what it means is
// decided in api.cpp.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <httplib.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace paddock::skills_page {

/// Largest body of a request; the page refuses to send more.
inline constexpr std::size_t body_bytes_max = std::size_t{64} * 1024 * 1024;
/// How requests of the page's script carry the token; makes them ones that no other origin can send
/// without asking first, and asking is answered with a refusal.
inline constexpr const char* token_header = "X-Paddock-Token";

class server final : public httplib::Server {
public:
  /// Errors: those of the system's random numbers and of eventfd.
  [[nodiscard]] static result<std::unique_ptr<server>> make();

  /// 0: any free port. False: it is taken or not permitted.
  [[nodiscard]] bool bind(std::uint16_t port);
  /// Serves until `end`. False: the listening socket failed.
  [[nodiscard]] bool serve();
  /// Ends `serve`, from any thread and at any time: responses that are ready still go out.
  void end();

  /// "http://127.0.0.1:port/token/"
  [[nodiscard]] std::string address() const;
  /// "/token/", where the page and its parts are.
  [[nodiscard]] std::string page_path() const { return "/" + token_ + "/"; }
  /// For work that should not go on when the server ends.
  [[nodiscard]] const std::atomic<bool>& ending() const noexcept { return ending_; }

private:
  server(std::string token, file_descriptor stop_event);
  bool process_and_close_socket(socket_t socket) override;
  [[nodiscard]] bool refuse(const httplib::Request& request, httplib::Response& response) const;
  [[nodiscard]] bool knows_token(const httplib::Request& request) const;

  std::string token_;
  file_descriptor stop_event_;
  std::atomic<bool> ending_ = false;
  std::string hosts_[2]; ///< the values of Host that name this server
};

/// A refusal that a person may see in the browser.
void answer_plainly(httplib::Response& response, int status, std::string_view text);

} // namespace paddock::skills_page
