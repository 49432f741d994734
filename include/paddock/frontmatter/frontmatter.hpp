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
/// Not guaranteed: that the two texts are harmless. They may contain control characters that an
/// escape wrote (`control_character` says so), and whatever a stranger wants a model to read.
///
/// Thread-safety: pure functions.

#include <paddock/base/detail/utf8.hpp>
#include <paddock/frontmatter/detail/diagnostics.hpp>
#include <paddock/frontmatter/detail/read.hpp>
#include <paddock/frontmatter/detail/replace.hpp>
#include <paddock/frontmatter/detail/validate.hpp>
#include <paddock/frontmatter/detail/write.hpp>

#include <gsl/assert>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::frontmatter {

/// The first read of a file; 99.95 % of real blocks end within it.
inline constexpr std::size_t prefix_bytes = 4096;
/// A block that does not end within this is refused.
inline constexpr std::size_t bytes_max = std::size_t{64} * 1024;

struct fields {
  origin from = origin::none;
  /// Both without white space around them and with single spaces for the runs of it inside; not
  /// empty when loaded.
  std::string name;
  std::string description;
  /// With an error among them if and only if nothing is loaded.
  std::vector<diagnostic> diagnostics;

  /// Whether there is a name and a description.
  [[nodiscard]] bool loaded() const noexcept { return from != origin::none; }
};

struct options {
  frontmatter::policy policy = frontmatter::policy::lenient;
  full_parser full = nullptr;
};

/// Whether `bytes` are the whole file, or its beginning.
enum class extent : std::uint8_t { whole_file, prefix };

/// Whether more of the file is needed to see the end of the block that `prefix` begins. False when
/// it begins none, and for `bytes_max` and more. True also for a whole file that ends in a closing
/// fence without a line break, or before one.
[[nodiscard]] inline bool needs_more(std::string_view prefix) noexcept;

/// The two fields of a SKILL.md, of which `bytes` is the beginning, at least as far as `needs_more`
/// asks for, or `bytes_max`.
[[nodiscard]] inline fields parse(std::string_view bytes, extent have, options how = {});

/// Everything in `skill_md` (the whole file) that the Agent Skills specification does not allow.
/// Empty: it is valid. `directory` is the name of the skill's directory; when empty, names are not
/// compared. Of letters beyond ASCII only Latin-1, Greek and Cyrillic capitals are told from small
/// ones, names are compared byte by byte without Unicode normalisation.
[[nodiscard]] inline std::vector<diagnostic>
validate(std::string_view skill_md, std::string_view directory, full_parser full = nullptr);

/// A frontmatter block with the two fields, fences included, that every YAML parser reads back to
/// the same texts. Precondition: both are UTF-8.
[[nodiscard]] inline std::string write(std::string_view name, std::string_view description);

/// The text of `skill_md` with its two fields replaced; other keys, comments and the body stay as
/// they are, byte for byte, and so does a field that has this text already. A field that is missing
/// is added. A file without frontmatter gets one. Precondition: both are UTF-8 and not blank.
[[nodiscard]] inline std::string replace_fields(std::string_view skill_md, std::string_view name,
                                                std::string_view description,
                                                full_parser full = nullptr);

// --- inline --------------------------------------------------------------------------------------

namespace detail {

/// A file as far as it was read: the block it begins with, and what that says.
struct examined_file {
  found_block found;
  detail::reading reading;
  bool is_skill = false;
};

[[nodiscard]] inline examined_file examine(std::string_view bytes, extent have, options how) {
  if (bytes.size() > bytes_max) {
    bytes = bytes.substr(0, bytes_max);
    have = extent::prefix;
  }
  examined_file file;
  file.found = find_block(bytes, have == extent::whole_file);
  std::vector<diagnostic>& diagnostics = file.reading.diagnostics;
  if (file.found.state == fence_state::none) {
    diagnostics.push_back(why_not_opened(bytes));
    return file;
  }
  const std::string_view block = bytes.substr(file.found.begin, file.found.size);
  if (file.found.state == fence_state::unclosed) {
    if (have == extent::prefix && bytes.size() == bytes_max) {
      diagnostics.push_back({diagnostic_code::too_long});
      return file;
    }
    diagnostics.push_back({diagnostic_code::not_closed});
    if (const auto near = almost_closed(block)) diagnostics.push_back(*near);
    return file;
  }
  file.reading = read_block(block, how.policy, how.full);
  reading& read = file.reading;
  if (read.from == origin::none) return file;
  const bool has_name = judge(read.name, name_rules, diagnostics);
  const bool has_description = judge(read.description, description_rules, diagnostics);
  file.is_skill = has_name && has_description;
  if (read.from != origin::fast || block.find('\\') != std::string_view::npos)
    find_control_characters(read);
  return file;
}

} // namespace detail

