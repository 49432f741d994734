// SPDX-License-Identifier: MIT
#include "base/letter_forms.hpp"
#include "base/out_of_memory.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/base/detail/excerpt.hpp>
#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <system_error>

namespace paddock::mcp {

std::string_view text_argument(const call& c, std::string_view name) {
  return c.arguments()[name].string().value_or(std::string_view());
}

std::string path_argument(const call& c, std::string_view name) {
  return decode_name(text_argument(c, name));
}

std::uint64_t count_argument(const call& c, std::string_view name, std::uint64_t otherwise) {
  const auto given = c.arguments()[name].integer();
  return given ? static_cast<std::uint64_t>(*given) : otherwise;
}

std::size_t result_bytes_max(const call& c) {
  constexpr std::size_t envelope_bytes_max = 2048;
  const std::size_t line = c.message_bytes_max();
  return line < envelope_bytes_max ? 0 : (line - envelope_bytes_max) / 3;
}

std::string shown(std::string_view name, std::size_t characters_max) {
  return detail::excerpt(encode_name(name), characters_max);
}

namespace {

/// What a budget that is used up asks for; it has no code of its own.
constexpr std::string_view memory_advice(error_code code) {
  return code == error_code::too_many
             ? "other calls hold the memory that the server allows all of them together "
               "(--limit memory-bytes); call again when others are done"
             : "it needs more memory than the server allows all calls together "
               "(--limit memory-bytes); work on a smaller part";
}

} // namespace

bool is_out_of_memory(const error& e) {
  return refused_memory(e);
}

object_result& object_result::path(std::string_view name, const workspace_state& state,
                                   std::string_view resolved) {
  if (state.options.tools == toolset::base)
    return text(name, encode_name(state.root->absolute(resolved)));
  return text(name, resolved.empty() ? "." : encode_name(resolved));
}

namespace {

/// advice(), by the names of the tools.
std::string_view next_step(error_code code) {
  if (code == error_code::is_a_directory)
    return "use listDirectory for directories, or name a file inside it";
  if (code == error_code::not_a_directory) return "use readTextFile for files, or correct the path";
  return advice(code);
}

} // namespace

tool_result failure(const error& e, std::string_view subject, std::string_view hint) {
  return tool_result::failure(e.code, failure_text(e, subject, hint));
}

tool_result failure(const root& root, const error& e, std::string_view path,
                    std::string_view hint) {
  const std::string similar = similar_words(root, e, path);
  return failure(e, path, similar.empty() ? hint : similar);
}

namespace {

/// Of an absolute path outside, such as models guess: its longest end that is in the workspace.
std::string end_within(const root& root, std::string_view path) {
  if (!path.starts_with('/')) return {};
  for (int tries = 8; tries > 0 && !path.empty(); --tries) {
    path.remove_prefix(std::min(path.find('/'), path.size() - 1) + 1);
    if (const auto where = root.locate(path, final_link::keep); where && where->existing)
      return std::string(path);
  }
  return {};
}

/// With escapes for what is not ASCII, where JSON has short ones.
std::string json_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view bytes = text.substr(0, detail::first_sequence(text).size);
    const auto c = static_cast<unsigned>(detail::code_point(bytes));
    std::array<char, 8> escape{};
    (void)std::snprintf(escape.data(), escape.size(), "\\u%04x", c & 0xFFFF);
    out += c < 0x80 || c > 0xFFFF ? std::string(bytes) : std::string(escape.data());
    text.remove_prefix(bytes.size());
  }
  return out;
}

} // namespace

std::string similar_words(const root& root, const error& e, std::string_view path) {
  const std::string found = e.code == error_code::not_found      ? similar_path(root, path)
                            : e.code == error_code::escapes_root ? end_within(root, path)
                                                                 : std::string();
  if (differ_in_form(file_name(found), file_name(path)))
    return "a name that differs only in how its letters are encoded exists; write it in JSON as " +
           shown(join(parent(found), json_escaped(file_name(found))));
  return found.empty() ? found : "did you mean " + shown(found) + "?";
}

std::string failure_text(const error& e, std::string_view subject, std::string_view hint) {
  std::string message = shown(subject);
  if (!message.empty()) message += ": ";
  if (is_out_of_memory(e)) return message.append(memory_advice(e.code));
  if (e.code == error_code::conflict && std::string_view(e.operation) == content_lock_operation)
    return message + "another process has held the lock on file changes for more than 5 "
                     "seconds; try again later, or ask a person which process has `locks` in "
                     "Paddock's state directory open";
  const bool is_of_rule = e.code == error_code::write_protected && *e.operation != '\0';
  const protected_name rule{.name = is_of_rule ? e.operation : ""};
  message +=
      is_of_rule && !is_usual(rule) ? "this entry may be read but not changed" : text(e.code);
  // The operating system's own words help only where the code says little.
  if (e.code == error_code::io || e.code == error_code::too_many ||
      e.code == error_code::unsupported) {
    message += " (";
    message += e.operation;
    if (e.os_errno != 0) message += ": " + std::generic_category().message(e.os_errno);
    message += ')';
  }
  message += "; ";
  if (is_of_rule)
    message += "leave it as it is: " + how_to_allow(rule);
  else if (e.code == error_code::write_protected)
    message += "leave it as it is: it is a file of the server itself, and no option allows it";
  else
    message += hint.empty() ? next_step(e.code) : hint;
  return message;
}

std::string human_size(std::uint64_t bytes) {
  constexpr std::array units{"B", "KB", "MB", "GB", "TB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 48> out;
  const int n = std::snprintf(out.data(), out.size(), "%.2f %s", value, units.at(unit));
  return {out.data(), static_cast<std::size_t>(n)};
}

std::string_view type_name(entry_kind kind) {
  switch (kind) {
  case entry_kind::file:
    return "file";
  case entry_kind::directory:
    return "directory";
  case entry_kind::symlink:
    return "file";
  case entry_kind::other:
    break;
  }
  return "other";
}

} // namespace paddock::mcp
