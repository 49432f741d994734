// SPDX-License-Identifier: MIT
#pragma once

// The requests of one session that are not answered yet: calls, and subscriptions, which are
// answered at the end.
//
// Thread-safety: from any thread. A call stays alive until `close` has returned.

#include "mcp/server/active_call.hpp"
#include "mcp/server/subscription.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace paddock::mcp {

class open_requests {
public:
  /// Whether a request of this id is open.
  [[nodiscard]] bool contains(const request_id& id) const;
  /// Cancelled at once where everything was cancelled already.
  void add(active_call& c);
  /// From here on the call cannot be found, and whoever was cancelling it has finished.
  void close(active_call& c);
  /// False: too many are open.
  [[nodiscard]] bool subscribe(std::shared_ptr<subscription> it);
  /// The client wants no answer to this one any more.
  void cancel(const request_id& id);
  /// Cancels all calls and those to come. Returns the subscriptions, which are over.
  [[nodiscard]] std::vector<request_id> cancel_all(active_call::canceller who);

  [[nodiscard]] std::size_t calls() const;
  [[nodiscard]] bool has_subscriptions() const;

private:
  mutable std::mutex guard_; // before active_call::guard
  std::vector<active_call*> calls_;
  std::vector<std::shared_ptr<subscription>> subscriptions_;
  std::optional<active_call::canceller> ending_;
};

} // namespace paddock::mcp
