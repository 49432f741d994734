// SPDX-License-Identifier: MIT
#include "mcp/client/http/transfer/address_policy.hpp"

#include "base/start_thread.hpp"
#include "sys/special_address.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace paddock::mcp {
namespace {

struct lookup {
  std::mutex guard;
  std::condition_variable finished;
  std::optional<result<std::vector<sys::ip_address>>> found;
};

std::string unresolved(const std::string& host, const error& reason) {
  if (reason.code == error_code::timed_out)
    return "looking up the host " + host + " took too long; try again or check the name servers";
  if (reason.code == error_code::not_found)
    return "there is no host named " + host + "; check the spelling of the URL";
  return "the host " + host + " could not be looked up; check this machine's network";
}

} // namespace

host_resolver system_resolver(std::int64_t timeout_ms) {
  return [timeout_ms](const std::string& host) -> result<std::vector<sys::ip_address>> {
    // getaddrinfo can't be interrupted, so it runs where nobody has to wait for it.
    const auto state = std::make_shared<lookup>();
    std::thread asking;
    const auto ask = [state, host] {
      auto found = sys::getaddrinfo(host.c_str());
      const std::lock_guard lock(state->guard);
      state->found = std::move(found);
      state->finished.notify_all();
    };
    if (!start_thread(asking, ask)) return error{error_code::too_many, 0, "thread"};
    asking.detach();
    std::unique_lock lock(state->guard);
    if (!state->finished.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                                  [&] { return state->found.has_value(); }))
      return error{error_code::timed_out, 0, "getaddrinfo"};
    return *std::move(state->found);
  };
}

result<std::vector<sys::ip_address>, detailed_error>
allowed_addresses(const url& to, address_policy policy, const host_resolver& resolve) {
  const error denied{error_code::denied_by_policy, 0, "address_policy"};
  if (policy == address_policy::public_only && to.scheme != url_scheme::https)
    return detailed_error(denied, "the URL is not https; use https, or allow plain connections and "
                                  "local addresses for this server");
  auto found = resolve(to.host);
  if (!found) return detailed_error(found.error(), unresolved(to.host, found.error()));
  if (found->empty()) return error{error_code::not_found, 0, "address_policy"};
  if (policy == address_policy::any) return found;
  for (const sys::ip_address& address : *found) {
    const std::string_view what = sys::special_purpose_of(address);
    if (what.empty()) continue;
    return detailed_error(
        denied, "the host " + to.host + " has the address " + sys::inet_ntop(address) +
                    ", which is " + std::string(what) +
                    " and not public; use a public server, or allow local addresses for this one");
  }
  return found;
}

} // namespace paddock::mcp
