// SPDX-License-Identifier: MIT
#pragma once

/// Everything that can be wrong with the frontmatter of a SKILL.md, in one table, and what a full
/// YAML parser reports about a block. Part of frontmatter.hpp.

#include <paddock/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::frontmatter {

// X(enumerator, wire name, severity, what is wrong and what to do)
// clang-format off
#define PADDOCK_FRONTMATTER_DIAGNOSTICS(X)                                                                                                 \
  X(empty_file,             "empty-file",             error,   "the file is empty; begin it with frontmatter: ---, name, description, ---")     \
  X(no_frontmatter,         "no-frontmatter",         error,   "the file does not begin with a line that is exactly ---; put the frontmatter at the very top") \
  X(leading_blank_line,     "leading-blank-line",     error,   "blank lines stand before the frontmatter; remove them")                         \
  X(leading_comment,        "leading-comment",        error,   "an HTML comment stands before the frontmatter; move it below the closing ---")  \
  X(leading_code_fence,     "leading-code-fence",     error,   "the file begins with a code fence; remove it, so that --- is the first line")   \
  X(indented_fence,         "indented-fence",         error,   "a line --- is indented and does not count; move it to the first column")        \
  X(long_fence,             "long-fence",             error,   "a line of more than three dashes does not count; write exactly ---")            \
  X(fence_with_text,        "fence-with-text",        error,   "text follows --- on its line, which names no other language here; write exactly ---") \
  X(utf16,                  "utf-16",                 error,   "the file is UTF-16; save it as UTF-8")                                          \
  X(nul_byte,               "nul-byte",               error,   "the frontmatter contains a NUL byte; remove it")                                \
  X(not_utf8,               "not-utf-8",              error,   "the frontmatter is not valid UTF-8; save the file as UTF-8")                    \
  X(not_closed,             "not-closed",             error,   "the frontmatter is not closed; end it with a line that is exactly ---")         \
  X(too_long,               "too-long",               error,   "the frontmatter does not end within 64 KiB; move text into the body")           \
  X(empty_block,            "empty-block",            error,   "the frontmatter is empty; give it name and description")                        \
  X(not_a_mapping,          "not-a-mapping",          error,   "the frontmatter is not a list of keys; write one key per line, as in name: x")  \
  X(invalid_yaml,           "invalid-yaml",           error,   "the frontmatter is not valid YAML here; correct it, or put the value in double quotes") \
  X(not_proven,             "not-proven",             error,   "this is not everyday YAML, and there is no parser for all of it here; put the values in double quotes") \
  X(missing_name,           "missing-name",           error,   "there is no name at the top level; add name: and the name of the directory")    \
  X(missing_description,    "missing-description",    error,   "there is no description at the top level; add description: and when to use the skill") \
  X(empty_name,             "empty-name",             error,   "the name is empty; use the name of the directory")                              \
  X(empty_description,      "empty-description",      error,   "the description is empty; say what the skill does and when to use it")          \
  X(name_not_text,          "name-not-text",          error,   "the name is a list or a mapping; write it as text")                             \
  X(description_not_text,   "description-not-text",   error,   "the description is a list or a mapping; write it as text")                      \
  X(repaired,               "repaired",               warning, "the frontmatter is not valid YAML here; name and description were recovered line by line, but MCP clients do not get this skill") \
  X(duplicate_key,          "duplicate-key",          warning, "this key occurs twice, which YAML forbids; the first is used, but MCP clients do not get this skill; remove the other") \
  X(unknown_alias,          "unknown-alias",          warning, "a value that begins with * refers to an anchor, which does not exist; put it in double quotes") \
  X(merge_key,              "merge-key",              warning, "readers of YAML disagree about <<, and MCP clients do not get this skill; write the keys out") \
  X(repeated_anchor,        "repeated-anchor",        warning, "a second anchor has this name, and MCP clients do not get this skill; rename one of them") \
  X(foreign_tag,            "foreign-tag",            warning, "readers of YAML disagree about tags other than !!str, and MCP clients do not get this skill; remove the tag") \
  X(document_end,           "document-end",           warning, "a line ... ends the YAML before the closing ---; remove it")                    \
  X(too_complex,            "too-complex",            warning, "the frontmatter is nested too deep or has too many parts; make it simpler")     \
  X(unquoted_colon,         "unquoted-colon",         warning, "a colon and a space in unquoted text begin another value; put the text in double quotes") \
  X(reserved_character,     "reserved-character",     warning, "unquoted text may not begin with this character; put it in double quotes")      \
  X(text_after_value,       "text-after-value",       warning, "text follows a value that is complete; put all of it into one pair of quotes")  \
  X(text_after_indicator,   "text-after-indicator",   warning, "text follows > or |; begin it on the next line, indented")                      \
  X(unterminated_value,     "unterminated-value",     warning, "a quote or bracket is opened and not closed on this line")                      \
  X(line_without_key,       "line-without-key",       warning, "a line is neither a key nor indented; indent it, or move it below the closing ---") \
  X(tab_indentation,        "tab-indentation",        warning, "a tab indents this line, which YAML forbids; use spaces")                       \
  X(surrogate_escape,       "surrogate-escape",       warning, "an escape is half of a UTF-16 pair; write the character itself")                \
  X(invisible_character,    "invisible-character",    warning, "a character that a model reads and a person does not see stands here; remove it") \
  X(control_character,      "control-character",      warning, "a control character stands here; remove it")                                    \
  X(not_a_string,           "not-a-string",           warning, "a number or truth value is taken as text; put it in double quotes")             \
  X(name_too_long,          "name-too-long",          warning, "the name is longer than 64 characters; shorten it")                             \
  X(description_too_long,   "description-too-long",   warning, "the description is longer than 1024 characters; move details into the body")    \
  X(byte_order_mark,        "byte-order-mark",        warning, "the file begins with a byte order mark, which other readers refuse; remove it") \
  X(name_not_directory,     "name-not-directory",     warning, "the name differs from the name of the skill's directory; make them equal")      \
  X(name_uppercase,         "name-uppercase",         warning, "the name has a capital letter; use lower case")                                 \
  X(name_character,         "name-character",         warning, "the name may have letters, digits and hyphens only")                            \
  X(name_hyphen,            "name-hyphen",            warning, "the name may not begin or end with a hyphen or have two in a row")              \
  X(unknown_key,            "unknown-key",            warning, "the specification has no such key; move it under metadata")                     \
  X(license_not_string,     "license-not-string",     warning, "license has to be text")                                                        \
  X(compatibility_not_string, "compatibility-not-string", warning, "compatibility has to be text")                                              \
  X(compatibility_empty,    "compatibility-empty",    warning, "compatibility is empty; remove it or say what the skill needs")                 \
  X(compatibility_too_long, "compatibility-too-long", warning, "compatibility is longer than 500 characters; shorten it")                       \
  X(metadata_not_map,       "metadata-not-map",       warning, "metadata has to be a mapping of keys to texts")                                 \
  X(metadata_not_text,      "metadata-not-text",      warning, "a metadata value is not text; MCP clients get it as text; put it in double quotes") \
  X(allowed_tools_not_string, "allowed-tools-not-string", warning, "allowed-tools has to be text, with spaces between the tools")
