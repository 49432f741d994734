// SPDX-License-Identifier: MIT

// The same answer for any number of threads and by both resolvers, to the last member.

#include "support/files/temp_tree.hpp"

#include <paddock/search/find_files.hpp>
#include <paddock/search/text_search.hpp>
#include <paddock/search/tree_map.hpp>

namespace paddock {
namespace {

void tell(std::string& out, const search_coverage& of) {
  out += std::to_string(of.entries) + ' ' + std::to_string(of.directories) + ' ' +
         std::to_string(of.ignored) + ' ' + std::to_string(of.unreadable) + '\n';
  for (const ignoring_rule& rule : of.ignored_by)
    out += rule.rule + rule.file + std::to_string(rule.line_number) + ' ' +
           std::to_string(rule.entries) + '\n';
  for (const unread_entry& each : of.unread)
    out += each.path + ' ' + std::string(wire_name(each.why)) + '\n';
}

/// What is searched for: the more threads, the more can go wrong with pages in the middle.
struct page {
  search_output output;
  std::uint64_t offset, limit, context;
};
constexpr page pages[] = {
    {search_output::lines, 0, 100'000, 0}, {search_output::lines, 37, 100, 2},
    {search_output::lines, 900, 3, 1},     {search_output::files, 0, 100'000, 0},
    {search_output::files, 11, 20, 0},     {search_output::counts, 5, 50, 0},
};

/// All answers about a tree, as text.
std::string answers(const root& r, unsigned threads) {
  std::string out;
  const auto word = text_pattern::compile("needle", {.syntax = pattern_syntax::literal});
  for (const page& each : pages) {
    const auto found = search_text(r, ".", *word,
                                   {.output = each.output,
                                    .before = each.context,
                                    .after = each.context,
                                    .offset = each.offset,
                                    .limit = each.limit,
                                    .threads_max = threads});
    if (!found) return "no search";
    out += std::to_string(found->total_matches) + ' ' + std::to_string(found->total_files) + ' ' +
           std::to_string(found->searched) + ' ' + std::to_string(found->searched_bytes) + ' ' +
           std::to_string(found->binary) + (found->exact ? " exact\n" : "\n");
    for (const file_matches& file : found->files) {
      out += file.path + ' ' + std::to_string(file.count) + '\n';
      for (const found_line& line : file.lines)
        out += std::to_string(line.line_number) + (line.context ? '-' : ':') + line.text + '\n';
    }
    tell(out, found->coverage);
  }
  for (const std::uint64_t offset : {0u, 40u}) {
    const auto found = find_files(r, ".", *glob::compile("*[3-7]*"),
                                  {.offset = offset, .limit = 300, .threads_max = threads});
    if (!found) return "no list";
    out += std::to_string(found->total) + '\n';
    for (const std::string& path : found->paths)
      out += path + '\n';
    tell(out, found->coverage);
  }
  for (const std::uint64_t bytes : {500u, 5'000u, 1'000'000u}) {
    const auto map = map_tree(r, ".", {.bytes_max = bytes, .threads_max = threads});
    if (!map) return "no map";
    for (const map_line& line : map->lines)
      out += text_of(line) + '\n';
    out += std::to_string(map->amount.files) + ' ' + std::to_string(map->amount.bytes) + '\n';
    tell(out, map->coverage);
  }
  return out;
}

/// Some hundred directories and a thousand files with ignore files among them.
void grow(const test::temp_tree& tree, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto chance = [&random](std::uint32_t of) { return random() % of == 0; };
  std::vector<std::string> directories{""};
  while (directories.size() < 150) {
    const std::string& in = directories[random() % directories.size()];
    const std::string made = in + "d" + std::to_string(directories.size()) + "/";
    tree.directory(made);
    directories.push_back(made);
  }
  for (const std::string& in : directories) {
    for (std::uint32_t i = 0; i < random() % 14; ++i) {
      std::string text;
      for (auto line = random() % 30; line > 0; --line)
        text += chance(4) ? "a needle\n" : "nothing\n";
      if (chance(20)) text += '\0';
      tree.file(in + "f" + std::to_string(i) + (chance(5) ? ".log" : ".txt"), text);
    }
    if (chance(12)) tree.file(in + ".gitignore", chance(2) ? "*.log\n" : "d*3/\n!f1*\nf?.txt\n");
    if (chance(12)) tree.link(in + "link", "f1.txt");
  }
}

TEST(same_answer, for_any_number_of_threads_and_both_resolvers) {
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    const test::temp_tree tree;
    grow(tree, seed);
    std::string first;
    for (const resolver how : {resolver::openat2, resolver::walker}) {
      const auto r = root::open(tree.path(), {.resolver = how});
      if (!r && how == resolver::openat2) continue; // an old kernel
      ASSERT_TRUE(r);
      for (const unsigned threads : {1u, 2u, 8u}) {
        const std::string told = answers(*r, threads);
        if (first.empty()) first = told;
        ASSERT_EQ(first, told) << seed << ' ' << threads;
      }
    }
    EXPECT_GT(first.size(), 50'000u);
    tree.file("d1/new", "a needle\n"); // the control
    EXPECT_NE(first, answers(*root::open(tree.path()), 2));
  }
}

} // namespace
} // namespace paddock
