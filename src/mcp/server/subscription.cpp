// SPDX-License-Identifier: MIT
#include "mcp/server/subscription.hpp"

#include <paddock/mcp/json.hpp>

namespace paddock::mcp {

std::string subscription::line_of(std::string_view task) const {
  json_writer out;
  out.begin_object().member("jsonrpc", "2.0").member("method", "notifications/tasks");
  out.key("params").begin_object_with(task).key("_meta").begin_object();
  out.key(meta_subscription_id).raw(id_.json()).end_object();
  out.end_object().end_object().end_line();
  return out.take();
}

void subscription::tell_of_task(std::string_view outcome, std::string_view state) {
  const std::shared_ptr<call_events> to = to_.lock();
  if (to == nullptr) return;
  const std::string line = line_of(outcome), brief = line_of(state);
  const std::lock_guard lock(guard_);
  if (!over_) to->tell(line, brief);
}

void subscription::end() {
  const std::lock_guard lock(guard_);
  over_ = true;
}

} // namespace paddock::mcp
