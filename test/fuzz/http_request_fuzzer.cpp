// SPDX-License-Identifier: MIT
// Requests read the same whole, byte by byte, and cut where the input says; what is judged by its
// head never crashes, and nobody gets in without the token.
#include "http/request_reader.hpp"
#include "mcp/http/access.hpp"
#include "mcp/http/message_rules.hpp"
#include "mcp/protocol/header_value.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace paddock;
using namespace paddock::mcp;

constexpr http::request_reader::limits bounds = {.head_bytes_max = 512, .body_bytes_max = 64};

void check(bool holds) {
  if (!holds) std::abort();
}

void judge_head(const http::request_head& head) {
  const access_rules open = {.path = "/mcp", .token = {}, .who = {}};
  access_rules closed = open;
  closed.token = "a token that no input has";
  check(judge(head, closed).to != route::message);
  const verdict v = judge(head, open);
  check((v.to == route::refused) == (v.status >= 400));
  for (const auto& [name, value] : head.headers) {
    check(http::is_token(name));
    (void)decoded_header(value);
  }
}

std::string read(std::string_view stream, std::size_t size) {
  using step = http::request_reader::step;
  http::request_reader reader(bounds);
  std::string out;
  std::size_t body_bytes = 0;
  while (!stream.empty()) {
    std::string_view bytes = stream.substr(0, size);
    stream.remove_prefix(bytes.size());
    for (step s = step::head; s != step::more;) {
      s = reader.next(bytes);
      if (s == step::head) {
        judge_head(reader.head());
        out.append(reader.head().method).append(" ").append(reader.head().target);
        for (const auto& [name, value] : reader.head().headers)
          out.append("\n").append(name).append(":").append(value);
      }
      if (s == step::body) {
        out += reader.body();
        body_bytes += reader.body().size();
        check(body_bytes <= bounds.body_bytes_max);
      }
      if (s == step::end) {
        out += "\x01";
        body_bytes = 0;
        reader.restart();
      }
      if (s == step::bad) {
        check(reader.status() >= 400);
        return out + std::to_string(reader.status()) + reader.problem();
      }
    }
  }
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = input.empty() ? 1 : std::max<std::size_t>(data[0] % 16, 2);
  const std::string whole = read(input, std::max<std::size_t>(size, 1));
  check(read(input, 1) == whole);
  check(read(input, cut) == whole);
  return 0;
}
