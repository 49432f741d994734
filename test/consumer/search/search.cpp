// SPDX-License-Identifier: MIT
// An application that looks for a pattern in the files of its workspace, as grep -rn does.
#include <paddock/search/text_search.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  const auto opened = paddock::root::open(argc > 1 ? argv[1] : ".");
  const auto pattern = paddock::text_pattern::compile(argc > 2 ? argv[2] : "fence");
  if (!opened || !pattern) return 1;
  const auto found = paddock::search_text(*opened, ".", *pattern);
  if (!found) return 1;
  for (const auto& file : found->files)
    for (const auto& line : file.lines)
      std::printf("%s:%d:%s\n", file.path.c_str(), static_cast<int>(line.line_number),
                  line.text.c_str());
}
