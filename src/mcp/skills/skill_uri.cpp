// SPDX-License-Identifier: MIT
#include "mcp/skills/skill_uri.hpp"

#include <paddock/path/lexical_path.hpp>

namespace paddock::mcp {
namespace {

constexpr std::string_view scheme = "skill://";
constexpr std::string_view digits = "0123456789ABCDEF";

/// RFC 3986: what may stand for itself everywhere.
bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

void append_encoded(std::string& out, std::string_view part) {
  for (const char c : part) {
    if (is_unreserved(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', digits[byte >> 4], digits[byte & 0xF]};
  }
}

std::optional<unsigned> digit_value(char c) {
  const std::size_t at = digits.find(c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(at);
}

std::optional<std::string> decode(std::string_view part) {
  std::string out;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] == '?' || part[i] == '#') return std::nullopt;
    if (part[i] != '%') {
      out += part[i];
      continue;
    }
    if (part.size() - i < 3) return std::nullopt;
    const auto high = digit_value(part[i + 1]);
    const auto low = digit_value(part[i + 2]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high << 4 | *low);
    i += 2;
  }
  const bool is_name = !out.empty() && out != "." && out != ".." &&
                       out.find('/') == std::string::npos && out.find('\0') == std::string::npos;
  if (!is_name) return std::nullopt;
  return out;
}

} // namespace

std::string skill_uri(const skill& s, std::string_view path) {
  std::string uri(scheme);
  append_encoded(uri, s.id);
  if (s.name != s.id) append_encoded(uri += '/', s.name);
  for (std::string_view part = next_component(path); !part.empty(); part = next_component(path))
    append_encoded(uri += '/', part);
  return uri;
}

std::optional<std::vector<std::string>> parts_of_skill_uri(std::string_view uri) {
  if (!uri.starts_with(scheme)) return std::nullopt;
  uri.remove_prefix(scheme.size());
  std::vector<std::string> parts;
  for (bool more = true; more;) {
    const std::size_t slash = uri.find('/');
    more = slash != std::string_view::npos;
    auto part = decode(uri.substr(0, slash));
    if (!part) return std::nullopt;
    parts.push_back(*std::move(part));
    if (more) uri.remove_prefix(slash + 1);
  }
  return parts;
}

std::optional<std::string> path_in_skill(const skill& s, const std::vector<std::string>& parts) {
  const std::size_t prefix = s.name == s.id ? 1 : 2;
  if (parts.size() < prefix || parts.front() != s.id || (prefix == 2 && parts[1] != s.name))
    return std::nullopt;
  std::string path;
  for (std::size_t i = prefix; i < parts.size(); ++i)
    path.append(path.empty() ? "" : "/").append(parts[i]);
  return path;
}

} // namespace paddock::mcp
