// SPDX-License-Identifier: MIT
#pragma once

/// Frontmatter of SKILL.md files: the YAML block between two `---` lines at the top of a file, of
/// which a skill needs `name` and `description`.
///
/// Three stages, each behind the one before: a scanner that either proves a block to be valid YAML
/// of the everyday kind or declines it; a full YAML parser, if the caller has one
/// (frontmatter_yaml.hpp); and a repair that reads the two fields line by line from blocks that are
/// not YAML at all and says so with a diagnostic. A block is never half read: the scanner's answer
/// is the full parser's answer. `validate` judges a file by the rules of the Agent Skills
/// specification, which loading does not ask for.
///
/// Only `---` and blanks open a block, so nothing in a file can choose another language. Hostile
/// input costs time linear in its length and memory bounded by `bytes_max`.
///
/// Thread-safety: pure functions.

#include <paddock/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::frontmatter {

/// The first read of a file; 99.95 % of real blocks end within it.
inline constexpr std::size_t prefix_bytes = 4096;
/// A block that does not end within this is refused.
inline constexpr std::size_t bytes_max = std::size_t{64} * 1024;

// X(enumerator, wire name, severity, what is wrong and what to do)
#define PADDOCK_FRONTMATTER_DIAGNOSTICS(X)                                                         \
  X(no_frontmatter, "no-frontmatter", error,                                                       \
    "the file does not begin with a line that is exactly ---; put the frontmatter at the very "    \
    "top")

enum class severity : std::uint8_t {
  error,   ///< the file is not a skill
  warning, ///< it is one, but something in it is not as it should be
};

enum class diagnostic_code : std::uint8_t {
#define X(name, wire, level, text) name,
  PADDOCK_FRONTMATTER_DIAGNOSTICS(X)
#undef X
};

struct diagnostic {
  diagnostic_code code{};
  std::uint32_t line = 1;   ///< of the file, 1-based
  std::uint32_t column = 1; ///< 1-based, in bytes
};

[[nodiscard]] std::string_view wire_name(diagnostic_code code) noexcept;
[[nodiscard]] std::string_view text(diagnostic_code code) noexcept;
[[nodiscard]] severity level(diagnostic_code code) noexcept;

/// How the fields were found.
enum class origin : std::uint8_t {
  none,     ///< not a skill; the diagnostics say why
  fast,     ///< proven valid by the scanner
  full,     ///< accepted by the full YAML parser
  repaired, ///< not valid YAML, or not known to be; recovered line by line
};

struct fields {
  origin from = origin::none;
  std::string name; ///< trimmed, not empty when loaded
  std::string
      description; ///< trimmed, white space collapsed to single spaces, not empty when loaded
  std::vector<diagnostic> diagnostics;

  [[nodiscard]] bool loaded() const noexcept { return from != origin::none; }
};

enum class policy : std::uint8_t {
  lenient, ///< repair what can be repaired
  strict,  ///< invalid YAML is not a skill
};

/// A parser of all of YAML. `block` is what lies between the fences, valid UTF-8 without NUL,
/// `first_line` the file's line it begins on. Fills `out` and returns whether the block is valid.
using full_parser = bool (*)(std::string_view block, std::uint32_t first_line, fields& out);

struct options {
  frontmatter::policy policy = frontmatter::policy::lenient;
  full_parser full = nullptr;
};

/// Whether `bytes` are the whole file, or its beginning.
enum class extent : std::uint8_t { whole_file, prefix };

/// Whether the block in `prefix` is complete; if not, `parse` needs more of the file.
[[nodiscard]] bool needs_more(std::string_view prefix) noexcept;

/// The two fields of a SKILL.md, of which `bytes` is the beginning, at least as far as `needs_more`
/// asks for, or `bytes_max`.
[[nodiscard]] fields parse(std::string_view bytes, extent have, options how = {});

/// Everything in `skill_md` (the whole file) that the Agent Skills specification does not allow.
/// Empty: it is valid. `directory` is the name of the skill's directory.
[[nodiscard]] std::vector<diagnostic>
validate(std::string_view skill_md, std::string_view directory, full_parser full = nullptr);

/// A frontmatter block with the two fields, fences included, that every YAML parser reads back to
/// the same texts. Precondition: both are UTF-8.
[[nodiscard]] std::string write(std::string_view name, std::string_view description);

/// The text of `skill_md` with its two fields replaced; other keys, comments and the body stay as
/// they are, byte for byte.
[[nodiscard]] std::string replace_fields(std::string_view skill_md, std::string_view name,
                                         std::string_view description, full_parser full = nullptr);

} // namespace paddock::frontmatter
