// SPDX-License-Identifier: MIT
#include "history/journal_records.hpp"

#include "history/content_sum.hpp"

#include <algorithm>

namespace paddock::history {
namespace {

// A record: its size with this head (4 bytes, little-endian), XXH3-64 of the rest (8), kind (1),
// number, time (8), then the members of journal_record; the author has bit 128 if the number of its
// server's start follows. Numbers have seven bits a byte, the lowest first. A text is its size and
// bytes; a path the number of bytes shared with the one before, and the rest. A state is a byte of
// `holding` and the bits below, mode, size, two times, inode, and the content's name if one is
// held.
constexpr std::uint8_t server_bit = 0x80; ///< of the author: the server follows
constexpr std::uint8_t ignored_bit = 0x40, unsure_bit = 0x80;
constexpr std::uint8_t last_holding = static_cast<std::uint8_t>(holding::too_deep);
constexpr std::uint8_t last_kind = static_cast<std::uint8_t>(known_kind::special);

void put_path(std::string& to, std::string_view path, std::string_view before) {
  const auto differs = std::mismatch(path.begin(), path.end(), before.begin(), before.end()).first;
  const auto shared = static_cast<std::size_t>(differs - path.begin());
  put_number(to, shared);
  put_text(to, path.substr(shared));
}

std::string read_path(byte_reader& in, const std::string& before) {
  const std::uint64_t shared = in.number();
  if (shared > before.size()) in.fail();
  if (!in.is_good()) return {};
  std::string path = before.substr(0, shared);
  path += in.text();
  if (!is_path(path)) in.fail();
  return path;
}

void read_transitions(byte_reader& in, journal_record& record) {
  const std::uint64_t count = in.number();
  std::string path;
  for (std::uint64_t i = 0; i < count && in.is_good(); ++i) {
    transition& each = record.transitions.emplace_back();
    each.path = path = read_path(in, path);
    if (record.kind == record_kind::operation) each.before = read_state(in);
    each.after = read_state(in);
  }
}

} // namespace

bool is_path(std::string_view path) noexcept {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

void put_state(std::string& to, const known_state& state) {
  put_u8(to, static_cast<std::uint8_t>(state.kind));
  if (!state.exists()) return;
  put_u8(to, static_cast<std::uint8_t>(static_cast<std::uint8_t>(state.held) |
                                       (state.is_ignored ? ignored_bit : 0) |
                                       (state.is_unsure ? unsure_bit : 0)));
  put_number(to, state.mode);
  put_number(to, state.size);
  put_u64(to, static_cast<std::uint64_t>(state.modified_ns));
  put_u64(to, static_cast<std::uint64_t>(state.changed_ns));
  put_number(to, state.inode);
  if (!state.has_content()) return;
  put_u64(to, state.content.high);
  put_u64(to, state.content.low);
}

known_state read_state(byte_reader& in) {
  known_state state;
  const std::uint8_t kind = in.u8();
  if (kind > last_kind) in.fail();
  if (!in.is_good() || kind == 0) return {};
  state.kind = static_cast<known_kind>(kind);
  const std::uint8_t held = in.u8();
  state.is_ignored = (held & ignored_bit) != 0;
  state.is_unsure = (held & unsure_bit) != 0;
  const auto reason = static_cast<std::uint8_t>(held & ~(ignored_bit | unsure_bit));
  if (reason > last_holding) in.fail();
  state.held = static_cast<holding>(reason);
  state.mode = static_cast<std::uint16_t>(in.number() & 07777U);
  state.size = in.number();
  state.modified_ns = static_cast<std::int64_t>(in.u64());
  state.changed_ns = static_cast<std::int64_t>(in.u64());
  state.inode = in.number();
  if (in.is_good() && state.has_content()) {
    state.content.high = in.u64();
    state.content.low = in.u64();
  }
  return in.is_good() ? state : known_state{};
}

std::string render(const journal_record& record) {
  std::string bytes(record_head_size, '\0');
  put_u8(bytes, static_cast<std::uint8_t>(record.kind));
  put_number(bytes, record.number);
  put_u64(bytes, static_cast<std::uint64_t>(record.time_ms));
  if (record.kind == record_kind::checkpoint) {
    put_text(bytes, record.label);
    put_number(bytes, record.files);
    put_u8(bytes, record.is_start ? 1 : 0);
  } else {
    const std::uint8_t bit = record.server != 0 ? server_bit : 0;
    put_u8(bytes, static_cast<std::uint8_t>(static_cast<std::uint8_t>(record.by) | bit));
    if (bit != 0) put_number(bytes, record.server);
    put_text(bytes, record.tool);
    put_text(bytes, record.command);
    put_number(bytes, record.transitions.size());
    std::string_view before;
    for (const transition& each : record.transitions) {
      put_path(bytes, each.path, before);
      before = each.path;
      if (record.kind == record_kind::operation) put_state(bytes, each.before);
      put_state(bytes, each.after);
    }
  }
  std::string head;
  put_u32(head, static_cast<std::uint32_t>(bytes.size()));
  put_u64(head, sum_of(std::string_view(bytes).substr(record_head_size)));
  bytes.replace(0, record_head_size, head);
  return bytes;
}

std::optional<std::size_t> record_size(std::string_view head) noexcept {
  byte_reader in(head);
  const std::uint32_t size = in.u32();
  if (!in.is_good() || size <= record_head_size || size > record_bytes_max) return std::nullopt;
  return size;
}

std::optional<journal_record> parse_record(std::string_view bytes) {
  byte_reader head(bytes);
  const std::uint32_t size = head.u32();
  const std::uint64_t sum = head.u64();
  if (!head.is_good() || size != bytes.size()) return std::nullopt;
  if (sum != sum_of(bytes.substr(record_head_size))) return std::nullopt;
  byte_reader in(bytes.substr(record_head_size));
  journal_record record;
  const std::uint8_t kind = in.u8();
  if (kind < 1 || kind > 3) return std::nullopt;
  record.kind = static_cast<record_kind>(kind);
  record.number = in.number();
  record.time_ms = static_cast<std::int64_t>(in.u64());
  if (record.kind == record_kind::checkpoint) {
    record.label = in.text();
    record.files = in.number();
    record.is_start = in.u8() != 0;
  } else {
    const std::uint8_t author_and_bit = in.u8();
    const auto by = static_cast<std::uint8_t>(author_and_bit & ~server_bit);
    if (by > static_cast<std::uint8_t>(author::other)) return std::nullopt;
    record.by = static_cast<author>(by);
    if ((author_and_bit & server_bit) != 0) record.server = in.number();
    record.tool = in.text();
    record.command = in.text();
    read_transitions(in, record);
  }
  if (!in.is_good() || !in.at_end()) return std::nullopt;
  return record;
}

} // namespace paddock::history
