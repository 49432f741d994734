// SPDX-License-Identifier: MIT
// Edits and hunks that may match but for white space, for a judge that has a reference of its own.
// Each line of the input is `edit CONTENT OLD NEW` or `patch CONTENT PATCH`, each of the output an
// error's code or `TEXT exact|white_space [indented|unknown] LINES`: texts in hexadecimal digits
// behind an x, lines with commas; the word says what became of the indentation of new lines.

#include "support/text/hex_lines.hpp"

#include <paddock/text/edit_steps.hpp>
#include <paddock/text/patch.hpp>

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using paddock::text_matching;
using paddock::test::bytes_of;
using paddock::test::digits_of;

template <class Place> std::string answer(std::string_view text, const Place& place) {
  std::string out =
      digits_of(text) + (place.matched == text_matching::exact ? " exact " : " white_space ");
  if (place.indentation == paddock::new_indentation::as_in_file) out += "indented ";
  if (place.indentation == paddock::new_indentation::not_known) out += "unknown ";
  for (const auto line : place.differing_line_indexes)
    out += std::to_string(line) + ",";
  return out;
}

std::string refusal(const paddock::error& error) {
  return std::string(paddock::wire_name(error.code));
}

std::string edit(const std::string& content, const std::string& old_text,
                 const std::string& new_text) {
  const paddock::edit_step step{
      .old_text = old_text, .new_text = new_text, .matching = text_matching::white_space};
  const auto done = paddock::apply_edits(content, {&step, 1});
  return done ? answer(done->text, done->steps.front()) : refusal(done.error());
}

std::string patch(const std::string& content, const std::string& text) {
  const auto files = paddock::parse_patch(text);
  if (!files) return refusal(files.error());
  const auto done = paddock::apply_hunks(content, files->front().hunks, text_matching::white_space);
  return done ? answer(done->text, done->hunks.front()) : refusal(done.error());
}

} // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> words = paddock::test::words_of(line);
    const bool is_edit = words[0] == "edit";
    std::cout << (is_edit ? edit(bytes_of(words[1]), bytes_of(words[2]), bytes_of(words[3]))
                          : patch(bytes_of(words[1]), bytes_of(words[2])))
              << '\n';
  }
}
