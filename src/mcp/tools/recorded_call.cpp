// SPDX-License-Identifier: MIT
#include "mcp/tools/recorded_call.hpp"

#include "mcp/json/json_escape.hpp"
#include "mcp/tools/edits.hpp"

#include <paddock/base/detail/excerpt.hpp>
#include <paddock/file/change_set.hpp>
#include <paddock/file/file.hpp>
#include <paddock/text/patch.hpp>
#include <paddock/text/unified_diff.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace paddock::mcp {
namespace {

constexpr std::size_t command_characters_max = 400;
constexpr std::size_t states_max = 20; ///< of a path, that are looked at
constexpr std::uint64_t contents_bytes_max = std::uint64_t{32} * 1024 * 1024;
constexpr std::size_t difference_bytes_max = std::size_t{4} * 1024;

class path_collector {
public:
  explicit path_collector(const root& workspace) : root_(workspace) {}

  /// Both a link and what it leads to: which of them changes is the tool's business.
  void add(std::string_view bytes) {
    if (bytes.empty()) return;
    for (const final_link last : {final_link::keep, final_link::follow}) {
      auto path = path_in_history(root_, bytes, last);
      if (!path || path->empty()) continue;
      if (std::ranges::find(found_, *path) == found_.end()) found_.push_back(*std::move(path));
    }
  }
  void add(json_view argument) {
    if (const auto text = argument.string()) add(decode_name(*text));
  }
  [[nodiscard]] std::vector<std::string> take() && { return std::move(found_); }

private:
  const root& root_;
  std::vector<std::string> found_;
};

/// All paths that the arguments of a call name.
std::vector<std::string> paths_of(const root& workspace, const call& c) {
  path_collector found(workspace);
  const json_view given = c.arguments();
  for (const char* name : {"path", "source", "destination"})
    found.add(given[name]);
  given["changes"].for_each_element([&](json_view change) {
    found.add(change["path"]);
    found.add(change["moveTo"]);
    change["paths"].for_each_element([&](json_view path) { found.add(path); });
  });
  const auto patch = parse_patch(given["patch"].string().value_or(""));
  if (patch)
    for (const file_patch& file : *patch) {
      found.add(file.path);
      found.add(file.from);
    }
  return std::move(found).take();
}

/// The hashes of contents that a call wants to change.
std::vector<std::string_view> hashes_of(const call& c) {
  std::vector<std::string_view> all;
  const auto add = [&](json_view value) {
    if (const auto hash = value.string(); hash && hash->size() >= hash_digits)
      all.push_back(hash->substr(0, hash_digits));
  };
  add(c.arguments()["ifHash"]);
  c.arguments()["changes"].for_each_element([&](json_view change) { add(change["ifHash"]); });
  return all;
}

/// What the path held when it had one of the hashes.
std::optional<std::string> content_meant(history::store& store, std::string_view path,
                                         const std::vector<std::string_view>& hashes) {
  const auto states = store.states_of(path, states_max);
  if (!states) return std::nullopt;
  std::uint64_t looked_at = 0;
  for (const history::entry_state& each : *states) {
    if (each.content.empty() || each.kind != entry_kind::file) continue;
    if ((looked_at += each.size) > contents_bytes_max) break;
    auto bytes = store.content(each.content);
    if (bytes && std::ranges::find(hashes, hash_of(*bytes)) != hashes.end())
      return *std::move(bytes);
  }
  return std::nullopt;
}

void add_member(std::string& object, std::string_view name, std::string_view value) {
  std::string member = object.size() > 2 ? "," : "";
  append_json_string(member, name);
  member += ':';
  append_json_string(member, value);
  object.insert(object.size() - 1, member);
}

} // namespace

std::string undo_words(const workspace_state& state) {
  const workspace_options& options = state.options;
  if (options.history == nullptr)
    return "off" + (options.no_history.empty() ? "" : ": " + options.no_history);
  const history::store_state now = options.history->state();
  if (!now.trouble.empty()) return "not for all changes: " + now.trouble;
  if (!now.is_reading) return "on";
  return "on; reading the workspace, " + std::to_string(now.files_read) + " of " +
         std::to_string(now.files) + " files";
}

