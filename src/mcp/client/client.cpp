// SPDX-License-Identifier: MIT
#include "mcp/client/client_core.hpp"

#include <paddock/mcp/client.hpp>

#include <gsl/assert>

#include <utility>

namespace paddock::mcp {

struct client::state {
  state(endpoint to, client_options options) : core(std::move(to), std::move(options)) {}
  client_core core;
};

client::client(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
client::client(client&&) noexcept = default;
client& client::operator=(client&&) noexcept = default;
client::~client() = default;

result<client, detailed_error> client::connect(endpoint to, client_options options,
                                               const cancellation* cancel) {
  auto s = std::make_unique<state>(std::move(to), std::move(options));
  PADDOCK_CHECK(s->core.connect(cancel));
  return client(std::move(s));
}

const server_identity& client::server() const noexcept {
  Expects(state_);
  return state_->core.identity;
}

const connect_times& client::times() const noexcept {
  Expects(state_);
  return state_->core.times;
}

std::shared_ptr<const std::vector<remote_tool>> client::tools() const {
  Expects(state_);
  return state_->core.tools();
}

result<void, detailed_error> client::refresh_tools() {
  Expects(state_);
  return state_->core.fetch_tools({});
}

result<call_reply, detailed_error>
client::call_tool(std::string_view name, std::string_view arguments, const call_options& options) {
  Expects(state_);
  return state_->core.call_tool(name, arguments, options);
}

result<std::string, detailed_error>
client::request(std::string_view method, std::string_view params, const call_options& options) {
  Expects(state_);
  return state_->core.request(method, params, options);
}

std::optional<std::int64_t> client::retry_ms() const noexcept {
  Expects(state_);
  return state_->core.retry_ms();
}

bool client::connected() const noexcept {
  return state_ && state_->core.connected();
}

void client::close() noexcept {
  if (state_) state_->core.close();
}

std::string call_reply::text() const {
  json_document document;
  const auto parsed = document.parse(json);
  std::string all;
  if (!parsed) return all;
  (*parsed)["content"].for_each_element([&](json_view block) {
    if (const auto each = block["text"].string()) all.append(all.empty() ? "" : "\n").append(*each);
  });
  return all;
}

std::string call_reply::structured() const {
  json_document document;
  const auto parsed = document.parse(json);
  return parsed ? std::string((*parsed)["structuredContent"].text()) : std::string();
}

} // namespace paddock::mcp
