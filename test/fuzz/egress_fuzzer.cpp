// SPDX-License-Identifier: MIT

// The readers of paddock-egress: in whatever pieces bytes arrive, they come to the same answer.

#include "egress/client_hello.hpp"
#include "egress/dns_stub.hpp"
#include "egress/http_guard.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace paddock::egress;

void require(bool condition) {
  if (!condition) std::abort();
}

struct passed {
  std::string forward;
  bool is_refused = false;
};

passed pass(std::string_view sent, std::size_t piece_bytes, std::string_view answer) {
  http_guard guard("code.example.org", 80);
  passed out;
  for (; !sent.empty() && !out.is_refused; sent.remove_prefix(std::min(piece_bytes, sent.size())))
    out.is_refused = guard.take(sent.substr(0, piece_bytes), out.forward) != nullptr;
  if (!out.is_refused) out.is_refused = guard.answered(answer, out.forward) != nullptr;
  return out;
}

void check_requests(std::string_view bytes) {
  for (const std::string_view answer : {"HTTP/1.1 101 x", "HTTP/1.1 200 x"}) {
    const passed whole = pass(bytes, bytes.size() + 1, answer);
    for (const std::size_t piece : {1U, 3U, 64U}) {
      const passed pieces = pass(bytes, piece, answer);
      require(pieces.forward == whole.forward && pieces.is_refused == whole.is_refused);
    }
  }
}

/// More bytes change no answer that was given.
void check_greeting(std::string_view bytes) {
  const hello whole = read_client_hello(bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const hello part = read_client_hello(bytes.substr(0, size));
    require(part.state == hello_state::incomplete ||
            (part.state == whole.state && part.name == whole.name));
  }
}

void check_question(std::string_view bytes) {
  paddock::host_list hosts;
  require(hosts.add("*.example.org").empty());
  name_table names;
  const dns_answer answer = answer_question(bytes, hosts, names);
  require(answer.bytes.empty() || answer.bytes.size() >= 12);
  require(answer.bytes.size() <= bytes.size() + 16);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size > 4096) return 0;
  check_requests(bytes);
  if (size <= 512) check_greeting(bytes);
  check_question(bytes);
  return 0;
}
