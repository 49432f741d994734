// SPDX-License-Identifier: MIT
#pragma once

/// JSON in and out for tools: a parsed document, a read-only view of its values, an appending
/// writer.
///
/// A view is two words and refers to a document that someone else keeps: the one a handler receives
/// is valid until the handler returns. Missing members and wrong types are values (`std::nullopt`,
/// a missing view), never errors. Of duplicate keys the last one counts, as in JavaScript. The
/// writer produces compact JSON and escapes every string; that begin, key and end fit together is
/// the caller's business.
///
/// Thread-safety: views are immutable; a document and a writer belong to one thread at a time.

#include <paddock/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace paddock::mcp {

enum class json_kind : std::uint8_t {
  missing,
  null,
  boolean,
  integer,
  number,
  string,
  array,
  object
};

/// Deeper nesting is a parse error.
inline constexpr std::size_t json_depth_max = 128;
/// Readable bytes that `json_document::parse_padded` needs behind the text.
inline constexpr std::size_t json_padding = 64;

/// A value inside a document, or "missing". Cheap to copy; reads of the wrong kind give nothing.
class json_view {
public:
  constexpr json_view() noexcept = default; ///< "missing"

  /// `integer` for what fits std::int64_t and was written without fraction and exponent, else
  /// `number`.
  [[nodiscard]] json_kind kind() const noexcept;
  /// False for a missing view; null exists.
  [[nodiscard]] bool exists() const noexcept { return document_ != nullptr; }
  /// Whether `kind` is `k`.
  [[nodiscard]] bool is(json_kind k) const noexcept { return kind() == k; }

  /// Nothing unless this is true or false.
  [[nodiscard]] std::optional<bool> boolean() const noexcept;
  /// Integers, and numbers without a fraction that fit (1.0, 1e3).
  [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
  /// Any number; integers beyond 2^53 are rounded.
  [[nodiscard]] std::optional<double> number() const noexcept;
  /// UTF-8, unescaped; may contain NUL. Valid as long as the document.
  [[nodiscard]] std::optional<std::string_view> string() const noexcept;

  /// The member `key` of an object, or a missing view.
  [[nodiscard]] json_view operator[](std::string_view key) const noexcept;
  /// Number of elements or members; 0 for scalars.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Calls f(json_view) for each element of an array; nothing for other values.
  template <class F> void for_each_element(F&& f) const {
    using callee = std::remove_reference_t<F>;
    visit_elements([](void* g, json_view v) { (*static_cast<callee*>(g))(v); }, address_of(f));
  }
  /// Calls f(std::string_view key, json_view value) for each member of an object, in document
  /// order.
  template <class F> void for_each_member(F&& f) const {
    using callee = std::remove_reference_t<F>;
    visit_members(
        [](void* g, std::string_view k, json_view v) { (*static_cast<callee*>(g))(k, v); },
        address_of(f));
  }
  /// The value as compact JSON; empty when missing.
  [[nodiscard]] std::string text() const;

private:
  friend class json_document;
  struct access; // the bridge to the parser, in src/mcp/json/json_view.cpp

  template <class F> static void* address_of(F& f) noexcept {
    return const_cast<void*>(static_cast<const volatile void*>(std::addressof(f)));
  }
  void visit_elements(void (*f)(void*, json_view), void* context) const;
  void visit_members(void (*f)(void*, std::string_view, json_view), void* context) const;

  const void* document_ = nullptr;
  std::size_t index_ = 0;
};

/// Owns a parsed text. Reusing one document for many texts avoids allocations.
class json_document {
public:
  json_document();
  json_document(json_document&&) noexcept;
  json_document& operator=(json_document&&) noexcept;
  ~json_document();

  /// Parses the whole of `text`, which need not live on. Views of an earlier text become invalid.
  /// A lone surrogate escape ("\ud800") reads as U+FFFD, an integer beyond 64 bits as a double, a
  /// number beyond double as the largest double. One byte order mark at the beginning is skipped.
  /// Errors: invalid_argument; `operation` says what is wrong (not JSON, not UTF-8, too deep, …).
  [[nodiscard]] result<json_view> parse(std::string_view text);
  /// The same without a copy. Precondition: `json_padding` bytes behind `text` are readable.
  /// Errors: as parse.
  [[nodiscard]] result<json_view> parse_padded(std::string_view text);
  /// What the last successful parse returned.
  [[nodiscard]] json_view root() const noexcept { return root_; }

private:
  struct parser;
  std::unique_ptr<parser> parser_;
  json_view root_;
};

/// Appends compact JSON to a string that it owns. Commas are placed by the writer.
class json_writer {
public:
  /// Begins an object: next comes a key, or its end.
  json_writer& begin_object() { return open('{'); }
  /// Begins an object with the members of another one, given as JSON text; more may follow.
  /// Precondition: `object` is the JSON text of an object.
  json_writer& begin_object_with(std::string_view object);
  /// Ends the object begun last.
  json_writer& end_object() { return close('}'); }
  /// Begins an array.
  json_writer& begin_array() { return open('['); }
  /// Ends the array begun last.
  json_writer& end_array() { return close(']'); }
  /// The name of an object's next member; its value comes next. Escaped as `string` does.
  json_writer& key(std::string_view name);
  /// A string value; every maximal part of `value` that is not UTF-8 becomes one U+FFFD. Of JSON
  /// text it makes a string that holds that text.
  json_writer& string(std::string_view value);
  /// An integer; beyond 2^53 many readers round it.
  json_writer& integer(std::int64_t value);
  /// The same for what has no sign.
  json_writer& unsigned_integer(std::uint64_t value);
  /// Infinities and NaN become null.
  json_writer& number(double value);
  /// true or false.
  json_writer& boolean(bool value);
  /// null.
  json_writer& null();
  /// Text that already is JSON; must not be empty.
  json_writer& raw(std::string_view json);

  /// A key and its string.
  json_writer& member(std::string_view name, std::string_view value) {
    return key(name).string(value);
  }
  /// A key and its number, or its true or false.
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, char>)
  json_writer& member(std::string_view name, T value) {
    key(name);
    if constexpr (std::is_same_v<T, bool>)
      return boolean(value);
    else if constexpr (std::is_floating_point_v<T>)
      return number(static_cast<double>(value));
    else if constexpr (std::is_signed_v<T>)
      return integer(value);
    else
      return unsigned_integer(value);
  }
  /// Ends a line of JSON Lines; the next value starts afresh.
  json_writer& end_line() {
    out_ += '\n';
    comma_ = false;
    return *this;
  }

  /// What has been written; valid until the next change.
  [[nodiscard]] const std::string& str() const noexcept { return out_; }
  /// Gives the text away; the writer is empty after that.
  [[nodiscard]] std::string take() noexcept {
    comma_ = false;
    return static_cast<std::string&&>(out_);
  }
  /// Starts again; the buffer stays allocated.
  void clear() noexcept {
    out_.clear();
    comma_ = false;
  }
  /// Makes room for a text of `bytes` in all.
  void reserve(std::size_t bytes) { out_.reserve(bytes); }

private:
  json_writer& open(char bracket);
  json_writer& close(char bracket);
  void separate();

  std::string out_;
  bool comma_ = false; // whether the next value needs one before it
};

} // namespace paddock::mcp
