// SPDX-License-Identifier: MIT
// Prints a unified diff of each file that two directories have, for tests that give it to other
// programs. Arguments: the directories, the lines of context, the names of the files.

#include <paddock/text/unified_diff.hpp>

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

namespace {

std::string content_of(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

} // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  const std::string before(words[1]);
  const std::string after(words[2]);
  const auto context = static_cast<std::size_t>(std::stoul(words[3]));
  for (int i = 4; i < count; ++i) {
    const std::string name = std::string("/") + words[i];
    std::cout << paddock::unified_diff(content_of(before + name), content_of(after + name),
                                       {.context_lines = context,
                                        .before_name = "a" + name,
                                        .after_name = "b" + name})
                     .text;
  }
}