// clang-format on

enum class severity : std::uint8_t {
  error,   ///< the file is not a skill
  warning, ///< it may be one, but something in it is not as it should be
};

enum class diagnostic_code : std::uint8_t {
#define PADDOCK_ENTRY(name, wire, level, text) name,
  PADDOCK_FRONTMATTER_DIAGNOSTICS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
};

struct diagnostic {
  diagnostic_code code{};
  std::uint32_t line = 1;   ///< of the file, 1-based
  std::uint32_t column = 1; ///< 1-based, in bytes
  char32_t character = 0;   ///< the one that is meant, where it is one

  friend bool operator==(const diagnostic&, const diagnostic&) = default;
};

/// The stable name of a code, as it appears in JSON.
[[nodiscard]] constexpr std::string_view wire_name(diagnostic_code code) noexcept {
  switch (code) {
#define PADDOCK_ENTRY(name, wire, level, text)                                                     \
  case diagnostic_code::name:                                                                      \
    return wire;
    PADDOCK_FRONTMATTER_DIAGNOSTICS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
  }
  return "unknown";
}

/// What is wrong and what to do, as the middle of a sentence: no capital, no full stop.
[[nodiscard]] constexpr std::string_view text(diagnostic_code code) noexcept {
  switch (code) {
#define PADDOCK_ENTRY(name, wire, level, text)                                                     \
  case diagnostic_code::name:                                                                      \
    return text;
    PADDOCK_FRONTMATTER_DIAGNOSTICS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
  }
  return "unknown diagnostic";
}

[[nodiscard]] constexpr severity level(diagnostic_code code) noexcept {
  switch (code) {
#define PADDOCK_ENTRY(name, wire, level, text)                                                     \
  case diagnostic_code::name:                                                                      \
    return severity::level;
    PADDOCK_FRONTMATTER_DIAGNOSTICS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
  }
  return severity::error;
}

/// What YAML's core schema makes of a value.
enum class value_kind : std::uint8_t {
  missing, ///< there is no such key
  null,
  text,
  other_scalar, ///< a number or a truth value
  sequence,
  mapping,
};

/// A key of the block's top level with its value.
struct entry {
  std::string key;
  std::string value; ///< of a scalar; of an `other_scalar` as it is written
  value_kind kind = value_kind::missing;
  std::uint32_t line = 1;   ///< of the key, in the file
  std::uint32_t column = 1; ///< of the key
  std::size_t begin = 0;    ///< of the key, as an offset in the block
  std::size_t end = 0;      ///< behind the value's last byte that is no white space

  friend bool operator==(const entry&, const entry&) = default;
};

/// A block as a full YAML parser sees it.
struct document {
  std::vector<entry> entries;       ///< in order; of equal keys each
  std::vector<diagnostic> problems; ///< empty: valid; with `invalid_yaml` entries mean nothing
  std::vector<diagnostic> disputed; ///< valid, but readers disagree about what it means
};

/// A full YAML parser. `block` is the text between the fences, valid UTF-8 without NUL,
/// `first_line` the file's line it begins on.
using full_parser = document (*)(std::string_view block, std::uint32_t first_line);

} // namespace paddock::frontmatter
