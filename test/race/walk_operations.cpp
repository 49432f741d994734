// SPDX-License-Identifier: MIT
#include "operations.hpp"

#include <paddock/search/find_files.hpp>
#include <paddock/search/text_search.hpp>
#include <paddock/search/tree_map.hpp>

namespace paddock::test {
namespace {

/// Where the walk begins: at the directory, or above all that is exchanged.
enum class begin : unsigned char { there, above };

std::string place(const victim& v, begin from) {
  return from == begin::there ? v.path : ".";
}

result<void> search(const victim& v, begin from) {
  const auto of_both = text_pattern::compile("SIDE", {.syntax = pattern_syntax::literal});
  const auto got = search_text(v.r(), place(v, from), *of_both);
  if (!got) return got.error();
  for (const file_matches& file : got->files)
    for (const found_line& line : file.lines)
      expect_inside(line.text);
  return {};
}

/// Nothing inside has this name.
constexpr std::string_view outside_name = "secret";

result<void> find(const victim& v, begin from) {
  const auto got = find_files(v.r(), place(v, from), *glob::compile("*"));
  if (!got) return got.error();
  for (const std::string& path : got->paths)
    EXPECT_EQ(path.find(outside_name), std::string::npos) << path;
  return {};
}

result<void> map(const victim& v, begin from) {
  const auto got = map_tree(v.r(), place(v, from));
  if (!got) return got.error();
  for (const map_line& line : got->lines) {
    EXPECT_NE(line.name, outside_name);
    EXPECT_NE(line.amount.bytes, outside_mark.size() + 7) << line.name; // of a victim's namesake
  }
  return {};
}

constexpr operation walk_rows[] = {
    {"search_text", [](const victim& v) { return search(v, begin::there); }, 1, true},
    {"search_text_from_above", [](const victim& v) { return search(v, begin::above); }, 2, true},
    {"find_files", [](const victim& v) { return find(v, begin::there); }, 1, true},
    {"find_files_from_above", [](const victim& v) { return find(v, begin::above); }, 2, true},
    {"map_tree", [](const victim& v) { return map(v, begin::there); }, 1, true},
    {"map_tree_from_above", [](const victim& v) { return map(v, begin::above); }, 2, true},
};

} // namespace

std::span<const operation> operations_that_walk() {
  return walk_rows;
}

} // namespace paddock::test
