// SPDX-License-Identifier: MIT

// The author in a user's own configuration of git: as much of its format as two values need.

#include "exec/git_author.hpp"

#include "sys/syscall.hpp"

#include <paddock/base/detail/ascii.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace paddock {
namespace {

constexpr std::size_t configuration_bytes_max = 256UL * 1024;
constexpr std::string_view blanks = " \t\r";

/// Empty where there is none, or where it is no file.
std::string read_configuration(const std::string& path) {
  std::string text;
  const auto file = sys::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!file) return text;
  const auto status = sys::fstat(file->get());
  if (!status || status->kind != entry_kind::file) return text;
  std::array<char, 4096> block;
  while (text.size() < configuration_bytes_max) {
    const auto size = sys::read(file->get(), block);
    if (!size || *size == 0) break;
    text.append(block.data(), *size);
  }
  return text;
}

bool is_blank_in_line(char c) {
  return blanks.find(c) != std::string_view::npos;
}

class configuration_reader {
public:
  explicit configuration_reader(std::string_view text) : rest_(text) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  /// The last value of a name counts.
  void take_into(git_author& found) {
    bool of_user = false;
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '[') {
        of_user = detail::equal_ignoring_ascii_case(section(), "user");
      } else if (c == '#' || c == ';') {
        (void)until("\n");
      } else if (is_blank_in_line(c) || c == '\n') {
        rest_.remove_prefix(1);
      } else {
        const std::string_view name = until(" \t\r=#;\n");
        const auto given = value();
        if (!of_user || !given) continue;
        if (detail::equal_ignoring_ascii_case(name, "name")) found.name = *given;
        if (detail::equal_ignoring_ascii_case(name, "email")) found.email = *given;
      }
    }
  }

private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
  }
  std::string_view until(std::string_view ends) {
    const std::string_view passed = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(passed.size());
    return passed;
  }

  /// With its subsection, which is a name that no section has.
  std::string_view section() {
    const std::string_view inside = until("]\n").substr(1);
    if (rest_.starts_with(']')) rest_.remove_prefix(1);
    return inside;
  }

  /// Without quotes and comments; nothing where there is no equals sign.
  std::optional<std::string> value() {
    skip_blanks();
    if (!rest_.starts_with('=')) {
      (void)until("\n");
      return std::nullopt;
    }
    rest_.remove_prefix(1);
    skip_blanks();
    std::string read;
    std::size_t kept = 0; // without blanks at the end that no quotes hold
    for (bool quoted = false; !rest_.empty() && rest_.front() != '\n';) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (!quoted && (c == '#' || c == ';')) {
        (void)until("\n");
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == '\\' && !rest_.empty()) {
        add_escaped(read);
        kept = read.size();
      } else {
        read += c;
        if (quoted || !is_blank_in_line(c)) kept = read.size();
      }
    }
    read.resize(kept);
    return read;
  }

  void add_escaped(std::string& read) {
    if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\n') return; // goes on in the next line
    read += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'b' ? '\b' : c;
  }

  std::string_view rest_;
};

/// In quotes, as git reads it. Nothing for what no name has.
std::string line_of(std::string_view key, const std::string& value) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  if (value.empty() || std::ranges::any_of(value, is_control)) return {};
  std::string line = "\t" + std::string(key) + " = \"";
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  return line + "\"\n";
}

} // namespace

git_author git_author_of(const std::string& home) {
  git_author found;
  const std::string own = process_variable("XDG_CONFIG_HOME");
  const bool is_at_home = home.starts_with('/');
  for (const std::string& path : {std::string("/etc/gitconfig"),
                                  own.starts_with('/') ? own + "/git/config"
                                  : is_at_home         ? home + "/.config/git/config"
                                                       : std::string(),
                                  is_at_home ? home + "/.gitconfig" : std::string()})
    if (!path.empty()) configuration_reader(read_configuration(path)).take_into(found);
  return found;
}

std::string confine::git_configuration_of(const git_author& author) {
  const std::string lines = line_of("name", author.name) + line_of("email", author.email);
  return lines.empty() ? lines : "[user]\n" + lines;
}

} // namespace paddock