inline bool needs_more(std::string_view prefix) noexcept {
  return prefix.size() < bytes_max &&
         detail::find_block(prefix, false).state == detail::fence_state::unclosed;
}

inline fields parse(std::string_view bytes, extent have, options how) {
  detail::examined_file file = detail::examine(bytes, have, how);
  return {.from = file.is_skill ? file.reading.from : origin::none,
          .name = std::move(file.reading.name.text),
          .description = std::move(file.reading.description.text),
          .diagnostics = std::move(file.reading.diagnostics)};
}

inline std::vector<diagnostic> validate(std::string_view skill_md, std::string_view directory,
                                        full_parser full) {
  std::vector<diagnostic> found;
  if (skill_md.starts_with(detail::utf8_mark)) found.push_back({diagnostic_code::byte_order_mark});
  const detail::examined_file file = detail::examine(skill_md, extent::whole_file, {.full = full});
  detail::append(found, file.reading.diagnostics);
  detail::find_hidden(skill_md, found);
  detail::find_hidden(file.reading.name, found);
  detail::find_hidden(file.reading.description, found);
  if (!file.reading.name.text.empty()) detail::check_name(file.reading.name, directory, found);
  if (file.reading.from == origin::none) return found;
  const std::string_view block = skill_md.substr(file.found.begin, file.found.size);
  for (const entry& e : detail::read_entries(block, full)) {
    detail::check_entry(e, found);
    detail::check_metadata(block, e, full, found);
  }
  // By place. Nearly sorted already: only the few that reading found precede those of the
  // keys.
  const auto is_before = [](const diagnostic& a, const diagnostic& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  };
  for (std::size_t i = 1; i < found.size(); ++i)
    for (std::size_t j = i; j > 0 && is_before(found[j], found[j - 1]); --j)
      std::swap(found[j], found[j - 1]);
  return found;
}

inline std::string write(std::string_view name, std::string_view description) {
  Expects(paddock::detail::is_valid_utf8(name));
  Expects(paddock::detail::is_valid_utf8(description));
  std::string out("---\n");
  detail::append_name(out, name);
  out.push_back('\n');
  detail::append_description(out, description);
  return out.append("\n---\n");
}

inline std::string replace_fields(std::string_view skill_md, std::string_view name,
                                  std::string_view description, full_parser full) {
  Expects(paddock::detail::is_valid_utf8(name));
  Expects(paddock::detail::is_valid_utf8(description));
  const options how{.full = full};
  const detail::examined_file file = detail::examine(skill_md, extent::whole_file, how);
  const detail::field_replacer replacer(skill_md, file.found, name, description);
  if (file.found.state != detail::fence_state::found) return replacer.with_new_block();
  const auto is_right = [&](const std::string& candidate) {
    const fields read = parse(candidate, extent::whole_file, how);
    return read.loaded() && read.name == replacer.name() &&
           read.description == replacer.description() &&
           (read.from != origin::repaired || file.reading.from == origin::repaired ||
            file.reading.from == origin::none);
  };
  const std::string_view block = skill_md.substr(file.found.begin, file.found.size);
  const std::vector<entry> entries = detail::read_entries(block, full);
  std::string replaced;
  if (!entries.empty()) replaced = replacer.by_entries(entries, file.reading);
  if (!is_right(replaced)) replaced = replacer.by_lines(file.reading);
  if (!is_right(replaced)) replaced = replacer.in_front();
  return replaced;
}

} // namespace paddock::frontmatter
