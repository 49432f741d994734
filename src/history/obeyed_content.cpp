// SPDX-License-Identifier: MIT
#include "history/obeyed_content.hpp"

#include "path/entry_lookup.hpp"
#include "path/git_configuration.hpp"
#include "path/git_followed.hpp"
#include "path/git_names.hpp"

#include <paddock/path/lexical_path.hpp>
#include <paddock/path/protected_names.hpp>

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace paddock::history {
namespace {

/// The tool of the record that stands for what is not kept any more.
constexpr std::string_view past_tool = "past";
constexpr std::string_view hooks_directory = "hooks", common_name = "commondir";

/// What follows a directory in a path beneath it.
std::string_view beneath(std::string_view directory, std::string_view path) {
  return path.substr(directory.empty() ? 0 : directory.size() + 1);
}

/// The repository that git would read the path for; nothing where it is in none.
std::optional<std::string_view> repository_reading(std::string_view path, const was_there& has) {
  const auto is_one = [&](std::string_view directory) {
    return is_git_directory(directory) || has(join(directory, git_marks[0]));
  };
  const std::string_view name = file_name(path), above = parent(path);
  const bool is_read =
      name == common_name || std::ranges::find(git_obeyed, name) != std::end(git_obeyed);
  if (is_read && is_one(above)) return above;
  if (file_name(above) == hooks_directory && is_one(parent(above))) return parent(above);
  for (std::string_view at = above;; at = parent(at)) {
    if (is_git_followed(beneath(at, path)) && is_one(at)) return at;
    if (at.empty()) return std::nullopt;
  }
}

/// A worktree's or a submodule's way to its repository, as git writes it.
bool leads_to_a_part(const store::impl& of, std::string_view path, std::string_view text,
                     const was_there& has) {
  if (!text.starts_with(git_file_prefix) || !text.ends_with('\n')) return false;
  std::string_view written = text.substr(git_file_prefix.size());
  written.remove_suffix(1);
  std::string target = normalize_lexically(join(parent(path), written));
  if (is_absolute(written)) {
    const auto inside = strip_root_prefix(normalize_lexically(written), of.workspace->path());
    if (!inside) return false;
    target = *inside;
  }
  const std::string_view git = git_around(target);
  if (git.empty() || target.starts_with("..")) return false;
  const std::string_view store = first_component(std::string_view(target).substr(git.size() + 1));
  return std::ranges::find(git_stores, store) != std::end(git_stores) &&
         has(join(target, git_marks[0]));
}

bool runs_nothing(const store::impl& of, std::string_view path, const known_state& state,
                  const was_there& has) {
  const std::string_view name = file_name(path);
  const auto repository = repository_reading(path, has);
  if (!is_git_directory(path) && !repository) return false;
  if (state.kind == known_kind::directory) return true; // what is in it is looked at by itself
  if (state.kind != known_kind::file) return false;
  if (file_name(parent(path)) == hooks_directory) return name.ends_with(".sample");
  const auto bytes = of.packs.read(state.content);
  if (!bytes) return false;
  if (is_git_directory(path)) return leads_to_a_part(of, path, *bytes, has);
  if (name == common_name) return *bytes == "../..\n";
  if (const auto file = beneath(*repository, path); is_git_followed(file))
    return !harmless_rest(
        {.name = file,
         .bytes = *bytes,
         .leads_inside = [&](auto written) { // a link may come in front of objects
           if (file_name(file) != git_worktree_file) return false;
           return strip_root_prefix(normalize_lexically(written), of.workspace->path()).has_value();
         }});
  const auto none = [](std::string_view) { return false; };
  const auto is_inside = [&](std::string_view remote) { // and no link is on the way
    const auto there = strip_root_prefix(remote, of.workspace->path());
    return there && open_plain(*of.workspace, std::string(*there), O_PATH | O_DIRECTORY);
  };
  return !harmless_part(*bytes, none, is_inside);
}

/// What is or was there.
class lookup_of_both final : public entry_lookup {
public:
  lookup_of_both(const root& of, const was_there& has) : now_(of.descriptor(), ""), has_(has) {}
  [[nodiscard]] result<file_status> status(std::string_view path) const override {
    auto now = now_.status(path);
    return now || !has_(std::string(path)) ? std::move(now) : file_status();
  }

private:
  lookup_from now_;
  const was_there& has_;
};

} // namespace

bool is_obeyed(const store::impl& of, const std::string& path, const was_there& has) {
  if (is_git_directory(path) || repository_reading(path, has)) return true;
  const auto allowed =
      of.workspace->check_changeable(path, purpose::change, lookup_of_both(*of.workspace, has));
  return !allowed && allowed.error().code == error_code::write_protected &&
         std::string_view(allowed.error().operation) != git_own_name;
}

namespace {

/// Which directories were above a path while the journal is read.
class homes_seen {
public:
  explicit homes_seen(const wanted_states& asked) {
    for (const auto& [path, wanted] : asked)
      for (std::string above(parent_of(path)); !above.empty(); above = parent_of(above))
        inodes_.emplace(above, 0);
  }
  void take(const transition& each) {
    const auto found = inodes_.find(each.path);
    if (found == inodes_.end()) return;
    found->second = each.after.kind == known_kind::directory ? each.after.inode : 0;
  }
  [[nodiscard]] std::vector<std::uint64_t> above(std::string_view path) const {
    std::vector<std::uint64_t> all;
    for (std::string at(parent_of(path)); !at.empty(); at = parent_of(at))
      all.push_back(inodes_.find(at)->second);
    return all;
  }

private:
  std::map<std::string, std::uint64_t, std::less<>> inodes_;
};

} // namespace

written_by_agents written_by_agents_among(const store::impl& of, wanted_states asked,
                                          const was_there& has) {
  if (asked.empty()) return {};
  std::set<std::string, std::less<>> by_agent;
  homes_seen seen(asked);
  written_by_agents out;
  const auto note_homes = [&](const journal_record& record) {
    for (const transition& each : record.transitions) // before any of it has moved
      if (const auto found = asked.find(each.path);
          found != asked.end() && each.before.same_but_for_time(found->second))
        out.homes[each.path] = seen.above(each.path);
    for (const transition& each : record.transitions)
      seen.take(each);
  };
  const auto note = [&](const journal_record& record, std::uint64_t) {
    note_homes(record);
    if (record.kind != record_kind::operation || is_of_restore(record.by, record.tool)) return true;
    for (const transition& each : record.transitions) {
      const auto found = asked.find(each.path);
      if (found == asked.end() || !each.after.same_but_for_time(found->second)) continue;
      if (record.by == author::other)
        by_agent.erase(each.path);
      else
        by_agent.insert(each.path);
    }
    return true;
  };
  const std::uint64_t first = of.checkpoints.empty() ? 0 : of.checkpoints.front().offset;
  const auto note_all = [&](const journal_record& record, std::uint64_t at) {
    return (at < first && record.tool != past_tool) || note(record, at);
  };
  const bool is_known = of.log.read_from(journal::begin(), note_all).has_value();
  if (is_known)
    std::erase_if(asked, [&](const auto& each) { return !by_agent.contains(each.first); });
  out.all = asked;
  out.unfit = std::move(asked);
  if (is_known)
    std::erase_if(out.unfit,
                  [&](const auto& each) { return runs_nothing(of, each.first, each.second, has); });
  return out;
}

result<journal_record> past_of_agents(const store::impl& of, std::uint64_t until,
                                      const std::function<bool(const content_id&)>& is_kept) {
  const auto always = [](const std::string&) { return true; };
  std::map<std::tuple<std::string, content_id, unsigned>, known_state> by_agents;
  const auto note = [&](const journal_record& record, std::uint64_t at) {
    if (at >= until) return false;
    if (record.kind != record_kind::operation || is_of_restore(record.by, record.tool)) return true;
    for (const transition& each : record.transitions) {
      if (!each.after.has_content() || !is_kept(each.after.content)) continue;
      const std::tuple key(each.path, each.after.content, unsigned{each.after.mode});
      if (record.by == author::other)
        by_agents.erase(key);
      else if (is_obeyed(of, each.path, always))
        by_agents[key] = each.after;
    }
    return true;
  };
  PADDOCK_CHECK(of.log.read_from(journal::begin(), note));
  journal_record past{
      .kind = record_kind::operation, .by = author::exec, .tool = std::string(past_tool)};
  for (auto& [key, state] : by_agents) { // which leaves nothing there
    const std::string& path = std::get<0>(key);
    past.transitions.push_back({.path = path, .before = {}, .after = state});
    past.transitions.push_back({.path = path, .before = state, .after = {}});
  }
  return past;
}

} // namespace paddock::history
