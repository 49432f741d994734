// SPDX-License-Identifier: MIT
// A stream of events reads the same whole, byte by byte, and cut where the input says; so does an
// HTTP response.
#include "mcp/client/http/http_response.hpp"
#include "mcp/client/http/sse_parser.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace paddock::mcp;

constexpr std::size_t event_bytes_max = 64;

void check(bool holds) {
  if (!holds) std::abort();
}

struct pieces {
  std::string_view left;
  std::size_t size;

  std::string_view next() {
    const std::string_view piece = left.substr(0, size);
    left.remove_prefix(piece.size());
    return piece;
  }
};

/// What was heard, and until when the stream was good.
std::string listen(std::string_view stream, std::size_t size) {
  sse_parser parser(event_bytes_max);
  std::string heard;
  bool good = true;
  for (pieces p{stream, size}; good && !p.left.empty();)
    good = parser.feed(p.next(), [&](const sse_event& e) {
      check(e.data.size() <= event_bytes_max);
      heard.append(e.name).append("\x01").append(e.data).append("\x02");
    });
  heard += good ? "good" : "too large";
  // What came before the fault depends on where the pieces end only in the state that nobody uses.
  if (good) heard += parser.last_event_id() + std::to_string(parser.retry_ms().value_or(-1));
  return heard;
}

std::string read(std::string_view stream, std::size_t size) {
  using step = http_response_reader::step;
  http_response_reader reader;
  std::string out;
  std::string_view rest;
  step s = step::more;
  for (pieces p{stream, size}; s != step::end && s != step::bad;) {
    if (s == step::more) {
      if (p.left.empty()) break;
      rest = p.next();
    }
    s = reader.next(rest);
    if (s == step::head)
      for (const auto& [name, value] : reader.head().headers)
        out.append(name).append(":").append(value).append("\n");
    if (s == step::body) out += reader.body();
  }
  if (s != step::end && s != step::bad) s = reader.at_end();
  return out + std::to_string(reader.head().status) + reader.problem() +
         (s == step::end ? "end" : "bad");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = input.empty() ? 1 : std::max<std::size_t>(data[0] % 16, 2);
  const std::string heard = listen(input, std::max<std::size_t>(size, 1));
  check(listen(input, 1) == heard);
  check(listen(input, cut) == heard);
  const std::string response = read(input, std::max<std::size_t>(size, 1));
  check(read(input, 1) == response);
  check(read(input, cut) == response);
  return 0;
}
