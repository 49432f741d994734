// SPDX-License-Identifier: MIT
#pragma once

// What a server owes for each line it gets, by the rules of JSON-RPC and not by what it does: one
// response for a request with a usable id, one error without an id for what is no message, nothing
// for notifications, responses and blank lines.

#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::test {

class answer_ledger {
public:
  /// A line that is sent now.
  void sent(std::string_view line) {
    if (line.find_first_not_of(" \t\r\n") == line.npos) return;
    const auto parsed = asked_.parse(line);
    if (!parsed) {
      ++anonymous_;
      return;
    }
    const mcp::json_view message = *parsed;
    const mcp::json_view method = message["method"];
    if (message.is(mcp::json_kind::object) && !method.exists() &&
        (message["result"].exists() || message["error"].exists()))
      return;
    const mcp::json_view id = message["id"];
    const auto echo = echo_of(id);
    if (message["jsonrpc"].string() != "2.0" || !method.string() || (id.exists() && !echo))
      ++anonymous_;
    else if (id.exists())
      ++owed_[*echo];
  }

  /// A line that came; what is wrong with it, or nothing. An acknowledged subscription is not owed
  /// an answer any more: `listening` then is its id.
  [[nodiscard]] std::string received(std::string_view line, std::string* listening = nullptr) {
    if (line.find_first_of("\r\n") != line.npos) return "a line in two";
    const auto parsed = answered_.parse(line);
    if (!parsed) return "not JSON";
    const mcp::json_view message = *parsed;
    if (message["jsonrpc"].string() != "2.0") return "not JSON-RPC";
    if (const auto method = message["method"].string())
      return notified(*method, message, listening);
    const mcp::json_view error = message["error"];
    if (message["result"].exists() == error.exists()) return "neither result nor error";
    if (error.exists()) {
      static constexpr std::int64_t codes[] = {-32700, -32600, -32601, -32602,
                                               -32603, -32021, -32022};
      if (std::ranges::find(codes, error["code"].integer().value_or(0)) == std::end(codes))
        return "an unknown error code";
      if (!error["message"].string() || error["message"].string()->empty())
        return "an error without a message";
    } else if (!message["result"].is(mcp::json_kind::object)) {
      return "a result that is no object";
    }
    const mcp::json_view id = message["id"];
    if (!id.exists()) {
      if (!error.exists()) return "a result for nobody";
      if (anonymous_ == 0) return "an error nobody caused";
      --anonymous_;
      return {};
    }
    return settle(id.text());
  }

  /// How an ID, or a progress token, comes back; nothing where it is none. A number that is an
  /// integer however it is written (1.0, 1e2) comes back as one, unless a double could not hold it.
  static std::optional<std::string> echo_of(mcp::json_view id) {
    if (id.string()) return id.string()->size() <= 1024 ? std::optional(id.text()) : std::nullopt;
    const std::string text = id.text();
    if (!id.exists() || text.find_first_not_of("-+.0123456789eE") != text.npos) return std::nullopt;
    if (id.is(mcp::json_kind::integer)) return text;
    const double value = std::strtod(text.c_str(), nullptr);
    if (std::abs(value) > 9007199254740992.0 || value != std::floor(value)) return std::nullopt;
    return std::to_string(static_cast<long long>(value));
  }

  /// Whether everything is answered.
  [[nodiscard]] bool settled() const { return anonymous_ == 0 && owed_.empty(); }
  [[nodiscard]] std::string open() const {
    std::string all = std::to_string(anonymous_) + " errors";
    for (const auto& [id, count] : owed_)
      all += ", " + std::to_string(count) + " answers to " + id;
    return all;
  }

private:
  std::string settle(const std::string& id) {
    const auto found = owed_.find(id);
    if (found == owed_.end()) return "an answer nobody waits for";
    if (--found->second == 0) owed_.erase(found);
    return {};
  }
  std::string notified(std::string_view method, mcp::json_view message, std::string* listening) {
    if (message["id"].exists()) return "a request to the client";
    if (method == "notifications/progress") return {};
    if (method != "notifications/subscriptions/acknowledged") return "an unknown notification";
    const std::string id =
        message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].text();
    if (listening != nullptr) *listening = id;
    return settle(id);
  }

  mcp::json_document asked_;
  mcp::json_document answered_;
  std::map<std::string, std::size_t> owed_;
  std::size_t anonymous_ = 0;
};

} // namespace paddock::test
