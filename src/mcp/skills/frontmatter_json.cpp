// SPDX-License-Identifier: MIT
#include "mcp/skills/frontmatter_json.hpp"

#include <paddock/frontmatter/frontmatter.hpp>
#include <paddock/mcp/json.hpp>

#if PADDOCK_HAVE_LIBYAML
#include <yaml.h>
#endif

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace paddock::mcp {

#if PADDOCK_HAVE_LIBYAML

namespace {

constexpr unsigned depth_max = 32;
/// Aliases let a short text stand for any amount.
constexpr std::size_t expanded_bytes_max = 4 * frontmatter::bytes_max;
constexpr unsigned brackets_max = 64; ///< open at a time: the parser's cost grows with their square

bool has_deep_brackets(std::string_view block) {
  unsigned open = 0;
  for (const char c : block) {
    if ((c == '[' || c == '{') && ++open > brackets_max) return true;
    if ((c == ']' || c == '}') && open > 0) --open;
  }
  return false;
}

// --- plain scalars by the core schema ----------------------------------------------------------

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

bool all_of(std::string_view text, bool (*accepts)(char)) {
  return !text.empty() && std::ranges::all_of(text, accepts);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_octal(char c) {
  return c >= '0' && c <= '7';
}
bool is_hexadecimal(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string_view without_sign(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return text;
}

/// [0-9]+ ( . [0-9]* )? or . [0-9]+, then perhaps an exponent.
bool is_decimal(std::string_view unsigned_text) {
  const std::size_t e = unsigned_text.find_first_of("eE");
  if (e != std::string_view::npos && !all_of(without_sign(unsigned_text.substr(e + 1)), is_digit))
    return false;
  const std::string_view mantissa = unsigned_text.substr(0, e);
  const std::size_t point = mantissa.find('.');
  if (point == std::string_view::npos) return all_of(mantissa, is_digit);
  const std::string_view before = mantissa.substr(0, point);
  const std::string_view after = mantissa.substr(point + 1);
  if (before.empty()) return all_of(after, is_digit);
  return all_of(before, is_digit) && (after.empty() || all_of(after, is_digit));
}

double number_in_base(std::string_view digits, double base) {
  double value = 0;
  for (const char c : digits)
    value = value * base + (is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  return value;
}

/// A number that JSON can say, or the fact that it cannot.
bool write_number(json_writer& out, double value) {
  constexpr double exact_max = 9007199254740992.0; // 2^53
  if (!std::isfinite(value)) return false;
  if (std::trunc(value) == value && std::abs(value) <= exact_max)
    out.integer(static_cast<std::int64_t>(value));
  else
    out.number(value);
  return true;
}

/// As JSON has it, and in the range of its readers.
bool is_json_number(std::string_view text) {
  constexpr std::size_t whole_digits_max = 18;
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  const bool is_whole = whole == digits.size();
  return whole > 0 && !text.starts_with('+') && (whole == 1 || digits.front() != '0') &&
         !digits.ends_with('.') && digits.find(".e") == digits.npos &&
         digits.find(".E") == digits.npos && (!is_whole || whole <= whole_digits_max);
}

bool write_decimal(json_writer& out, std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = without_sign(text);
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // Also what is too small is refused: readers may differ in what they make of it.
  if (read.ec != std::errc()) return false;
  if (is_json_number(text)) return out.raw(text), true; // each digit counts: 1.10 may be a version
  return write_number(out, negative ? -value : value);
}

bool write_plain(json_writer& out, std::string_view text) {
  if (text.empty() || is_one_of(text, {"~", "null", "Null", "NULL"})) return out.null(), true;
  if (is_one_of(text, {"true", "True", "TRUE"})) return out.boolean(true), true;
  if (is_one_of(text, {"false", "False", "FALSE"})) return out.boolean(false), true;
  if (is_decimal(without_sign(text))) return write_decimal(out, text);
  if (text.starts_with("0o") && all_of(text.substr(2), is_octal))
    return write_number(out, number_in_base(text.substr(2), 8));
  if (text.starts_with("0x") && all_of(text.substr(2), is_hexadecimal))
    return write_number(out, number_in_base(text.substr(2), 16));
  if (is_one_of(without_sign(text), {".inf", ".Inf", ".INF"}) ||
      is_one_of(text, {".nan", ".NaN", ".NAN"}))
    return false;
  return out.string(text), true;
}

// --- events to JSON ----------------------------------------------------------------------------

class event {
public:
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { yaml_event_delete(&raw_); }

  [[nodiscard]] bool read(yaml_parser_t& parser) {
    yaml_event_delete(&raw_);
    return yaml_parser_parse(&parser, &raw_) != 0;
  }
  [[nodiscard]] yaml_event_type_t type() const { return raw_.type; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(raw_.data.scalar.value), raw_.data.scalar.length};
  }
  [[nodiscard]] bool is_plain() const { return raw_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE; }
  /// Whether the document ends with the text, not with a line of three dots.
  [[nodiscard]] bool is_implicit_end() const { return raw_.data.document_end.implicit != 0; }
  /// The anchor that it has, or that an alias names; empty: none.
  [[nodiscard]] std::string_view anchor() const {
    if (raw_.type == YAML_SCALAR_EVENT) return text_of(raw_.data.scalar.anchor);
    if (raw_.type == YAML_MAPPING_START_EVENT) return text_of(raw_.data.mapping_start.anchor);
    if (raw_.type == YAML_SEQUENCE_START_EVENT) return text_of(raw_.data.sequence_start.anchor);
    if (raw_.type == YAML_ALIAS_EVENT) return text_of(raw_.data.alias.anchor);
    return {};
  }
  [[nodiscard]] std::string_view tag() const {
    if (raw_.type == YAML_SCALAR_EVENT) return text_of(raw_.data.scalar.tag);
    if (raw_.type == YAML_MAPPING_START_EVENT) return text_of(raw_.data.mapping_start.tag);
    if (raw_.type == YAML_SEQUENCE_START_EVENT) return text_of(raw_.data.sequence_start.tag);
    return {};
  }
  /// `<<`, which some readers take for a merge and others for a name.
  [[nodiscard]] bool is_merge() const { return is_plain() && text() == "<<"; }

private:
  static std::string_view text_of(const yaml_char_t* text) {
    return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
  }

  yaml_event_t raw_{};
};

class converter {
public:
  explicit converter(std::string_view block) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!ready_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(block.data()),
                                 block.size());
  }
  converter(const converter&) = delete;
  converter& operator=(const converter&) = delete;
  ~converter() {
    if (ready_) yaml_parser_delete(&parser_);
  }

  std::optional<std::string> run() {
    event e;
    if (!ready_ || !expect(e, YAML_STREAM_START_EVENT) || !expect(e, YAML_DOCUMENT_START_EVENT) ||
        !expect(e, YAML_MAPPING_START_EVENT) || !e.tag().empty() || !mapping(1) ||
        !expect(e, YAML_DOCUMENT_END_EVENT) || !e.is_implicit_end() ||
        !expect(e, YAML_STREAM_END_EVENT))
      return std::nullopt;
    return out_.take();
  }

private:
  bool expect(event& e, yaml_event_type_t type) { return e.read(parser_) && e.type() == type; }

  bool value(const event& e, unsigned depth) {
    if (e.type() == YAML_ALIAS_EVENT) return alias(e.anchor(), depth);
    const std::string name(e.anchor());
    const std::size_t before = out_.str().size();
    const unsigned deepest = std::exchange(deepest_, depth);
    if (!undecorated_value(e, depth)) return false;
    const unsigned height = deepest_ - depth;
    deepest_ = std::max(deepest_, deepest);
    if (name.empty()) return true;
    std::string_view json = std::string_view(out_.str()).substr(before);
    if (json.starts_with(',')) json.remove_prefix(1);
    // Some readers refuse a second one of that name.
    return anchors_.emplace(name, anchored{std::string(json), height}).second;
  }

  /// Writes the anchor's value again. An anchor that contains itself has none yet.
  bool alias(std::string_view anchor, unsigned depth) {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) return false;
    const auto& [json, height] = found->second;
    if (depth + height > depth_max || out_.str().size() + json.size() > expanded_bytes_max)
      return false;
    deepest_ = std::max(deepest_, depth + height);
    out_.raw(json);
    return true;
  }

  bool undecorated_value(const event& e, unsigned depth) {
    const bool is_text = e.type() == YAML_SCALAR_EVENT && e.tag() == YAML_STR_TAG;
    deepest_ = std::max(deepest_, depth);
    if (depth > depth_max || (!e.tag().empty() && !is_text)) return false;
    if (e.type() == YAML_MAPPING_START_EVENT) return mapping(depth + 1);
    if (e.type() == YAML_SEQUENCE_START_EVENT) return sequence(depth + 1);
    if (e.is_plain() && !is_text) return write_plain(out_, e.text());
    out_.string(e.text());
    return true;
  }

  bool mapping(unsigned depth) {
    std::set<std::string, std::less<>> keys;
    out_.begin_object();
    for (event e; e.read(parser_);) {
      if (e.type() == YAML_MAPPING_END_EVENT) {
        out_.end_object();
        return true;
      }
      const bool usable = e.type() == YAML_SCALAR_EVENT && e.anchor().empty() && e.tag().empty() &&
                          !e.is_merge() && e.text() != "__proto__" && keys.emplace(e.text()).second;
      if (!usable) return false;
      out_.key(e.text());
      if (!e.read(parser_) || !value(e, depth)) return false;
    }
    return false;
  }

  bool sequence(unsigned depth) {
    out_.begin_array();
    for (event e; e.read(parser_);) {
      if (e.type() == YAML_SEQUENCE_END_EVENT) {
        out_.end_array();
        return true;
      }
      if (!value(e, depth)) return false;
    }
    return false;
  }

  yaml_parser_t parser_{};
  bool ready_ = false;
  json_writer out_;
  struct anchored {
    std::string json;
    unsigned height = 0; ///< how much deeper it goes than where it stands
  };
  std::map<std::string, anchored, std::less<>> anchors_; ///< by name
  unsigned deepest_ = 0;
};

} // namespace

bool has_frontmatter_json() noexcept {
  return true;
}

std::optional<std::string> frontmatter_json(std::string_view block) {
  if (block.size() > frontmatter::bytes_max || has_deep_brackets(block)) return std::nullopt;
  return converter(block).run();
}

#else

bool has_frontmatter_json() noexcept {
  return false;
}

std::optional<std::string> frontmatter_json(std::string_view) {
  return std::nullopt;
}

#endif

} // namespace paddock::mcp
