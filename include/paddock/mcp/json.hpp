// SPDX-License-Identifier: MIT
#pragma once

/// JSON in and out for tools: a read-only view of a parsed value, and an appending writer.
///
/// The view keeps simdjson out of every public header. It refers to a document that the server owns; it is
/// valid until the handler that received it returns. Missing members and wrong types are values (`std::nullopt`,
/// an invalid view), never errors. Of duplicate keys the last one counts, as in JavaScript.
/// The writer produces compact JSON and escapes every string; it checks nothing else.
///
/// Thread-safety: views are immutable; a writer belongs to one thread.

#include <paddock/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

enum class json_kind : std::uint8_t { missing, null, boolean, integer, number, string, array, object };

class json_view {
public:
  constexpr json_view() noexcept = default; ///< "missing"

  [[nodiscard]] json_kind kind() const noexcept;
  [[nodiscard]] bool exists() const noexcept { return kind() != json_kind::missing; }
  [[nodiscard]] bool is(json_kind k) const noexcept { return kind() == k; }

  [[nodiscard]] std::optional<bool> boolean() const noexcept;
  /// Integers, and numbers without a fraction that fit (1.0, 1e3).
  [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
  [[nodiscard]] std::optional<double> number() const noexcept;
  /// UTF-8, unescaped; may contain NUL.
  [[nodiscard]] std::optional<std::string_view> string() const noexcept;

  /// The member `key` of an object, or a missing view.
  [[nodiscard]] json_view operator[](std::string_view key) const noexcept;
  /// Number of elements or members; 0 for scalars.
  [[nodiscard]] std::size_t size() const noexcept;
  /// Calls f(json_view) for each element of an array.
  template <class F> void for_each_element(F&& f) const {
    for (cursor at = first(); at; at = next(at)) f(at.value());
  }
  /// Calls f(std::string_view key, json_view value) for each member of an object, in document order.
  template <class F> void for_each_member(F&& f) const {
    for (cursor at = first(); at; at = next(at)) f(at.key(), at.value());
  }
  /// The value as compact JSON.
  [[nodiscard]] std::string text() const;

  // (the owner of this component completes the representation)
private:
  struct cursor;
};

/// Appends compact JSON to a string that it owns. Commas are placed by the writer.
class json_writer {
public:
  json_writer& begin_object();
  json_writer& end_object();
  json_writer& begin_array();
  json_writer& end_array();
  json_writer& key(std::string_view name);
  /// A string value; bytes that are not UTF-8 become U+FFFD.
  json_writer& string(std::string_view value);
  json_writer& integer(std::int64_t value);
  json_writer& unsigned_integer(std::uint64_t value);
  json_writer& boolean(bool value);
  json_writer& null();
  /// Text that already is JSON.
  json_writer& raw(std::string_view json);

  json_writer& member(std::string_view name, std::string_view value) { return key(name).string(value); }

  [[nodiscard]] const std::string& str() const noexcept { return out_; }
  [[nodiscard]] std::string take() noexcept { return static_cast<std::string&&>(out_); }

private:
  std::string out_;
};

} // namespace paddock::mcp
