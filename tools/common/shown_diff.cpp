// SPDX-License-Identifier: MIT
#include "shown_diff.hpp"

#include "output.hpp"
#include "terminal.hpp"

namespace paddock::cli {
namespace {

style style_of_line(std::string_view line, bool is_heading) {
  if (line.starts_with('@')) return style::dim;
  if (is_heading) return style::bold;
  if (line.starts_with('+')) return style::good;
  return line.starts_with('-') ? style::bad : style::plain;
}

} // namespace

bool print_diff(std::string_view diff) {
  if (!output_has_colours()) return print_content(diff);
  bool is_heading = true; // a line that begins with ++ is shown as +++, too
  while (!diff.empty()) {
    const auto end = diff.find('\n');
    const std::string_view line = diff.substr(0, end);
    is_heading = is_heading && !line.starts_with('@');
    print_words("%s\n", styled(line_on_output(line), style_of_line(line, is_heading)).c_str());
    diff = end == diff.npos ? std::string_view() : diff.substr(end + 1);
  }
  return true;
}

} // namespace paddock::cli
