// SPDX-License-Identifier: MIT
#include <paddock/mcp/json.hpp>

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace paddock::mcp {
namespace {

// JSON can say things that neither UTF-8 nor 64-bit numbers can hold. This rewrites such parts of a
// text, so that one odd value does not make a whole message unreadable.

/// The code unit of a "\uXXXX" at the beginning of `text`.
std::optional<unsigned> code_unit(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  unsigned unit = 0;
  const char* const end = text.data() + 6;
  if (std::from_chars(text.data() + 2, end, unit, 16).ptr != end) return std::nullopt;
  return unit;
}

constexpr bool leads(unsigned unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
constexpr bool trails(unsigned unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

/// Appends the escape at the beginning of `text`, repaired; returns how many bytes it took.
std::size_t copy_escape(std::string& out, std::string_view text) {
  const auto unit = code_unit(text);
  if (!unit) {
    out.append(text.substr(0, 2));
    return text.size() < 2 ? text.size() : 2;
  }
  if (leads(*unit)) {
    const auto second = code_unit(text.substr(6));
    if (second && trails(*second)) {
      out.append(text.substr(0, 12));
      return 12;
    }
  }
  if (leads(*unit) || trails(*unit))
    out += "\\ufffd";
  else
    out.append(text.substr(0, 6));
  return 6;
}

/// Appends the string that begins at `text` with its quotes; returns how many bytes it took.
std::size_t copy_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t at = 1;
  while (at < text.size()) {
    const std::size_t special = std::min(text.find_first_of("\"\\", at), text.size());
    out.append(text.substr(at, special - at));
    at = special;
    if (at == text.size()) break;
    if (text[at] == '"') {
      out += '"';
      return at + 1;
    }
    at += copy_escape(out, text.substr(at));
  }
  return at;
}

/// Appends the number that begins at `text`; returns how many bytes it took.
std::size_t copy_number(std::string& out, std::string_view text) {
  const std::string_view token = text.substr(0, text.find_first_not_of("0123456789+-.eE"));
  const char* const end = token.data() + token.size();
  const bool whole = token.find_first_of(".eE") == std::string_view::npos;
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  double real = 0;
  const auto read = std::from_chars(token.data(), end, real);
  if (read.ptr == end && read.ec == std::errc::result_out_of_range &&
      token.find("e-") == std::string_view::npos && token.find("E-") == std::string_view::npos) {
    out += token.front() == '-' ? "-1.7976931348623157e308" : "1.7976931348623157e308";
    return token.size();
  }
  out.append(token);
  if (whole && token.size() > 1 &&
      std::from_chars(token.data(), end, integer).ec == std::errc::result_out_of_range &&
      std::from_chars(token.data(), end, natural).ec != std::errc{})
    out += "e0";
  return token.size();
}

/// A copy of `text` where escapes of lone surrogates are \ufffd, integers beyond 64 bits have an
/// exponent, and numbers beyond double are the largest double. Anything else, valid or not, stays
/// as it is.
std::string repair_unrepresentable(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at += copy_string(out, text.substr(at));
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      at += copy_number(out, text.substr(at));
    } else {
      out += c;
      ++at;
    }
  }
  return out;
}

} // namespace

namespace dom = simdjson::dom;

static_assert(json_padding >= simdjson::SIMDJSON_PADDING);

/// A view holds the object representation of a dom::element: a document and an index on its tape.
struct json_view::access {
  struct words {
    const void* document;
    std::size_t index;
  };
  static_assert(sizeof(dom::element) == sizeof(words));
  static_assert(alignof(dom::element) == alignof(words));
  static_assert(std::is_trivially_copyable_v<dom::element>);

  static dom::element element(const json_view& v) noexcept {
    dom::element e;
    const words w{v.document_, v.index_};
    std::memcpy(static_cast<void*>(&e), &w, sizeof w);
    return e;
  }
  static json_view view(const dom::element& e) noexcept {
    words w;
    std::memcpy(&w, &e, sizeof w);
    json_view v;
    v.document_ = w.document;
    v.index_ = w.index;
    return v;
  }
};

json_kind json_view::kind() const noexcept {
  if (!exists()) return json_kind::missing;
  switch (access::element(*this).type()) {
  case dom::element_type::ARRAY:
    return json_kind::array;
  case dom::element_type::OBJECT:
    return json_kind::object;
  case dom::element_type::INT64:
    return json_kind::integer;
  case dom::element_type::UINT64:
  case dom::element_type::DOUBLE:
    return json_kind::number;
  case dom::element_type::STRING:
    return json_kind::string;
  case dom::element_type::BOOL:
    return json_kind::boolean;
  case dom::element_type::NULL_VALUE:
    return json_kind::null;
  }
  return json_kind::missing;
}

