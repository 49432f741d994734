// SPDX-License-Identifier: MIT

// The program that stands between the network of commands and everybody else's, started by the
// library (src/exec/protocol/egress_protocol.hpp).

#include "egress/gateway.hpp"
#include "sys/gateway_socket.hpp"
#include "sys/stream.hpp"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace {

using paddock::file_descriptor;
using paddock::egress::gateway;
using paddock::egress::gateway_options;

template <class Number> std::optional<Number> number_of(std::string_view text) {
  Number value = 0;
  const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (why != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool read_proxy(std::string_view text, gateway_options& into) {
  if (text.empty()) return true;
  const auto colon = text.rfind(':');
  const auto port = colon == std::string_view::npos
                        ? std::nullopt
                        : number_of<std::uint16_t>(text.substr(colon + 1));
  into.proxy_host = text.substr(0, colon);
  into.proxy_port = port.value_or(0);
  return into.proxy_port != 0;
}

std::optional<gateway_options> read_arguments(int argc, char** argv) {
  constexpr int fixed = 4;
  gateway_options given;
  if (argc <= fixed) return std::nullopt;
  const auto channel = number_of<int>(argv[1]);
  if (!channel || !given.hosts.add(argv[2]).empty() || !read_proxy(argv[3], given))
    return std::nullopt;
  given.channel = *channel;
  for (int i = fixed; i < argc; ++i) {
    const auto fd = number_of<int>(argv[i]);
    if (!fd || *fd <= 2) return std::nullopt;
    given.listeners.emplace_back(*fd);
  }
  return given;
}

} // namespace

int main(int argc, char** argv) {
  auto given = read_arguments(argc, argv);
  if (!given) {
    std::fputs("paddock-egress is started by the paddock library, not by hand\n", stderr);
    return 2;
  }
  paddock::sys::name_this_process("paddock-egress");
  paddock::sys::block_signals(); // it ends with its server, not with a terminal
  if (!paddock::sys::give_up_all_but_sockets()) return 1;
  return gateway(*std::move(given)).run() ? 0 : 1;
}
