// SPDX-License-Identifier: MIT
// A stream of events reads the same whole, byte by byte, and cut where the input says. The head of
// an HTTP response is one or none.
#include "mcp/client/http/sse_parser.hpp"
#include "mcp/client/http/transfer/http_head.hpp"

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

/// A head has no more than was said, and says what is wrong with it.
void read(std::string_view text) {
  http_head_reader reader(true);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    if (reader.next(line) == http_head_reader::step::bad) return check(*reader.problem() != '\0');
  }
  check(!reader.is_complete() || (reader.head().status >= 200 && reader.head().status < 600));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = input.empty() ? 1 : std::max<std::size_t>(data[0] % 16, 2);
  const std::string heard = listen(input, std::max<std::size_t>(size, 1));
  check(listen(input, 1) == heard);
  check(listen(input, cut) == heard);
  read(input);
  return 0;
}
