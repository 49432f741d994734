// SPDX-License-Identifier: MIT
#include "egress/client_hello.hpp"

#include <paddock/exec/host_list.hpp>

#include <algorithm>
#include <optional>

namespace paddock::egress {
namespace {

constexpr unsigned first_record = 20; // a change of ciphers, an alert
constexpr unsigned record_of_handshake = 22;
constexpr unsigned last_record = 23; // data
constexpr unsigned message_of_client_hello = 1;
constexpr unsigned extension_of_name = 0;
constexpr unsigned name_of_host = 0;
constexpr std::size_t record_head_bytes = 5;
constexpr std::size_t record_bytes_max = 16UL * 1024;
constexpr std::size_t message_head_bytes = 4;
/// Of what clients send at once, without an answer (0-RTT).
constexpr std::size_t early_bytes_max = 64UL * 1024;
/// A ServerHello with this for its random is a HelloRetryRequest.
constexpr std::string_view random_of_retry =
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
    "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";
constexpr std::size_t random_at = record_head_bytes + message_head_bytes + 2; // behind the version

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

/// Of a record whose head is there.
std::size_t content_bytes(std::string_view record) {
  return static_cast<unsigned char>(record[3]) * 256U + static_cast<unsigned char>(record[4]);
}

/// The first message, put together from as many records as it needs; nothing else is in them.
hello_state read_message(std::string_view bytes, std::string& message, std::size_t& used) {
  const std::size_t all = bytes.size();
  while (!bytes.empty()) {
    if (static_cast<unsigned char>(bytes[0]) != record_of_handshake) return hello_state::other;
    if (bytes.size() >= 2 && bytes[1] != 3) return hello_state::other;
    if (bytes.size() < record_head_bytes) return hello_state::incomplete;
    const std::size_t size = content_bytes(bytes);
    if (size == 0 || size > record_bytes_max) return hello_state::other;
    message.append(bytes.substr(record_head_bytes, size));
    if (!message.empty() && message[0] != message_of_client_hello) return hello_state::other;
    if (message.size() >= message_head_bytes) {
      reader head(message);
      (void)head.number(1);
      const std::size_t whole = message_head_bytes + head.number(3);
      if (whole > hello_bytes_max) return hello_state::other;
      if (message.size() >= whole) {
        used = all - bytes.size() + record_head_bytes + size;
        return message.size() == whole && used <= all ? hello_state::named : hello_state::other;
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
  std::size_t used = 0;
  if (const hello_state read = read_message(bytes, message, used); read != hello_state::named)
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
    found = {hello_state::named, *std::move(name), used};
  }
  return extensions.failed() ? hello{hello_state::other} : found;
}

bool second_hello::take(std::string_view bytes, std::string& forward) {
  held_.append(bytes);
  if (now_ == part::unanswered) return held_.size() <= early_bytes_max;
  while (now_ == part::asked_again && !held_.empty()) {
    const auto kind = static_cast<unsigned char>(held_[0]);
    std::size_t size = 0;
    if (kind >= first_record && kind <= last_record && kind != record_of_handshake) {
      if (held_.size() < record_head_bytes) return true;
      size = record_head_bytes + content_bytes(held_);
      if (held_.size() < size) return true;
    } else {
      const hello said = read_client_hello(held_);
      if (said.state == hello_state::incomplete) return held_.size() <= early_bytes_max;
      asked_for_ = said.name;
      if (said.state != hello_state::named || folded_host_name(said.name) != host_) return false;
      now_ = part::over;
      size = held_.size();
    }
    forward.append(held_, 0, size);
    held_.erase(0, size);
  }
  forward += std::exchange(held_, {});
  return true;
}

bool second_hello::answered(std::string_view bytes, std::string& forward) {
  if (now_ != part::unanswered) return true;
  constexpr std::size_t needed = random_at + random_of_retry.size();
  answer_.append(bytes.substr(0, needed - std::min(answer_.size(), needed)));
  const bool is_handshake = static_cast<unsigned char>(answer_[0]) == record_of_handshake;
  if (is_handshake && answer_.size() < needed) return true;
  const bool is_retry = is_handshake && answer_.substr(random_at) == random_of_retry;
  now_ = is_retry ? part::asked_again : part::over;
  return take({}, forward);
}

} // namespace paddock::egress
