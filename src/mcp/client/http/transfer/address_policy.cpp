// SPDX-License-Identifier: MIT
#include "mcp/client/http/transfer/address_policy.hpp"

#include "base/start_thread.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

namespace paddock::mcp {
namespace {

using bytes = std::span<const std::uint8_t>;

struct v4_range {
  std::uint8_t first[4];
  unsigned bits;
  std::string_view what;
};
struct v6_range {
  std::uint8_t first[16];
  unsigned bits;
  std::string_view what;
};

// The special-purpose registries of IANA; what is globally reachable is left out.
constexpr v4_range special_v4[] = {
    {{0, 0, 0, 0}, 8, "\"this network\""},
    {{10, 0, 0, 0}, 8, "private"},
    {{100, 64, 0, 0}, 10, "shared by a carrier"},
    {{127, 0, 0, 0}, 8, "loopback"},
    {{169, 254, 0, 0}, 16, "link-local"},
    {{172, 16, 0, 0}, 12, "private"},
    {{192, 0, 0, 0}, 24, "for protocol assignments"},
    {{192, 0, 2, 0}, 24, "for documentation"},
    {{192, 88, 99, 0}, 24, "a relay of 6to4"},
    {{192, 168, 0, 0}, 16, "private"},
    {{198, 18, 0, 0}, 15, "for benchmarks"},
    {{198, 51, 100, 0}, 24, "for documentation"},
    {{203, 0, 113, 0}, 24, "for documentation"},
    {{224, 0, 0, 0}, 4, "multicast"},
    {{240, 0, 0, 0}, 4, "reserved"},
};

// Only 2000::/3 is routed at all; these are the exceptions in it, and names for what is outside.
constexpr v6_range special_v6[] = {
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "for documentation"},
    {{0x20, 0x01}, 23, "for protocol assignments"},
    {{0x3f, 0xff}, 20, "for documentation"},
    {{0xfc}, 7, "private"},
    {{0xfe, 0x80}, 10, "link-local"},
    {{0xfe, 0xc0}, 10, "site-local"},
    {{0xff}, 8, "multicast"},
};
constexpr std::uint8_t routed_v6[] = {0x20};
constexpr unsigned routed_v6_bits = 3;

constexpr std::uint8_t v6_loopback[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr std::uint8_t v6_unspecified[16] = {};

// Prefixes behind which an IPv4 address stands, and where.
constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::uint8_t compatible[12] = {};
constexpr std::uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
constexpr std::uint8_t six_to_four[2] = {0x20, 0x02};
constexpr std::uint8_t teredo[4] = {0x20, 0x01, 0, 0};

constexpr bool in_prefix(bytes address, bytes prefix, unsigned bits) {
  unsigned i = 0;
  for (; bits >= 8; bits -= 8, ++i)
    if (address[i] != prefix[i]) return false;
  if (bits == 0) return true;
  const unsigned shift = 8 - bits;
  return address[i] >> shift == prefix[i] >> shift;
}

constexpr bool begins_with(bytes address, bytes prefix) {
  return in_prefix(address, prefix, static_cast<unsigned>(prefix.size()) * 8);
}

std::string_view judge_v4(bytes address) {
  for (const v4_range& range : special_v4)
    if (in_prefix(address, range.first, range.bits)) return range.what;
  return {};
}

/// A tunnel that goes through a server and ends at a client, whose bits are inverted.
std::string_view judge_teredo(bytes address) {
  if (const std::string_view what = judge_v4(address.subspan(4, 4)); !what.empty()) return what;
  std::uint8_t client[4];
  for (std::size_t i = 0; i < 4; ++i)
    client[i] = static_cast<std::uint8_t>(address[12 + i] ^ 0xff);
  return judge_v4(client);
}

std::string_view judge_v6(bytes address) {
  if (begins_with(address, v6_loopback)) return "loopback";
  if (begins_with(address, v6_unspecified)) return "unspecified";
  for (const bytes prefix : {bytes(mapped), bytes(compatible), bytes(nat64)})
    if (begins_with(address, prefix)) return judge_v4(address.subspan(12, 4));
  if (begins_with(address, six_to_four)) return judge_v4(address.subspan(2, 4));
  if (begins_with(address, teredo)) return judge_teredo(address);
  for (const v6_range& range : special_v6)
    if (in_prefix(address, range.first, range.bits)) return range.what;
  return in_prefix(address, routed_v6, routed_v6_bits) ? std::string_view() : "reserved";
}

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

std::string_view not_public_because(const sys::ip_address& address) noexcept {
  return address.kind == sys::ip_address::family::v4 ? judge_v4(bytes(address.bytes).first(4))
                                                     : judge_v6(address.bytes);
}

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
    const std::string_view what = not_public_because(address);
    if (what.empty()) continue;
    return detailed_error(
        denied, "the host " + to.host + " has the address " + sys::inet_ntop(address) +
                    ", which is " + std::string(what) +
                    " and not public; use a public server, or allow local addresses for this one");
  }
  return found;
}

} // namespace paddock::mcp
