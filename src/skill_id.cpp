// SPDX-License-Identifier: MIT

// Names of skills as file names: which are accepted for new ones.

#include "skill_store_state.hpp"

#include <paddock/detail/utf8.hpp>

#include <string>

namespace paddock {
namespace {

/// Control characters, line and paragraph separators, marks and overrides of direction: what can
/// make a line of text look like something else. `sequence` is one code point.
bool is_control(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (sequence.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (sequence.size() != 3) return false;
  if (byte(0) == 0xEF) return byte(1) == 0xBB && byte(2) == 0xBF; // byte order mark
  if (byte(0) != 0xE2) return false;
  // U+200B to 200F, 2028 to 202E, 2060 to 2069
  if (byte(1) == 0x80)
    return (byte(2) >= 0x8B && byte(2) <= 0x8F) || (byte(2) >= 0xA8 && byte(2) <= 0xAE);
  return byte(1) == 0x81 && byte(2) >= 0xA0 && byte(2) <= 0xA9;
}

bool fits_in_id(std::string_view sequence) {
  return !is_control(sequence) && sequence != "/" && sequence != "\\" && sequence != ":";
}

} // namespace

bool is_plain_line(std::string_view text) {
  while (!text.empty()) {
    const auto next = detail::first_sequence(text);
    if (next.state != detail::utf8_state::complete || is_control(text.substr(0, next.size)))
      return false;
    text.remove_prefix(next.size);
  }
  return true;
}

result<component> existing_id(std::string_view id) {
  const auto name = component::from(id);
  if (!name || id.starts_with('.')) return error{error_code::not_found, 0, "id"};
  return *name;
}

result<component> new_id(std::string_view id) {
  const auto name = component::from(id);
  if (!name || id_from(id) != id) return error{error_code::invalid_argument, 0, "id"};
  return *name;
}

std::string id_from(std::string_view name) {
  std::string id;
  while (!name.empty()) {
    const auto next = detail::first_sequence(name);
    const auto sequence = name.substr(0, next.size);
    const bool good = next.state == detail::utf8_state::complete && fits_in_id(sequence);
    if (id.size() + (good ? sequence.size() : 1) > name_bytes_max) break;
    id += good ? sequence : "_";
    name.remove_prefix(next.size);
  }
  // A leading dot hides a directory; blanks and dots at an end are lost on the way to other
  // systems.
  id.erase(0, id.find_first_not_of(". "));
  id.erase(id.find_last_not_of(". ") + 1);
  return id;
}

} // namespace paddock
