// SPDX-License-Identifier: MIT
#include "mcp/server/subscription.hpp"

#include <paddock/mcp/json.hpp>

namespace paddock::mcp {

void subscription::tell_of_task(std::string_view state) {
  const std::shared_ptr<call_events> to = to_.lock();
  if (to == nullptr) return;
  json_writer out;
  out.begin_object().member("jsonrpc", "2.0").member("method", "notifications/tasks");
  out.key("params").begin_object_with(state).key("_meta").begin_object();
  out.key(meta_subscription_id).raw(id_.json()).end_object();
  out.end_object().end_object().end_line();
  const std::lock_guard lock(guard_);
  if (!over_) to->tell(out.str());
}

void subscription::end() {
  const std::lock_guard lock(guard_);
  over_ = true;
}

} // namespace paddock::mcp
