// SPDX-License-Identifier: MIT
// Says what our rules say of many paths, for a test that asks git the same. Reads, each ended by a
// NUL: "rules", then pairs of a directory and its .gitignore, "end", then paths (directories with a
// slash at the end), an empty text; and again. Prints for each path the file and line that decided,
// or "-".

#include <paddock/search/ignore_tree.hpp>

#include <iostream>
#include <string>

namespace {

bool next(std::string& text) {
  return static_cast<bool>(std::getline(std::cin, text, '\0'));
}

} // namespace

int main() {
  std::string text;
  while (next(text)) {
    paddock::ignore_tree tree;
    for (std::string content; next(text) && text != "end" && next(content);)
      tree.add(text, paddock::ignore_source::gitignore, content);
    while (next(text) && !text.empty()) {
      const bool directory = text.ends_with('/');
      if (directory) text.pop_back();
      const auto found =
          tree.match(text, directory ? paddock::entry_kind::directory : paddock::entry_kind::file);
      std::cout << (found.rule ? found.file() + ':' + std::to_string(found.rule->line_number) : "-")
                << '\n';
    }
  }
}
