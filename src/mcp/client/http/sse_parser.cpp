// SPDX-License-Identifier: MIT
#include "mcp/client/http/sse_parser.hpp"

#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::string_view sse_byte_order_mark = "\xEF\xBB\xBF";
/// Ids are sent back in a header, and names are compared only.
constexpr std::size_t event_id_bytes_max = 4096;
constexpr std::int64_t retry_ms_max = 3'600'000;

std::optional<std::int64_t> retry_milliseconds(std::string_view digits) {
  std::int64_t n = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (digits.empty() || digits.front() == '-' || end != digits.data() + digits.size())
    return std::nullopt;
  if (status == std::errc::result_out_of_range || n > retry_ms_max) return retry_ms_max;
  return n;
}

} // namespace

bool sse_parser::append(std::string_view part) {
  // Room for the field's name and a byte order mark, which do not count.
  constexpr std::size_t around_data = 16;
  const std::size_t together = line_.size() + part.size();
  if (together > around_data && together - around_data > event_bytes_max_) return false;
  line_ += part;
  return true;
}

bool sse_parser::feed(std::string_view bytes,
                      const std::function<void(const sse_event&)>& on_event) {
  while (!bytes.empty() && !too_large_) {
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) {
      too_large_ = !append(bytes);
      break;
    }
    after_cr_ = bytes[end] == '\r';
    too_large_ = !append(bytes.substr(0, end)) || !end_line(on_event);
    bytes.remove_prefix(end + 1);
  }
  return !too_large_;
}

bool sse_parser::end_line(const std::function<void(const sse_event&)>& on_event) {
  const std::string taken = std::exchange(line_, {});
  std::string_view line = taken;
  if (std::exchange(first_line_, false) && line.starts_with(sse_byte_order_mark))
    line.remove_prefix(sse_byte_order_mark.size());
  if (line.empty()) {
    dispatch(on_event);
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon == 0) return true; // a comment
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  return field(line.substr(0, colon), value);
}

bool sse_parser::field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (value.size() > event_bytes_max_ - std::min(data_.size(), event_bytes_max_)) return false;
    data_ += value;
    data_ += '\n';
  } else if (name == "event") {
    name_ = value.substr(0, event_id_bytes_max);
  } else if (name == "id") {
    if (value.size() <= event_id_bytes_max && value.find('\0') == std::string_view::npos)
      id_ = value;
  } else if (name == "retry") {
    if (const auto ms = retry_milliseconds(value)) retry_ms_ = ms;
  }
  return true;
}

void sse_parser::dispatch(const std::function<void(const sse_event&)>& on_event) {
  last_id_ = id_;
  std::string data = std::exchange(data_, {});
  const std::string name = std::exchange(name_, {});
  if (data.empty()) return;
  data.reserve(data.size() + json_padding);
  on_event({.name = name.empty() ? std::string_view("message") : std::string_view(name),
            .data = std::string_view(data).substr(0, data.size() - 1)});
}

} // namespace paddock::mcp
