// SPDX-License-Identifier: MIT

// The changing half of a skill store, but for importing.

#include "file/durable.hpp"
#include "file/replace.hpp"
#include "skill/staging.hpp"
#include "skill/store_state.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/file/file.hpp>
#include <paddock/frontmatter/frontmatter_yaml.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace paddock {
namespace {

/// What an edit reads as a whole.
constexpr std::uint64_t edited_bytes_max = import_limits{}.file_bytes_max;

error invalid(const char* what) {
  return {error_code::invalid_argument, 0, what};
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Line breaks and tabs of a description become blanks when it is read.
std::string without_breaks(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return line;
}

result<void> check_name(std::string_view name) {
  return is_blank(name) || !is_plain_line(name) ? result<void>(invalid("name")) : result<void>();
}

result<void> check_description(std::string_view description) {
  if (is_blank(description) || !is_plain_line(without_breaks(description)))
    return invalid("description");
  return {};
}

frontmatter::fields read_back(std::string_view text, frontmatter::policy policy) {
  return frontmatter::parse(text, frontmatter::extent::whole_file,
                            {.policy = policy, .full = frontmatter::libyaml()});
}

auto keys_twice(const frontmatter::fields& read) {
  return std::ranges::count(read.diagnostics, frontmatter::diagnostic_code::duplicate_key,
                            &frontmatter::diagnostic::code);
}

/// Whether an edit has left what every YAML parser reads as such, and added no second key to what
/// only the repair reads. Where no parser can tell, it has to be read without one.
bool keeps_validity(std::string_view old, std::string_view text) {
  using frontmatter::policy;
  if (read_back(text, policy::strict).loaded()) return true;
  if (frontmatter::libyaml() == nullptr || read_back(old, policy::strict).loaded()) return false;
  return keys_twice(read_back(text, policy::lenient)) <=
         keys_twice(read_back(old, policy::lenient));
}

/// What has been put together has to be read back to the very texts.
result<void> check_written(std::string_view text, std::string_view name,
                           std::string_view description) {
  const auto wanted = read_back(frontmatter::write(name, description), frontmatter::policy::strict);
  if (!wanted.loaded()) return invalid("description");
  const auto got = read_back(text, frontmatter::policy::lenient);
  if (!got.loaded() || got.name != wanted.name || got.description != wanted.description)
    return invalid("frontmatter");
  return {};
}

result<file_descriptor> write_new_file(int directory, std::string_view bytes, unsigned mode) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY;
  const std::string name(skill_file_name);
  PADDOCK_TRY(auto fd, sys::openat(directory, name.c_str(), flags, mode));
  PADDOCK_CHECK(write_all(fd.get(), bytes));
  return fd;
}

} // namespace

result<skill> skill_store::add(std::string_view id, std::string_view name,
                               std::string_view description) const {
  PADDOCK_TRY(const auto checked, new_id(id));
  PADDOCK_CHECK(check_name(name));
  PADDOCK_CHECK(check_description(description));
  std::string text = frontmatter::write(name, description);
  text.append("\n# ").append(name).append("\n");
  PADDOCK_CHECK(check_written(text, name, description));
  PADDOCK_TRY(const auto system,
              open_skill_directory(*state_->base, state_->options, skill_source::system));
  if (system && has_entry(*system, checked))
    return error{error_code::already_exists, EEXIST, "system skill"};
  const durability wanted = state_->options.durability;
  PADDOCK_TRY(const auto user, open_for_change(*state_->base, state_->options));
  {
    PADDOCK_TRY(auto stage, staging::create(*state_->base, state_->options, user));
    PADDOCK_TRY(const auto file, write_new_file(stage.fd(), text, 0666));
    PADDOCK_CHECK(sync_file(file.get(), wanted));
    PADDOCK_TRY([[maybe_unused]] const auto done,
                stage.publish(checked, overwrite::refuse, wanted, {}));
  }
  return describe_changed(*state_->base, state_->options, checked);
}

result<skill> skill_store::edit(std::string_view id, const skill_changes& changes) const {
  PADDOCK_TRY(const auto checked, existing_id(id));
  const root& base = *state_->base;
  PADDOCK_TRY(const auto system, open_skill_directory(base, state_->options, skill_source::system));
  if (system && has_entry(*system, checked)) return error{error_code::read_only, 0, "system skill"};
  PADDOCK_TRY(const auto there, open_skill_directory(base, state_->options, skill_source::user));
  if (!there || !has_entry(*there, checked)) return error{error_code::not_found, ENOENT, "skill"};
  PADDOCK_TRY(const auto user, open_for_change(base, state_->options));
  PADDOCK_TRY(const auto lock, change_lock::acquire(user.fd.get(), {}));

  std::string path = there->prefix;
  path.append(checked.view()).append("/").append(skill_file_name);
  PADDOCK_TRY(const auto old, read_file(base, path, {.bytes_max = edited_bytes_max}));
  PADDOCK_TRY(const auto in_process, lock_content(base, old.path, {}));
  const auto now = read_back(old.bytes, frontmatter::policy::lenient);
  const std::string name = changes.name.value_or(now.name);
  const std::string description = changes.description.value_or(now.description);
  // What is there already may be anything that can be read; it stays.
  if (name != now.name || is_blank(name)) PADDOCK_CHECK(check_name(name));
  if (description != now.description || is_blank(description))
    PADDOCK_CHECK(check_description(description));
  const std::string text =
      frontmatter::replace_fields(old.bytes, name, description, frontmatter::libyaml());
  PADDOCK_CHECK(check_written(text, name, description));
  if (!keeps_validity(old.bytes, text)) return invalid("frontmatter");

  PADDOCK_TRY(auto where, base.locate(old.path, final_link::keep));
  where.existing = old.status;
  PADDOCK_CHECK(check_writable(where));
  PADDOCK_CHECK(replace_content(where, std::array{std::string_view(text)},
                                state_->options.durability, {}, &old.status));
  return describe_changed(base, state_->options, checked);
}

result<void> skill_store::remove(std::string_view id) const {
  PADDOCK_TRY(const auto checked, existing_id(id));
  const root& base = *state_->base;
  PADDOCK_TRY(const auto there, open_skill_directory(base, state_->options, skill_source::user));
  if (there && has_entry(*there, checked)) {
    PADDOCK_TRY(const auto user, open_for_change(base, state_->options));
    return take_away(base, state_->options, user, checked);
  }
  PADDOCK_TRY(const auto system, open_skill_directory(base, state_->options, skill_source::system));
  if (system && has_entry(*system, checked)) return error{error_code::read_only, 0, "system skill"};
  return error{error_code::not_found, ENOENT, "skill"};
}

} // namespace paddock