std::optional<std::string> path_in_history(const root& workspace, std::string_view path,
                                           final_link last) {
  std::string missing; // behind what is there
  for (std::string_view rest = path;; last = final_link::follow) {
    const auto whole = [&](const std::string& found) {
      if (missing.empty()) return found;
      return found.empty() ? missing : join(found, missing);
    };
    if (last == final_link::follow)
      if (const auto found = workspace.open_beneath(rest.empty() ? "." : rest, access::inspect))
        return whole(found->path);
    if (const auto place = workspace.locate(rest, last)) return whole(place->path);
    const std::string_view name = file_name(rest), above = parent(rest);
    if (name.empty() || name == "." || name == ".." || above.size() >= rest.size())
      return std::nullopt;
    missing = missing.empty() ? std::string(name) : join(name, missing);
    if (above == "/") return std::nullopt;
    rest = above;
  }
}

std::string command_line_of(const call& c) {
  std::string line(text_argument(c, c.arguments()["script"].exists() ? "script" : "command"));
  c.arguments()["args"].for_each_element([&](json_view each) {
    if (line.size() <= command_characters_max) line.append(" ").append(each.string().value_or(""));
  });
  return detail::excerpt(line, command_characters_max);
}

history::recording record_command(workspace_state& state, call& c, std::string_view tool,
                                  const work_bounds& bounds, command& run) {
  history::store* const store = state.options.history.get();
  if (store == nullptr) return {};
  c.may_block();
  auto recording = store->before_command(tool, command_line_of(c), bounds);
  run.lock = recording.lock();
  return recording;
}

void note_network(history::recording& of, const std::vector<network_event>& events) {
  constexpr std::size_t hosts_max = 10;
  std::array<std::set<std::string>, 3> hosts; // reached, refused, without an answer
  for (const network_event& each : events) {
    using enum network_event::outcome;
    const bool is_silent =
        each.what == not_found || each.what == unreachable || each.what == gateway_ended;
    const std::string port = each.port == 0 ? "" : ":" + std::to_string(each.port);
    hosts[each.what <= ended ? 0 : is_silent ? 2 : 1].insert(each.host + port);
  }
  constexpr std::array words{"reached ", "refused ", "no answer from "};
  std::string said;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    std::size_t left = hosts_max;
    for (const std::string& each : hosts[i]) {
      if (left == hosts_max) said.append(said.empty() ? "" : "; ").append(words[i]);
      said.append(left == hosts_max ? "" : ", ").append(left == 0 ? "others" : each);
      if (left-- == 0) break;
    }
  }
  if (!said.empty()) of.note_network(said);
}

void say_lost(tool_result& in, std::string_view lost) {
  if (lost.empty() || in.failed() || in.json.empty()) return;
  add_member(in.json, "undo", "this cannot be undone: " + std::string(lost));
}

recorded_call::recorded_call(workspace_state& state, call& c, const tool_row& row)
    : state_(state), call_(c) {
  history::store* const store = state.options.history.get();
  if (store == nullptr) return;
  if (row.effect != effect::writes || c.arguments()["dryRun"].boolean().value_or(false)) return;
  c.may_block();
  std::vector<std::string> paths = paths_of(*state.root, c);
  // The next call of its kind completes a change that another has left half done.
  if (row.name == "applyChanges")
    std::ranges::move(interrupted_paths(*state.root, state.options.state_directory),
                      std::back_inserter(paths));
  // A call that nobody waits for any more looks at nothing.
  recording_ = store->before_tool(row.name, paths, history::author::tool, bounds_of(state, c));
  recording_.watch();
}

void recorded_call::finish(tool_result& result) {
  if (state_.options.history != nullptr && result.error == wire_name(error_code::stale))
    show_difference(result);
  say_lost(result, recording_.finish());
}

void recorded_call::show_difference(tool_result& result) const {
  json_document document;
  const auto parsed = document.parse(result.json);
  if (!parsed) return;
  const std::string given = decode_name((*parsed)["path"].string().value_or(""));
  const auto path = path_in_history(*state_.root, given, final_link::follow);
  if (!path) return;
  const auto before = content_meant(*state_.options.history, *path, hashes_of(call_));
  const auto now = read_file(
      *state_.root, *path,
      {.bytes_max = state_.limits.edit_file_bytes_max, .bounds = bounds_of(state_, call_)});
  if (!before || !now) return;
  const std::string name = encode_name(*path), old_name = "a/" + name, new_name = "b/" + name;
  const auto diff =
      diff_of(*before, now->bytes,
              {.bytes_max = difference_bytes_max, .before_name = old_name, .after_name = new_name},
              bounds_of(state_, call_));
  if (diff.text.empty()) return;
  add_member(result.json, "diff", diff.text);
}

} // namespace paddock::mcp
