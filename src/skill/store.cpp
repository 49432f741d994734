// SPDX-License-Identifier: MIT

// The looking half of a skill store.

#include "skill/store_state.hpp"

#include <paddock/file/directory.hpp>

#include <gsl/assert>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace paddock {

std::string_view wire_name(not_a_skill why) noexcept {
  switch (why) {
#define X(name, wire, text)                                                                        \
  case not_a_skill::name:                                                                          \
    return wire;
    PADDOCK_NOT_A_SKILL(X)
#undef X
  }
  return "unknown";
}

std::string_view text(not_a_skill why) noexcept {
  switch (why) {
#define X(name, wire, text)                                                                        \
  case not_a_skill::name:                                                                          \
    return text;
    PADDOCK_NOT_A_SKILL(X)
#undef X
  }
  return "unknown reason";
}
namespace {

void strip_slashes(std::string& path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
}

/// Whether a SKILL.md could not be read for a reason outside of it; all else makes it no skill.
bool is_trouble(const error& reason) {
  return reason.code == error_code::io || reason.code == error_code::too_many ||
         reason.code == error_code::no_space || reason.code == error_code::permission_denied;
}

/// Adds what is in `path` to `files`, and the directories among it to `rest`.
result<void> add_files(const root& base, const std::string& top, const std::string& inside,
                       std::vector<skill_file>& files, std::vector<std::string>& rest) {
  const std::uint64_t left = limits{}.list_entries_max - files.size();
  PADDOCK_TRY(const auto listing, list_directory(base, inside.empty() ? top : top + '/' + inside,
                                                 {.entries_max = left}));
  if (listing.total > left) return error{error_code::too_many, 0, "files"};
  for (const auto& entry : listing.entries) {
    std::string path = inside;
    if (!path.empty()) path += '/';
    path += listing.name(entry);
    const auto kind = entry.symlink ? entry_kind::symlink : entry.kind;
    if (kind == entry_kind::directory) rest.push_back(path);
    files.push_back({std::move(path), kind == entry_kind::file ? entry.size : 0, kind});
  }
  return {};
}

} // namespace

skill_store::skill_store(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
skill_store::skill_store(skill_store&&) noexcept = default;
skill_store& skill_store::operator=(skill_store&&) noexcept = default;
skill_store::~skill_store() = default;

result<skill_store> skill_store::open(std::shared_ptr<const root> root,
                                      skill_store_options options) {
  Expects(root != nullptr);
  strip_slashes(options.system_directory);
  strip_slashes(options.user_directory);
  if (options.threads_max == 0) return error{error_code::invalid_argument, 0, "threads_max"};
  if (options.system_directory == options.user_directory)
    return error{error_code::invalid_argument, 0, "user_directory"};
  auto s = std::make_unique<state>(std::move(root), std::move(options));
  for (const auto source : {skill_source::system, skill_source::user}) {
    PADDOCK_TRY([[maybe_unused]] const auto in, open_skill_directory(*s->base, s->options, source));
  }
  return skill_store(std::move(s));
}

const skill_store_options& skill_store::options() const noexcept {
  return state_->options;
}

const std::shared_ptr<const root>& skill_store::root_shared() const noexcept {
  return state_->base;
}

result<std::shared_ptr<const skill_list>> skill_store::list() const {
  return state_->index.refresh();
}

result<skill> skill_store::find(std::string_view id) const {
  PADDOCK_TRY(const auto name, existing_id(id));
  error missing{error_code::not_found, ENOENT, "skill"};
  for (const auto source : {skill_source::system, skill_source::user}) {
    PADDOCK_TRY(const auto in, open_skill_directory(*state_->base, state_->options, source));
    if (!in) continue;
    auto found = examine_skill(*in, name.view());
    if (!found) continue;
    if (auto* loaded = std::get_if<skill>(&found->what)) return std::move(*loaded);
    const auto& reason = std::get<unloaded_directory>(found->what).reason;
    if (reason && is_trouble(*reason)) missing = *reason;
  }
  return missing;
}

result<std::vector<skill_file>> skill_store::files(std::string_view id) const {
  PADDOCK_TRY(const auto name, existing_id(id));
  std::optional<std::string> top;
  for (const auto source : {skill_source::system, skill_source::user}) {
    PADDOCK_TRY(const auto in, open_skill_directory(*state_->base, state_->options, source));
    if (!in) continue;
    const auto found = examine_skill(*in, name.view());
    if (!found) continue;
    const bool loaded = std::holds_alternative<skill>(found->what);
    if (!top || loaded) top = in->prefix + std::string(name.view());
    if (loaded) break;
  }
  if (!top) return error{error_code::not_found, ENOENT, "skill"};

  std::vector<skill_file> files;
  std::vector<std::string> rest = {""};
  while (!rest.empty()) {
    const std::string next = std::move(rest.back());
    rest.pop_back();
    const auto added = add_files(*state_->base, *top, next, files, rest);
    // A directory below may have gone meanwhile, or be closed to us; it is listed all the same.
    if (!added && (next.empty() || added.error().code == error_code::too_many))
      return added.error();
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

bool has_entry(const skill_directory& in, const component& id) {
  return sys::status_at(in.fd.get(), id.c_str(), AT_SYMLINK_NOFOLLOW).has_value();
}

result<skill> describe_changed(const root& base, const skill_store_options& options,
                               const component& id) {
  PADDOCK_TRY(const auto in, open_skill_directory(base, options, skill_source::user));
  if (!in) return error{error_code::conflict, ENOENT, "skill"};
  auto found = examine_skill(*in, id.view());
  if (!found) return error{error_code::conflict, ENOENT, "skill"};
  if (auto* loaded = std::get_if<skill>(&found->what)) return std::move(*loaded);
  auto& unloaded = std::get<unloaded_directory>(found->what);
  if (unloaded.reason && is_trouble(*unloaded.reason)) return *unloaded.reason;
  return skill{.id = std::string(id.view()),
               .source = skill_source::user,
               .path = unloaded.path + '/' + std::string(skill_file_name),
               .diagnostics = std::move(unloaded.diagnostics)};
}

} // namespace paddock
