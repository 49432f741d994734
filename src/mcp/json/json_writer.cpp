// SPDX-License-Identifier: MIT
#include "mcp/json/json_escape.hpp"

#include <paddock/mcp/json.hpp>

#include <gsl/assert>

#include <array>
#include <charconv>
#include <cmath>

namespace paddock::mcp {

void json_writer::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

json_writer& json_writer::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

json_writer& json_writer::begin_object_with(std::string_view object) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = object.find_first_not_of(blanks);
  const std::size_t end = object.find_last_not_of(blanks);
  Expects(begin < end && object[begin] == '{' && object[end] == '}');
  object = object.substr(0, end);
  separate();
  out_ += object;
  comma_ = object[object.find_last_not_of(blanks)] != '{';
  return *this;
}

json_writer& json_writer::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  string(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

json_writer& json_writer::string(std::string_view value) {
  separate();
  append_json_string(out_, value);
  return *this;
}

json_writer& json_writer::integer(std::int64_t value) {
  separate();
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.append(digits.data(), end);
  return *this;
}

json_writer& json_writer::unsigned_integer(std::uint64_t value) {
  separate();
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.append(digits.data(), end);
  return *this;
}

json_writer& json_writer::number(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.append(digits.data(), end);
  return *this;
}

json_writer& json_writer::boolean(bool value) {
  return raw(value ? "true" : "false");
}

json_writer& json_writer::null() {
  return raw("null");
}

json_writer& json_writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

} // namespace paddock::mcp
