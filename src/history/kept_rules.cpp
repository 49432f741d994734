// SPDX-License-Identifier: MIT
#include "history/kept_rules.hpp"

#include "sys/process.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/protected_names.hpp>

#include <fcntl.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::history {
namespace {

constexpr std::uint64_t rules_bytes_max = std::uint64_t{1} << 20U;
constexpr std::string_view hidden_word = "hidden ", read_only_word = "read-only ";

using rule_list = std::vector<protected_name>;

std::string rendered(const rule_list& rules) {
  std::string text;
  for (const protected_name& each : rules)
    text.append(each.mode == protection::hidden ? hidden_word : read_only_word).append(each.name) +=
        '\0';
  return text;
}

result<rule_list> parsed(std::string_view text) {
  const error damaged{error_code::io, 0, "history rules"};
  rule_list rules;
  while (!text.empty()) {
    const auto end = text.find('\0');
    if (end == text.npos) return damaged;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const bool is_hidden = line.starts_with(hidden_word);
    if (!is_hidden && !line.starts_with(read_only_word)) return damaged;
    const std::size_t at = is_hidden ? hidden_word.size() : read_only_word.size();
    protected_name rule{.name = std::string(line.substr(at)),
                        .mode = is_hidden ? protection::hidden : protection::read_only,
                        .asked = true};
    if (!is_valid(rule)) return damaged;
    rules.push_back(std::move(rule));
  }
  return rules;
}

/// None where none were written.
result<rule_list> read_rules(int store) {
  const auto bytes = read_store_file(store, rules_name, rules_bytes_max);
  if (!bytes && bytes.error().code == error_code::not_found) return rule_list();
  if (!bytes) return bytes.error();
  return parsed(*bytes);
}

detailed_error without_rules(const error& why, int store) {
  const std::string file = sys::name_of(store) + '/' + rules_name;
  return {why, "which names the servers of this workspace protect is not known, since " + file +
                   " is damaged or cannot be used; end these servers, remove " + file +
                   ", and start them again"};
}

/// Whether there was anything to add.
bool add_rules_of(const rule_list& others, rule_list& to) {
  bool is_any = false;
  for (const protected_name& each : others) {
    const auto known = std::ranges::find(to, each.name, &protected_name::name);
    if (known != to.end() && (known->mode == each.mode || known->mode == protection::hidden))
      continue;
    protect(to, each);
    is_any = true;
  }
  return is_any;
}

} // namespace

result<std::shared_ptr<const root>, detailed_error>
under_kept_rules(std::shared_ptr<const root> workspace, store_directory& store, session by) {
  PADDOCK_CHECK(store.lock());
  auto kept = read_rules(store.descriptor());
  rule_list all = workspace->options().protected_names;
  result<void> known;
  if (kept && by == session::serve && add_rules_of(all, *kept))
    known = write_store_file(store.descriptor(), rules_name, rendered(*kept), true);
  store.unlock();
  if (!kept) return without_rules(kept.error(), store.descriptor());
  if (!known) return without_rules(known.error(), store.descriptor());
  if (!add_rules_of(*kept, all)) return workspace;
  root_options how = workspace->options();
  how.resolver = workspace->resolver();
  how.protected_names = std::move(all);
  PADDOCK_TRY(auto stricter, root::open(workspace->path(), how));
  if (!stricter.status().same_object(workspace->status()))
    return detailed_error({error_code::root_gone, 0, "history store"});
  return std::make_shared<const root>(std::move(stricter));
}

result<std::vector<protected_name>, detailed_error> rules_of(const root& workspace,
                                                             std::string_view directory) {
  rule_list rules = usual_protected_names();
  const std::string path =
      std::string(directory) + '/' + name_of_store(workspace.path(), workspace.status());
  const auto store = sys::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const bool is_out_of_reach =
      !store && store.error().code == error_code::permission_denied &&
      !sys::status_at(AT_FDCWD, path.c_str()); // so no server of this user has one there
  if (is_out_of_reach || (!store && store.error().code == error_code::not_found)) return rules;
  if (!store) return store.error();
  PADDOCK_TRY(const auto status, sys::fstat(store->get()));
  if (status.uid != sys::effective_uid() || (status.mode & 077U) != 0)
    return detailed_error({error_code::denied_by_policy, 0, "history rules"});
  const auto kept = read_rules(store->get());
  if (!kept) return without_rules(kept.error(), store->get());
  (void)add_rules_of(*kept, rules);
  return rules;
}

} // namespace paddock::history
