// SPDX-License-Identifier: MIT

// Reads streams of HTTP requests as the server does and says what it read, for a judge that reads
// them, too. Standard input: streams, each behind its length as four bytes, least significant
// first. Standard output: a line of JSON for each.

#include "crypto/crypto.hpp"
#include "http/request_reader.hpp"

#include <paddock/mcp/json.hpp>

#include <array>
#include <iostream>
#include <string>
#include <string_view>

namespace {

namespace http = paddock::http;
using namespace paddock::mcp;
using step = http::request_reader::step;

constexpr http::request_reader::limits bounds = {.head_bytes_max = 16384, .body_bytes_max = 65536};

/// The requests of `bytes` that are complete.
void write_requests(json_writer& out, std::string_view bytes) {
  http::request_reader reader(bounds);
  std::string body;
  out.begin_object().key("requests").begin_array();
  step s = step::head;
  while (s != step::more && s != step::bad) {
    s = reader.next(bytes);
    if (s == step::body) body += reader.body();
    if (s != step::end) continue;
    out.begin_object().member("method", reader.head().method);
    out.member("target", paddock::base64(reader.head().target)).key("headers").begin_array();
    for (const auto& [name, value] : reader.head().headers)
      out.begin_array().string(name).string(paddock::base64(value)).end_array();
    out.end_array().member("body", paddock::base64(body));
    out.key("keepsAlive").boolean(reader.keeps_alive()).end_object();
    body.clear();
    if (!reader.keeps_alive()) break;
    reader.restart();
  }
  out.end_array();
  if (s == step::bad)
    out.key("status").integer(reader.status()).member("problem", reader.problem());
  out.end_object().end_line();
}

} // namespace

int main() {
  std::array<char, 4> prefix{};
  while (std::cin.read(prefix.data(), prefix.size())) {
    std::size_t size = 0;
    for (std::size_t i = prefix.size(); i-- > 0;)
      size = size << 8 | static_cast<unsigned char>(prefix[i]);
    std::string stream(size, '\0');
    if (!std::cin.read(stream.data(), static_cast<std::streamsize>(size))) return 1;
    json_writer out;
    write_requests(out, stream);
    std::cout << out.str();
  }
  return std::cout.flush() ? 0 : 1;
}
