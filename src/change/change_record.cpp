// SPDX-License-Identifier: MIT
#include "change/change_record.hpp"

#include "file/leftover.hpp"

#include <paddock/base/limits.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace paddock {
namespace {

constexpr std::string_view magic = change_record_magic;
constexpr std::string_view version = "2";
constexpr std::string_view kinds[] = {"create", "replace", "remove", "move"};
constexpr std::string_view stages[] = {"", "staged\n", "done\n", "undone\n"};
constexpr std::string_view directory_word = "directory";
constexpr std::string_view place_word = "at";
constexpr std::string_view end_word = "end";
constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::size_t name_digits = 32;
constexpr std::size_t fields_max = 10; // of a step

/// A field is one word: other bytes than visible ASCII are written as %xx, and nothing as "-".
void add_field(std::string& to, std::string_view value) {
  to += ' ';
  if (value.empty() || value == "-") to += value.empty() ? "-" : "%2d";
  if (value.empty() || value == "-") return;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F && c != '%') {
      to += c;
      continue;
    }
    to += '%';
    to += hex_digits[byte >> 4U];
    to += hex_digits[byte & 15U];
  }
}

void add_number(std::string& to, std::uint64_t value, int base) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
  to += ' ';
  to.append(digits.data(), end);
}

void add_mark(std::string& to, const content_mark& mark) {
  add_number(to, mark.size, 10);
  if (mark.sum)
    add_number(to, *mark.sum, 16);
  else
    to += " -";
}

template <class Number> std::optional<Number> number(std::string_view digits, int base) {
  Number value{};
  const char* const last = digits.data() + digits.size();
  const auto [end, trouble] = std::from_chars(digits.data(), last, value, base);
  if (digits.empty() || trouble != std::errc() || end != last) return std::nullopt;
  return value;
}

std::optional<std::string> field(std::string_view word) {
  if (word == "-") return std::string();
  std::string value;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      value += word[i];
      continue;
    }
    const auto byte = number<unsigned>(word.substr(i + 1, 2), 16);
    if (!byte || i + 2 >= word.size()) return std::nullopt;
    value += static_cast<char>(*byte);
    i += 2;
  }
  return value;
}

/// A path that is needed.
std::optional<std::string> path_field(std::string_view word) {
  auto path = field(word);
  if (!path || path->empty() || path->front() == '/' || path->size() > path_bytes_max ||
      path->find('\0') != std::string::npos)
    return std::nullopt;
  return path;
}

std::optional<std::string> name_field(std::string_view word) {
  if (word == "-") return std::string();
  if (word.size() != name_digits || word.find_first_not_of(hex_digits) != word.npos)
    return std::nullopt;
  return std::string(temporary_prefix) + std::string(word);
}

std::optional<content_mark> mark_field(std::string_view size, std::string_view sum) {
  const auto bytes = number<std::uint64_t>(size, 10);
  if (!bytes) return std::nullopt;
  if (sum == "-") return content_mark{*bytes, std::nullopt};
  const auto value = number<std::uint64_t>(sum, 16);
  if (!value) return std::nullopt;
  return content_mark{*bytes, *value};
}

using words = std::array<std::string_view, fields_max + 1>;

/// How many words the line has; more than there are is as many as that.
std::size_t split_words(std::string_view line, words& into) {
  std::size_t count = 0;
  while (count < into.size()) {
    const auto space = line.find(' ');
    into[count++] = line.substr(0, space); // NOLINT: the index is in range
    if (space == line.npos) break;
    line.remove_prefix(space + 1);
  }
  return count;
}

std::optional<change_step> step_of(const words& w) {
  const auto kind = std::ranges::find(kinds, w[0]);
  if (kind == std::end(kinds)) return std::nullopt;
  change_step step{.what = static_cast<change_step::kind>(kind - std::begin(kinds))};
  auto path = path_field(w[1]);
  const bool moves = step.what == change_step::kind::move;
  auto from = moves ? path_field(w[2]) : field(w[2]);
  auto temporary = name_field(w[3]);
  auto aside = name_field(w[4]);
  const auto fresh = mark_field(w[5], w[6]);
  const auto old = mark_field(w[7], w[8]);
  const auto mode = number<unsigned>(w[9], 8);
  if (!path || !from || !temporary || !aside || !fresh || !old || !mode) return std::nullopt;
  const bool replaces = step.what == change_step::kind::replace;
  if (from->empty() == moves || temporary->empty() != moves || aside->empty() == replaces)
    return std::nullopt;
  step.path = *std::move(path);
  step.from = *std::move(from);
  step.temporary = *std::move(temporary);
  step.aside = *std::move(aside);
  step.fresh = *fresh;
  step.old = *old;
  step.old_mode = *mode;
  return step;
}

