// SPDX-License-Identifier: MIT
#pragma once

// The central directory of a zip archive as its bytes spell it. Used beside libzip, for what it
// does not tell: the number of entries before it makes an object of each, where their local headers
// are, their flags, and the Unicode path fields, which it takes for the name or drops in silence
// while readers of a stream believe the local ones. What it does tell, it is asked for.

#include <paddock/base/result.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace paddock::zip {

struct directory_end {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0; ///< of the central directory
  std::uint64_t size = 0;
};

enum class end_state : std::uint8_t {
  found,
  missing,   ///< no archive, or cut off
  ambiguous, ///< bytes after the end, several ends, or ends of which readers would believe
             ///< different things; or the directory does not lie just before its end
  multi_disk,
};

/// Finds the record that has to be the last thing in the archive.
[[nodiscard]] end_state find_end(std::string_view archive, directory_end& out);

/// What the central directory says of one entry.
struct raw_entry {
  std::string_view name;
  /// A Unicode path field, here or in the local header, gives another name.
  bool contradicted = false;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0; ///< of the local header

  /// Checksum and sizes follow the data, and the local header may not know them.
  [[nodiscard]] bool has_descriptor() const noexcept { return (flags & 8U) != 0; }
};

/// All entries, in the directory's order. Empty: the directory is not what its end says.
[[nodiscard]] std::optional<std::vector<raw_entry>> read_entries(std::string_view archive,
                                                                 const directory_end& end);

/// Whether the entries fill the archive from its first byte to the directory, each with a local
/// header that says the same as the directory. Then every reader finds the same entries, whether it
/// begins at the end, at the beginning, or corrects offsets for the bytes in front.
[[nodiscard]] bool is_without_gaps(std::string_view archive, const directory_end& end,
                                   const std::vector<raw_entry>& entries);

/// Whether the archive begins as one does.
[[nodiscard]] bool begins_like_an_archive(std::string_view archive);

} // namespace paddock::zip
