// SPDX-License-Identifier: MIT

// Unicode Standard, section 3.10, D96 to D98.

#include <paddock/base/detail/utf8.hpp>
#include <paddock/text/utf16.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace paddock {
namespace {

void append_unit(std::string& out, char32_t unit, utf16_mark mark) {
  const char high = static_cast<char>(unit >> 8U);
  const char low = static_cast<char>(unit & 0xFFU);
  if (mark == utf16_mark::big_endian)
    out.append({high, low});
  else
    out.append({low, high});
}

} // namespace

result<decoded_text, text_fault> decode_text(std::string bytes) {
  const auto fault = [](std::size_t offset, const char* what) {
    return text_fault{{error_code::not_text, 0, what}, offset};
  };
  const utf16_mark mark = utf16_mark_of(bytes);
  if (mark == utf16_mark::none) return decoded_text{std::move(bytes), mark};
  using namespace std::string_view_literals;
  if (bytes.starts_with("\xFF\xFE\0\0"sv)) return fault(0, "UTF-32");
  if (bytes.size() % 2 != 0) return fault(bytes.size() - 1, "UTF-16 with an odd number of bytes");
  decoded_text out{.text = {}, .mark = mark};
  out.text.reserve(bytes.size() / 2);
  std::string_view rest(bytes);
  for (rest.remove_prefix(utf16_mark_bytes); !rest.empty();) {
    const detail::utf16_character found = detail::first_utf16(rest, mark);
    if (found.is_half())
      return fault(bytes.size() - rest.size(), "UTF-16 with half of a surrogate pair");
    detail::append_utf8(out.text, found.code);
    rest.remove_prefix(found.size);
  }
  return out;
}

std::optional<std::string> text_to_show(std::string bytes) {
  auto decoded = decode_text(std::move(bytes));
  if (!decoded || decoded->text.find('\0') != std::string::npos) return std::nullopt;
  return std::move(decoded->text);
}

result<std::string, text_fault> encode_text(std::string text, utf16_mark mark) {
  if (mark == utf16_mark::none) return text;
  const std::size_t bad = detail::first_invalid_utf8(text);
  if (bad < text.size())
    return text_fault{{error_code::not_text, 0, "text that is not UTF-8"}, bad};
  std::string out;
  out.reserve(2 * text.size() + utf16_mark_bytes);
  append_unit(out, 0xFEFF, mark);
  for (std::string_view rest(text); !rest.empty();) {
    const std::size_t size = detail::first_sequence(rest).size;
    const char32_t code = detail::code_point(rest.substr(0, size));
    rest.remove_prefix(size);
    if (code < 0x1'0000) {
      append_unit(out, code, mark);
    } else {
      append_unit(out, 0xD800U | ((code - 0x1'0000U) >> 10U), mark);
      append_unit(out, 0xDC00U | ((code - 0x1'0000U) & 0x3FFU), mark);
    }
  }
  return out;
}

} // namespace paddock
