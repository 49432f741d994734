// SPDX-License-Identifier: MIT

// Names of skills as file names: which are accepted for new ones.

#include "skill/store_state.hpp"

#include <paddock/base/detail/visible_text.hpp>

#include <string>

namespace paddock {
namespace {

/// Control characters, line and paragraph separators, and what nobody sees, marks of direction
/// among it: what can make a line of text look like something else.
bool is_plain_character(const detail::visible_text::character& c) {
  return c.is_valid && !c.is_hidden && c.code >= 0x20 && (c.code < 0x7F || c.code >= 0xA0) &&
         c.code != 0x2028 && c.code != 0x2029;
}

bool fits_in_id(const detail::visible_text::character& c) {
  return is_plain_character(c) && c.code != '/' && c.code != '\\' && c.code != ':';
}

} // namespace

bool is_plain_line(std::string_view text) {
  for (detail::visible_text walk(text); !walk.at_end();)
    if (!is_plain_character(walk.next())) return false;
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
  for (detail::visible_text walk(name); !walk.at_end();) {
    const auto next = walk.next();
    const std::string_view piece = fits_in_id(next) ? next.bytes : "_";
    if (id.size() + piece.size() > name_bytes_max) break;
    id += piece;
  }
  // A leading dot hides a directory; blanks and dots at an end are lost on the way to other
  // systems.
  id.erase(0, id.find_first_not_of(". "));
  id.erase(id.find_last_not_of(". ") + 1);
  return id;
}

} // namespace paddock
