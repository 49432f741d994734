// SPDX-License-Identifier: MIT

// The program that stands between the network of commands and everybody else's, started by the
// library (src/exec/protocol/egress_protocol.hpp).

#include "egress/gateway.hpp"
#include "egress/own_fence.hpp"
#include "sys/gateway_fence.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  if (colon == std::string_view::npos) return false;
  into.proxy_host = text.substr(0, colon);
  into.proxy_port = number_of<std::uint16_t>(text.substr(colon + 1)).value_or(0);
  return into.proxy_port != 0;
}

/// The list is too long for an argument, and nobody's business.
bool read_list(int memory, paddock::host_list& into) {
  std::string text;
  std::array<char, 4096> piece{};
  while (true) {
    const auto size = paddock::sys::pread(memory, piece, text.size());
    if (!size) return false;
    if (*size == 0) break;
    text.append(piece.data(), *size);
  }
  return into.add(text).empty();
}

std::optional<gateway_options> read_arguments(int argc, char** argv) {
  constexpr int fixed = 4;
  gateway_options given;
  std::vector<int> descriptors;
  for (int i = 1; i < argc; ++i) {
    const auto fd = i == 3 ? std::optional(0) : number_of<int>(argv[i]);
    if (!fd || (i != 3 && *fd <= 2)) return std::nullopt;
    descriptors.push_back(*fd);
  }
  if (argc <= fixed || !read_proxy(argv[3], given)) return std::nullopt;
  const file_descriptor list(descriptors[1]);
  if (!read_list(list.get(), given.hosts)) return std::nullopt;
  given.channel = descriptors[0];
  for (std::size_t i = fixed - 1; i < descriptors.size(); ++i)
    given.listeners.emplace_back(descriptors[i]);
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
  if (!paddock::egress::give_up_all_but_sockets()) return 1;
  // A thread that looks up a name cannot be stopped, and needs nothing more.
  std::_Exit(gateway(*std::move(given)).run() ? 0 : 1);
}
