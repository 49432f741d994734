// SPDX-License-Identifier: MIT
#pragma once

// What the journal says, as values and as bytes. Pure.

#include "change/bytes.hpp"
#include "history/known_state.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

struct transition {
  std::string path;
  known_state before{}, after{};
};

enum class record_kind : std::uint8_t {
  operation = 1, ///< entries became something else
  checkpoint = 2,
  seen = 3, ///< entries are known better than before; nothing has changed
};

struct journal_record {
  record_kind kind = record_kind::operation;
  std::uint64_t number = 0; ///< of operations and checkpoints
  std::int64_t time_ms = 0;
  author by = author::other;
  std::string tool{}, command{};
  std::uint64_t server = 0;              ///< as that of a cause
  std::vector<transition> transitions{}; ///< of one that was seen, `before` means nothing
  std::string label{};                   ///< of a checkpoint, as what follows
  std::uint64_t files = 0;
  bool is_start = false;
};

/// A larger record is taken for damage.
inline constexpr std::size_t record_bytes_max = std::size_t{256} << 20U;
/// What of them goes into one record.
inline constexpr std::size_t transitions_max = 4096;
/// Size and sum.
inline constexpr std::size_t record_head_size = 12;

void put_state(std::string& to, const known_state& state);
[[nodiscard]] known_state read_state(byte_reader& in);

/// With its head.
[[nodiscard]] std::string render(const journal_record& record);
/// How long the record is whose head this is, with it; nothing where it is none.
[[nodiscard]] std::optional<std::size_t> record_size(std::string_view head) noexcept;
/// Of a whole record. Nothing where it is damaged.
[[nodiscard]] std::optional<journal_record> parse_record(std::string_view bytes);

/// Whether it is a path as the history has them: relative, without empty components, `.` and `..`.
[[nodiscard]] bool is_path(std::string_view path) noexcept;

} // namespace paddock::history
