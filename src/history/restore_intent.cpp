// SPDX-License-Identifier: MIT
#include "history/restore_intent.hpp"

#include "file/leftover.hpp"
#include "history/content_sum.hpp"
#include "history/store_directory.hpp"
#include "sys/syscall.hpp"

#include <linux/fs.h>

namespace paddock::history {
namespace {

constexpr const char* intent_name = "intent";
constexpr const char* begun_intent_name = "intent.begun";
constexpr const char* failed_intent_name = "intent.failed";
constexpr const char* made_name = "intent.made";
constexpr std::string_view intent_magic = "paddock restore 1\n";
constexpr std::uint64_t intent_bytes_max = std::uint64_t{1} << 30U;

std::string read_path(byte_reader& in) {
  std::string path(in.text());
  if (!is_path(path)) in.fail();
  return path;
}

} // namespace

std::string render(const restore_intent& intent) {
  std::string body;
  put_text(body, intent.staging);
  put_number(body, intent.plan.moves.size());
  for (const restore_move& each : intent.plan.moves) {
    put_text(body, each.from);
    put_text(body, each.to);
    put_state(body, each.object);
  }
  put_number(body, intent.plan.steps.size());
  for (const restore_step& each : intent.plan.steps) {
    put_text(body, each.path);
    put_state(body, each.wanted);
    put_state(body, each.present);
  }
  std::string bytes(intent_magic);
  put_u64(bytes, sum_of(body));
  return bytes + body;
}

std::optional<restore_intent> parse_intent(std::string_view bytes) {
  if (!bytes.starts_with(intent_magic)) return std::nullopt;
  bytes.remove_prefix(intent_magic.size());
  byte_reader head(bytes);
  const std::uint64_t sum = head.u64();
  if (!head.is_good() || sum_of(bytes.substr(8)) != sum) return std::nullopt;
  byte_reader in(bytes.substr(8));
  restore_intent intent;
  intent.staging = in.text();
  if (!intent.staging.starts_with(temporary_prefix) || !component::from(intent.staging))
    return std::nullopt;
  for (std::uint64_t left = in.number(); left > 0 && in.is_good(); --left) {
    restore_move& each = intent.plan.moves.emplace_back();
    each.from = read_path(in);
    each.to = read_path(in);
    each.object = read_state(in);
  }
  for (std::uint64_t left = in.number(); left > 0 && in.is_good(); --left) {
    restore_step& each = intent.plan.steps.emplace_back();
    each.path = read_path(in);
    each.wanted = read_state(in);
    each.present = read_state(in);
  }
  if (!in.is_good() || !in.at_end()) return std::nullopt;
  return intent;
}

result<void> write_intent(int directory, const restore_intent& intent, std::uint64_t room) {
  const std::string bytes = render(intent);
  if (bytes.size() > room) return error{error_code::no_space, 0, budget_operation};
  PADDOCK_CHECK(write_store_file(directory, begun_intent_name, bytes, true));
  // One that is under way is never written over.
  PADDOCK_CHECK(
      sys::renameat2(directory, begun_intent_name, directory, intent_name, RENAME_NOREPLACE));
  return sys::fsync(directory);
}

result<std::optional<restore_intent>> read_intent(int directory) {
  const auto bytes = read_store_file(directory, intent_name, intent_bytes_max);
  if (!bytes && bytes.error().code == error_code::not_found) return std::optional<restore_intent>();
  if (!bytes) return bytes.error();
  auto intent = parse_intent(*bytes);
  if (!intent) put_intent_aside(directory); // damaged
  return intent;
}

result<void> write_made(int directory, const std::vector<made_directory>& made) {
  std::string body;
  put_number(body, made.size());
  for (const made_directory& each : made) {
    put_text(body, each.path);
    put_number(body, each.inode);
  }
  std::string bytes;
  put_u64(bytes, sum_of(body));
  return write_store_file(directory, made_name, bytes + body, true);
}

std::vector<made_directory> read_made(int directory) {
  std::vector<made_directory> made;
  const auto bytes = read_store_file(directory, made_name, intent_bytes_max);
  if (!bytes) return made;
  byte_reader head(*bytes);
  const std::uint64_t sum = head.u64();
  if (!head.is_good() || sum_of(std::string_view(*bytes).substr(8)) != sum) return made;
  byte_reader in(std::string_view(*bytes).substr(8));
  for (std::uint64_t left = in.number(); left > 0 && in.is_good(); --left) {
    made_directory& each = made.emplace_back();
    each.path = in.text();
    each.inode = in.number();
  }
  if (!in.is_good()) made.clear();
  return made;
}

void put_intent_aside(int directory) {
  (void)sys::renameat2(directory, intent_name, directory, failed_intent_name, 0);
  (void)sys::fsync(directory);
}

void remove_intent(int directory) {
  (void)sys::unlinkat(directory, made_name, 0);
  (void)sys::unlinkat(directory, intent_name, 0);
  // Or a power cut brings it back, and with it what somebody has removed since.
  (void)sys::fsync(directory);
}

} // namespace paddock::history
