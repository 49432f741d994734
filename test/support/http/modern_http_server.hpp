// SPDX-License-Identifier: MIT
#pragma once

// A server of 2026-07-28 over HTTP for tests of the client, with a way to interfere.

#include "support/http/http_peer.hpp"

#include <paddock/mcp/client.hpp>
#include <paddock/mcp/json.hpp>

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test {

/// A modern server over HTTP that does what a test wants with some methods.
class modern_http_server {
public:
  using reaction = std::function<bool(http_peer&, const http_received&, std::string_view id)>;

  explicit modern_http_server(reaction react)
      : server_([this, react = std::move(react)](http_peer& peer, const http_received& request) {
          mcp::json_document document;
          const auto parsed = document.parse(request.body);
          const std::string id = parsed ? (*parsed)["id"].text() : "";
          {
            const std::lock_guard lock(guard_);
            requests_.push_back(request);
          }
          if (react(peer, request, id)) return;
          const std::string method = request.header("mcp-method");
          if (method == "server/discover")
            peer.answer(200, "application/json",
                        result_of(id, R"({"supportedVersions":["2026-07-28"],"capabilities":{}})"));
          else if (method == "tools/list")
            peer.answer(200, "application/json", result_of(id, R"({"tools":[)" + tools + "]}"));
          else
            peer.answer(200, "application/json", result_of(id, R"({"content":[]})"));
        }) {}

  static std::string result_of(std::string_view id, std::string_view object) {
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)" + std::string(object) +
           "}";
  }
  static std::string refusal(std::string_view id, int code, std::string_view data = "{}") {
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":{"code":)" +
           std::to_string(code) + R"(,"message":"no","data":)" + std::string(data) + "}}";
  }
  result<mcp::client, detailed_error> connect(std::vector<std::string>* log = nullptr,
                                              mcp::client_options options = {}) {
    options.on_log = [log](std::string_view line) {
      if (log != nullptr) log->emplace_back(line);
    };
    return mcp::client::connect(mcp::http_endpoint{.url = server_.url(),
                                                   .headers = {},
                                                   .kind = mcp::http_kind::streamable,
                                                   .addresses = mcp::address_policy::any},
                                std::move(options));
  }
  /// The requests of a method, in order.
  std::vector<http_received> requests(std::string_view method) {
    const std::lock_guard lock(guard_);
    std::vector<http_received> some;
    for (const auto& each : requests_)
      if (each.header("mcp-method") == method) some.push_back(each);
    return some;
  }

  std::string tools;

private:
  std::mutex guard_;
  std::vector<http_received> requests_;
  http_script_server server_; // last: its threads use the others
};

inline bool as_usual(http_peer&, const http_received&, std::string_view) {
  return false;
}

} // namespace paddock::test