std::optional<bool> json_view::boolean() const noexcept {
  bool value = false;
  if (!exists() || access::element(*this).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::optional<std::int64_t> json_view::integer() const noexcept {
  if (!exists()) return std::nullopt;
  const dom::element e = access::element(*this);
  std::int64_t value = 0;
  if (e.get(value) == simdjson::SUCCESS) return value;
  double real = 0;
  if (!e.is_double() || e.get(real) != simdjson::SUCCESS) return std::nullopt;
  constexpr double bound = 9007199254740992.0; // 2^53: from there on another number may be meant
  if (real <= -bound || real >= bound || std::trunc(real) != real) return std::nullopt;
  return static_cast<std::int64_t>(real);
}

std::optional<double> json_view::number() const noexcept {
  double value = 0;
  if (!exists() || access::element(*this).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::optional<std::string_view> json_view::string() const noexcept {
  std::string_view value;
  if (!exists() || access::element(*this).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

json_view json_view::operator[](std::string_view key) const noexcept {
  json_view found;
  dom::object object;
  if (!exists() || access::element(*this).get(object) != simdjson::SUCCESS) return found;
  for (const dom::key_value_pair member : object)
    if (member.key == key) found = access::view(member.value);
  return found;
}

std::size_t json_view::size() const noexcept {
  if (!exists()) return 0;
  const dom::element e = access::element(*this);
  dom::array array;
  if (e.get(array) == simdjson::SUCCESS) return array.size();
  dom::object object;
  return e.get(object) == simdjson::SUCCESS ? object.size() : 0;
}

void json_view::visit_elements(void (*f)(void*, json_view), void* context) const {
  dom::array array;
  if (!exists() || access::element(*this).get(array) != simdjson::SUCCESS) return;
  for (const dom::element e : array)
    f(context, access::view(e));
}

void json_view::visit_members(void (*f)(void*, std::string_view, json_view), void* context) const {
  dom::object object;
  if (!exists() || access::element(*this).get(object) != simdjson::SUCCESS) return;
  for (const dom::key_value_pair member : object)
    f(context, member.key, access::view(member.value));
}

namespace {

void write(json_writer& out, json_view v) { // recursion is bounded by json_depth_max
  switch (v.kind()) {
  case json_kind::missing:
    return;
  case json_kind::null:
    out.null();
    return;
  case json_kind::boolean:
    out.boolean(*v.boolean());
    return;
  case json_kind::integer:
    out.integer(*v.integer());
    return;
  case json_kind::number:
    out.number(*v.number());
    return;
  case json_kind::string:
    out.string(*v.string());
    return;
  case json_kind::array:
    out.begin_array();
    v.for_each_element([&](json_view e) { write(out, e); });
    out.end_array();
    return;
  case json_kind::object:
    out.begin_object();
    v.for_each_member([&](std::string_view key, json_view e) {
      out.key(key);
      write(out, e);
    });
    out.end_object();
    return;
  }
}

} // namespace

std::string json_view::text() const {
  json_writer out;
  write(out, *this);
  return out.take();
}

// --- json_document -----------------------------------------------------------------------------

struct json_document::parser {
  dom::parser dom;
};

json_document::json_document() = default;
json_document::json_document(json_document&&) noexcept = default;
json_document& json_document::operator=(json_document&&) noexcept = default;
json_document::~json_document() = default;

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Words of our own, because the parser's differ between its versions.
const char* what_is_wrong(simdjson::error_code code) {
  if (code == simdjson::UTF8_ERROR) return "not UTF-8";
  if (code == simdjson::DEPTH_ERROR) return "nested too deeply";
  return "not JSON";
}

} // namespace

result<json_view> json_document::parse(std::string_view text) {
  const simdjson::padded_string copy(text);
  return parse_padded({copy.data(), copy.size()});
}

result<json_view> json_document::parse_padded(std::string_view text) {
  root_ = {};
  // Here, because versions of the parser differ in this.
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (text.starts_with(byte_order_mark))
    return error{error_code::invalid_argument, 0, what_is_wrong(simdjson::TAPE_ERROR)};
  if (!parser_) parser_ = std::make_unique<parser>();
  dom::parser& dom = parser_->dom;
  if (text.size() + 1 > dom.capacity() && dom.allocate(std::max<std::size_t>(text.size() + 1, 1024),
                                                       json_depth_max) != simdjson::SUCCESS)
    return error{error_code::too_large, 0, "not enough memory for the text"};

  dom::element root;
  simdjson::error_code failed = dom.parse(text.data(), text.size(), false).get(root);
  if (failed != simdjson::SUCCESS && failed != simdjson::UTF8_ERROR) {
    // Valid JSON may hold values that the parser refuses; a second attempt reads them as
    // documented.
    const std::string repaired = repair_unrepresentable(text);
    if (repaired != text) failed = dom.parse(simdjson::padded_string(repaired)).get(root);
  }
  if (failed != simdjson::SUCCESS)
    return error{error_code::invalid_argument, 0, what_is_wrong(failed)};
  root_ = json_view::access::view(root);
  return root_;
}

} // namespace paddock::mcp
