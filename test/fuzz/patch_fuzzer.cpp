// SPDX-License-Identifier: MIT

// Patches of any bytes: what is read, written as git writes it and read again, is the same; and
// where a hunk is made, its lines stood there. Input: the size of the patch in two bytes, the
// patch, a content.

#include "fuzz_input.hpp"

#include <paddock/text/detail/lines.hpp>
#include <paddock/text/patch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using paddock::line_action;
using paddock::patch_action;
using paddock::test::require;

std::string quoted(std::string_view side, std::string_view name) {
  std::string out = "\"" + std::string(side);
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    out += '\\';
    for (const unsigned shift : {6U, 3U, 0U})
      out += static_cast<char>('0' + ((byte >> shift) & 7U));
  }
  return out + '"';
}

std::string rendered(const paddock::patch_hunk& hunk) {
  std::size_t before = 0, after = 0;
  std::string body;
  for (const paddock::hunk_line& line : hunk.lines) {
    if (line.action != line_action::add) ++before;
    if (line.action != line_action::remove) ++after;
    body += " -+"[static_cast<std::size_t>(line.action)];
    body.append(line.text).append(line.has_line_break ? "\n" : "\n\\ No newline at end of file\n");
  }
  const std::uint64_t first = hunk.line_index.value_or(0) + (before > 0 ? 1 : 0);
  return "@@ -" + std::to_string(first) + "," + std::to_string(before) + " +1," +
         std::to_string(after) + " @@\n" + body;
}

std::string rendered(const paddock::file_patch& file) {
  const bool has_from = !file.from.empty();
  const std::string before = quoted("a/", has_from ? file.from : file.path);
  const std::string after = quoted("b/", file.path);
  const std::string mode = file.is_executable.value_or(false) ? "100755\n" : "100644\n";
  const bool is_new = file.action == patch_action::create;
  const bool is_gone = file.action == patch_action::remove;
  std::string out = "diff --git " + before + " " + after + "\n";
  if (is_gone) out += "deleted file mode 100644\n";
  if (is_new && file.is_executable) out += "new file mode " + mode;
  if (!is_new && file.is_executable) out += "new mode " + mode;
  if (has_from) {
    const std::string word = file.action == patch_action::move ? "rename" : "copy";
    out += word + " from " + quoted("", file.from) + "\n" + word + " to " + quoted("", file.path) +
           "\n";
  }
  if (!file.hunks.empty())
    out += "--- " + (is_new ? "/dev/null" : before) + "\n+++ " + (is_gone ? "/dev/null" : after) +
           "\n";
  for (const paddock::patch_hunk& hunk : file.hunks)
    out += rendered(hunk);
  return out;
}

bool is_same(const paddock::patch_hunk& a, const paddock::patch_hunk& b) {
  const auto same_line = [](const paddock::hunk_line& one, const paddock::hunk_line& other) {
    return one.action == other.action && one.text == other.text &&
           one.has_line_break == other.has_line_break;
  };
  return a.line_index == b.line_index && std::ranges::equal(a.lines, b.lines, same_line);
}

bool is_same(const paddock::file_patch& a, const paddock::file_patch& b) {
  const auto same_hunk = [](const auto& one, const auto& other) { return is_same(one, other); };
  return a.action == b.action && a.path == b.path && a.from == b.from &&
         a.is_executable == b.is_executable && std::ranges::equal(a.hunks, b.hunks, same_hunk);
}

/// Whether git's format can say all of it: it knows no anchors, and no file has a name like none.
bool is_sayable(const paddock::file_patch& file) {
  if (file.action == patch_action::create && file.hunks.empty() && !file.is_executable)
    return false;
  for (const paddock::patch_hunk& hunk : file.hunks)
    if (!hunk.line_index || !hunk.anchors.empty() || hunk.is_at_end) return false;
  return file.path != "/dev/null" && file.from != "/dev/null";
}

void check_read_again(const std::vector<paddock::file_patch>& files) {
  std::string text;
  for (const paddock::file_patch& file : files) {
    if (!is_sayable(file)) return;
    text += rendered(file);
  }
  const auto again = paddock::parse_patch(text);
  require(again.has_value());
  require(std::ranges::equal(*again, files,
                             [](const auto& a, const auto& b) { return is_same(a, b); }));
}

void check_applied(std::string_view content, const paddock::file_patch& file) {
  const auto exact = paddock::apply_hunks(content, file.hunks);
  const auto loose = paddock::apply_hunks(content, file.hunks, paddock::text_matching::white_space);
  if (exact) require(loose.has_value() && loose->text == *exact);
  if (!loose) {
    require(loose.error().hunk < file.hunks.size());
    return;
  }
  require(loose->hunks.size() == file.hunks.size());
  const std::vector<std::string_view> lines = paddock::lines_of(content);
  for (std::size_t i = 0; i < file.hunks.size(); ++i) {
    std::uint64_t at = loose->hunks[i].line_index;
    for (const paddock::hunk_line& line : file.hunks[i].lines) {
      if (line.action == line_action::add) continue;
      require(at < lines.size());
      if (loose->hunks[i].matched == paddock::text_matching::exact)
        require(paddock::without_end(lines[at]) == paddock::without_end(line.text));
      ++at;
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 8192) return 0;
  paddock::test::fuzz_input input(data, size);
  const std::size_t patch_size = input.byte() * std::size_t{256} + input.byte();
  const std::string_view patch = input.take(patch_size);
  const std::string_view content = input.rest();
  const auto files = paddock::parse_patch(patch);
  if (!files) {
    require(files.error().line_index <= paddock::lines_of(patch).size());
    return 0;
  }
  require(!files->empty());
  check_read_again(*files);
  for (const paddock::file_patch& file : *files)
    check_applied(content, file);
  return 0;
}
