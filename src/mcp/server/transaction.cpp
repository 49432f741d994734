// SPDX-License-Identifier: MIT
#include "mcp/server/transaction.hpp"

#include <algorithm>

namespace paddock::mcp {
namespace {

constexpr std::size_t short_response_bytes_max = 256;

} // namespace

void reply::begin_batch(std::size_t messages) {
  messages_ = messages;
}

std::size_t reply::room(std::size_t line_bytes_max) const {
  if (!is_batch()) return line_bytes_max;
  const std::size_t others = messages_ - std::min(messages_, kept_);
  const std::size_t taken = batch_.size() + others * short_response_bytes_max;
  return std::max(line_bytes_max - std::min(line_bytes_max, taken),
                  std::min(line_bytes_max, short_response_bytes_max));
}

void reply::keep(std::optional<rpc_error> refused) {
  ++kept_;
  if (is_batch())
    batch_.append(1, batch_.empty() ? '[' : ',').append(response_.str());
  else
    refused_ = refused;
}

std::string_view reply::end() {
  if (kept_ == 0) return {};
  if (is_batch()) return batch_.append("]\n");
  return response_.end_line().str();
}

void reply::clear() {
  response_.clear();
  batch_.clear();
  messages_ = 0;
  kept_ = 0;
  refused_.reset();
}

void fail(transaction& t, const std::optional<request_id>& id, rpc_error code,
          std::string_view text) {
  write_error_response(t.answer.next(), id, {.code = code, .message = std::string(text)});
  t.answer.keep();
}

void refuse(transaction& t, const std::optional<request_id>& id, rpc_error code,
            std::string_view text, std::string_view data) {
  write_error_response(t.answer.next(), id,
                       {.code = code, .message = std::string(text), .data = std::string(data)});
  t.answer.keep(code);
}

} // namespace paddock::mcp
