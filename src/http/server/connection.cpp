// SPDX-License-Identifier: MIT
#include "http/server/connection.hpp"

#include "sys/stream.hpp"

#include <cerrno>
#include <utility>

namespace paddock::http {
namespace {

/// Buffers larger than this are given back as soon as they are empty.
constexpr std::size_t kept_bytes_max = std::size_t{16} * 1024;

void empty(std::string& buffer) {
  if (buffer.capacity() > kept_bytes_max)
    std::string().swap(buffer);
  else
    buffer.clear();
}

} // namespace

connection::connection(file_descriptor s, std::uint64_t n, request_reader::limits l,
                       std::int64_t now_ms)
    : socket(std::move(s)), number(n), reader(l), since_ms(now_ms) {}

connection::received connection::receive(std::span<char> buffer) {
  const auto n = sys::recv_nowait(socket.get(), buffer);
  if (!n) return n.error().os_errno == EAGAIN ? received::nothing : received::broken;
  if (*n == 0) return received::ended;
  if (in != phase::lingering) unused.append(buffer.data(), *n);
  return received::some;
}

void connection::write(std::string_view bytes, std::int64_t now_ms) {
  if (unwritten() == 0) written_ms = now_ms;
  out_.append(bytes);
  flush(now_ms);
}

void connection::flush(std::int64_t now_ms) {
  while (unwritten() > 0) {
    const auto n = sys::send_nowait(socket.get(), std::string_view(out_).substr(out_done_));
    if (!n) {
      gone = n.error().os_errno != EAGAIN;
      return;
    }
    out_done_ += *n;
    written_ms = now_ms;
  }
  empty(out_);
  out_done_ = 0;
}

sys::readiness connection::wanted() const noexcept {
  const bool waits = in == phase::open || unwritten() > 0;
  return {.key = number,
          .readable = in == phase::lingering || !waits,
          .writable = unwritten() > 0,
          .peer_done = waits && !peer_done,
          .broken = false};
}

void connection::enter(phase p, std::int64_t now_ms) noexcept {
  in = p;
  since_ms = now_ms;
  if (p == phase::idle || p == phase::lingering) empty(body);
}

std::size_t connection::bytes_held() const noexcept {
  return unused.capacity() + body.capacity() + out_.capacity();
}

framing connection::stream_framing() const noexcept {
  return reader.head().minor_version == 0 ? framing::until_close : framing::chunked;
}

} // namespace paddock::http
