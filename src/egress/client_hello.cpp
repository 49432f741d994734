// SPDX-License-Identifier: MIT
#include "egress/client_hello.hpp"

#include <optional>

namespace paddock::egress {
namespace {

constexpr unsigned record_of_handshake = 22;
constexpr unsigned message_of_client_hello = 1;
constexpr unsigned extension_of_name = 0;
constexpr unsigned name_of_host = 0;
constexpr std::size_t record_head_bytes = 5;
constexpr std::size_t record_bytes_max = 16UL * 1024;
constexpr std::size_t message_head_bytes = 4;

/// Takes fields from the front; once one is not there, all further ones are not.
class reader {
public:
  explicit reader(std::string_view bytes) : rest_(bytes) {}

  unsigned number(std::size_t bytes) {
    unsigned value = 0;
    for (const char each : take(bytes))
      value = value << 8U | static_cast<unsigned char>(each);
    return value;
  }
  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) failed_ = true;
    if (failed_) return {};
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  /// A field after its length.
  std::string_view vector(std::size_t bytes_of_length) { return take(number(bytes_of_length)); }
  [[nodiscard]] bool at_end() const { return failed_ || rest_.empty(); }
  [[nodiscard]] bool failed() const { return failed_; }

private:
  std::string_view rest_;
  bool failed_ = false;
};

/// The first message, put together from as many records as it needs.
hello_state read_message(std::string_view bytes, std::string& message) {
  while (!bytes.empty()) {
    if (static_cast<unsigned char>(bytes[0]) != record_of_handshake) return hello_state::other;
    if (bytes.size() >= 2 && bytes[1] != 3) return hello_state::other;
    if (bytes.size() < record_head_bytes) return hello_state::incomplete;
    const std::size_t size =
        static_cast<unsigned char>(bytes[3]) * 256U + static_cast<unsigned char>(bytes[4]);
    if (size == 0 || size > record_bytes_max) return hello_state::other;
    message.append(bytes.substr(record_head_bytes, size));
    if (!message.empty() && message[0] != message_of_client_hello) return hello_state::other;
    if (message.size() >= message_head_bytes) {
      reader head(message);
      (void)head.number(1);
      const std::size_t whole = message_head_bytes + head.number(3);
      if (whole > hello_bytes_max) return hello_state::other;
      if (message.size() >= whole) {
        message.resize(whole);
        return hello_state::named;
      }
    }
    if (bytes.size() < record_head_bytes + size) return hello_state::incomplete;
    bytes.remove_prefix(record_head_bytes + size);
  }
  return hello_state::incomplete;
}

/// Nothing when the extension does not hold exactly one name.
std::optional<std::string> name_in(std::string_view extension) {
  reader all(extension);
  reader names(all.vector(2));
  if (!all.at_end() || names.number(1) != name_of_host) return std::nullopt;
  const std::string_view name = names.vector(2);
  if (all.failed() || names.failed() || !names.at_end()) return std::nullopt;
  return std::string(name);
}

} // namespace

hello read_client_hello(std::string_view bytes) {
  std::string message;
  if (const hello_state read = read_message(bytes, message); read != hello_state::named)
    return {read};
  reader fields(std::string_view(message).substr(message_head_bytes));
  (void)fields.take(2 + 32); // version and random
  (void)fields.vector(1);    // session
  (void)fields.vector(2);    // ciphers
  (void)fields.vector(1);    // compression
  if (fields.failed()) return {hello_state::other};
  if (fields.at_end()) return {hello_state::unnamed}; // of a time before extensions
  reader extensions(fields.vector(2));
  if (!fields.at_end() || fields.failed()) return {hello_state::other};
  hello found{hello_state::unnamed};
  while (!extensions.at_end()) {
    const unsigned kind = extensions.number(2);
    const std::string_view content = extensions.vector(2);
    if (extensions.failed()) return {hello_state::other};
    if (kind != extension_of_name) continue;
    auto name = name_in(content);
    if (!name || found.state == hello_state::named) return {hello_state::other};
    found = {hello_state::named, *std::move(name)};
  }
  return extensions.failed() ? hello{hello_state::other} : found;
}

} // namespace paddock::egress