/// The stage of the last line that is whole.
change_stage stage_behind(std::string_view rest) {
  auto reached = change_stage::begun;
  for (bool found = true; found;) {
    found = false;
    for (std::size_t i = 1; i < std::size(stages); ++i) {
      if (!rest.starts_with(stages[i])) continue; // NOLINT: the index is in range
      reached = static_cast<change_stage>(i);
      rest.remove_prefix(stages[i].size()); // NOLINT
      found = true;
    }
  }
  return reached;
}

/// The line that `bytes` begins with, taken off; nothing where there is no whole one.
std::optional<std::string_view> take_line(std::string_view& bytes) {
  const auto end = bytes.find('\n');
  if (end == bytes.npos) return std::nullopt;
  const auto line = bytes.substr(0, end);
  bytes.remove_prefix(end + 1);
  return line;
}

} // namespace

std::uint64_t content_sum(std::string_view bytes, std::uint64_t before) noexcept {
  for (const char c : bytes)
    before = (before ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return before;
}

content_mark mark_of(std::string_view bytes) noexcept {
  return {bytes.size(), content_sum(bytes)};
}

std::string render(const change_record& record) {
  std::string out(magic);
  out.append(version).append(record.is_durable ? " durable\n" : " passing\n");
  for (const change_place& place : record.places) {
    out += place_word;
    add_field(out, place.path);
    add_number(out, place.device, 16);
    add_number(out, place.inode, 16);
    out += '\n';
  }
  for (const std::string& path : record.directories) {
    out += directory_word;
    add_field(out, path);
    out += '\n';
  }
  for (const change_step& step : record.steps) {
    out += kinds[static_cast<std::size_t>(step.what)]; // NOLINT: the index is in range
    add_field(out, step.path);
    add_field(out, step.from);
    for (const std::string* name : {&step.temporary, &step.aside})
      add_field(out, name->empty() ? *name : name->substr(temporary_prefix.size()));
    add_mark(out, step.fresh);
    add_mark(out, step.old);
    add_number(out, step.old_mode, 8);
    out += '\n';
  }
  const std::uint64_t sum = content_sum(out);
  out += end_word;
  add_number(out, sum, 16);
  return out += '\n';
}

std::string_view stage_line(change_stage stage) noexcept {
  return stages[static_cast<std::size_t>(stage)]; // NOLINT: the index is in range
}

result<void> check_extent(const change_record& record) {
  if (record.places.size() + record.directories.size() + record.steps.size() >
      change_record_lines_max)
    return error{error_code::too_many, 0, "change record"};
  std::uint64_t room_bytes = change_record_marked_bytes_max;
  for (const change_step& step : record.steps) {
    const content_mark& mark = step.what == change_step::kind::move ? step.old : step.fresh;
    if (!mark.sum) continue;
    if (mark.size > room_bytes) return error{error_code::too_large, 0, "change record"};
    room_bytes -= mark.size;
  }
  return {};
}

result<std::optional<change_record>> parse_change_record(std::string_view bytes) {
  const std::string_view all = bytes;
  const auto head = take_line(bytes);
  std::optional<change_record> none;
  if (!head || !head->starts_with(magic)) return none;
  words w;
  const auto told = split_words(head->substr(magic.size()), w);
  if (w[0] != version) return error{error_code::unsupported, 0, "change record"};
  if (told != 2 || (w[1] != "durable" && w[1] != "passing")) return none;
  change_record record{.is_durable = w[1] == "durable"};
  std::uint64_t sum = empty_content_sum;
  for (std::size_t summed = 0;;) {
    const std::size_t begin = all.size() - bytes.size();
    sum = content_sum(all.substr(summed, begin - summed), sum);
    summed = begin;
    const auto line = take_line(bytes);
    if (!line) return none;
    const auto count = split_words(*line, w);
    if (w[0] == end_word) {
      if (count != 2 || number<std::uint64_t>(w[1], 16) != sum) return none;
      break;
    }
    if (w[0] == place_word) {
      auto path = count == 4 ? field(w[1]) : std::nullopt;
      const auto device = number<std::uint64_t>(w[2], 16), inode = number<std::uint64_t>(w[3], 16);
      if (!path || !device || !inode) return none;
      record.places.push_back({*std::move(path), *device, *inode});
      continue;
    }
    if (w[0] == directory_word) {
      auto path = count == 2 ? path_field(w[1]) : std::nullopt;
      if (!path) return none;
      record.directories.push_back(*std::move(path));
      continue;
    }
    auto step = count == fields_max ? step_of(w) : std::nullopt;
    if (!step) return none;
    record.steps.push_back(*std::move(step));
  }
  if (!check_extent(record)) return none;
  record.stage = stage_behind(bytes);
  return std::optional(std::move(record));
}

} // namespace paddock
