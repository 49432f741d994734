// SPDX-License-Identifier: MIT
#pragma once

// Accepts connections on sockets that listen in the network namespace of commands, and relays the
// allowed ones from this namespace. One thread; see docs/network.md.

#include "egress/dns_stub.hpp"
#include "egress/flow.hpp"
#include "egress/name_table.hpp"
#include "egress/resolver.hpp"
#include "exec/protocol/egress_protocol.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>
#include <paddock/exec/host_list.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace paddock::egress {

struct gateway_options {
  host_list hosts{};
  std::string proxy_host{};
  std::uint16_t proxy_port = 0; ///< 0: there is none
  int channel = -1;             ///< of egress_protocol.hpp
  std::vector<file_descriptor> listeners{};
};

class gateway {
public:
  explicit gateway(gateway_options options);

  /// Returns when the other end of the channel closes. Errors: of epoll and sockets.
  result<void> run();

private:
  struct held_flow {
    std::unique_ptr<flow> what;
    std::array<int, 2> registered{-1, -1}; ///< descriptors; the command's side first
    std::array<flow::interest, 2> wanted{};
    std::uint64_t began = 0;    ///< after that flush
    bool asked = false;         ///< the resolver
    bool was_connected = false; ///< and reported
  };

  result<void> begin();
  result<void> deliver_rest();
  result<bool> turn(std::int64_t timeout_ms);
  void take(const sys::readiness& what);
  bool take_channel();
  void answer_names(int listener);
  void accept_from(int listener);
  std::optional<destination> judge(const sys::endpoint& meant);
  void take_resolved();
  std::vector<sys::endpoint> usable(const flow& of, const std::vector<sys::ip_address>& found);
  void after(std::uint64_t number, held_flow& held);
  void watch(std::uint64_t number, held_flow& held, unsigned side);
  [[nodiscard]] bool is_usable(const sys::ip_address& address, std::uint16_t port) const;
  [[nodiscard]] bool goes_by_proxy(const flow& of) const;
  [[nodiscard]] const std::string& looked_up(const flow& of) const;
  void report(const sys::egress_event& event);
  void send_reports();
  void report_refusal(sys::egress_kind kind, const std::string& host, std::uint16_t port);
  void time_passed();
  void report_flushed();

  gateway_options options_;
  name_table names_;
  file_descriptor epoll_;
  file_descriptor resolved_event_;
  std::unique_ptr<resolver> resolver_;
  std::map<std::uint64_t, held_flow> flows_;
  std::uint64_t next_number_ = 0;
  std::size_t flows_max_ = 0;
  std::unique_ptr<char[]> scratch_;
  std::array<sys::readiness, 64> ready_{};
  std::int64_t now_ms_ = 0;
  std::int64_t looked_ms_ = 0;
  std::uint64_t flush_asked_ = 0; ///< the number of the request; 0: none
  std::uint64_t flushed_ = 0;     ///< that of the last one answered
  std::deque<sys::egress_event> unreported_;
  bool waits_for_library_ = false; ///< to read one
  bool is_full_ = false;           ///< too many wait
  std::set<std::tuple<sys::egress_kind, std::string, std::uint16_t>>
      refusals_; ///< since the last one
};

} // namespace paddock::egress
