// SPDX-License-Identifier: MIT
#include "api.hpp"

#include "file_diff.hpp"
#include "json.hpp"

#include <paddock/file/change_set.hpp>
#include <paddock/history/naming.hpp>
#include <paddock/mcp/change_results.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/text/utf16.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace paddock::review_page {
namespace {

using http::answer;
using page::say;

constexpr std::size_t changes_max = 20'000; // in one answer
constexpr std::size_t counts_max = 200;
constexpr std::size_t counted_files_max = 2'000; // in directories, of one request
constexpr std::uint64_t counted_bytes_max = std::uint64_t{1} << 20U;
constexpr std::size_t paths_max = 10'000;
constexpr std::size_t label_bytes_max = 200;
constexpr std::size_t events_max = 500;
constexpr std::uint64_t time_max_ms = 60'000; // of one request

/// A request about this workspace.
struct call : page::call {
  const reviewed& of;

  [[nodiscard]] work_bounds bounds() const {
    return {.deadline_ms = deadline_in(time_max_ms), .cancelled = &request.cancelled};
  }
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name) const {
    const std::string given = parameter(name);
    std::uint64_t value = 0;
    const auto end = given.data() + given.size();
    const auto [last, problem] = std::from_chars(given.data(), end, value);
    if (given.empty() || problem != std::errc() || last != end) return std::nullopt;
    return value;
  }
  [[nodiscard]] std::string path() const { return decode_name(parameter("path")); }
};

constexpr error wrong_body{
    .code = error_code::invalid_argument, .os_errno = 0, .operation = "body"};

answer say(const detailed_error& failure) {
  return page::refuse(failure, explain(failure) + "; " + std::string(advice(failure.code)));
}

/// A failure of the history, where "not found" is about checkpoints, or about one path.
answer say_of(const detailed_error& failure, std::string_view if_not_found) {
  return failure.code == error_code::not_found ? page::refuse(failure, if_not_found) : say(failure);
}
constexpr std::string_view no_checkpoint =
    "this checkpoint is not in the history any more; choose another one";
constexpr std::string_view no_change = "nothing has changed there since this checkpoint";

std::optional<std::uint64_t> number_in(mcp::json_view body, std::string_view name) {
  const auto value = body[name].integer();
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

/// Nothing when the list is none, or too long.
std::optional<std::vector<std::string>> paths_in(mcp::json_view body) {
  std::vector<std::string> paths;
  const mcp::json_view list = body["paths"];
  if (!list.is(mcp::json_kind::array) || list.size() > paths_max) return std::nullopt;
  bool sound = true;
  list.for_each_element([&](mcp::json_view each) {
    const auto path = each.string();
    sound = sound && path && !path->empty();
    if (sound) paths.push_back(decode_name(*path));
  });
  if (!sound) return std::nullopt;
  return paths;
}

// --- what can be asked ---------------------------------------------------------------------------

answer show_state(const call& c) {
  return say(state_json(c.of, c.of.store->state()));
}

answer list_checkpoints(const call& c) {
  return say(to_json(c.of.store->checkpoints()));
}

answer make_checkpoint(const call& c) {
  mcp::json_document document;
  const auto body = document.parse(c.request.body);
  if (!body || !body->is(mcp::json_kind::object)) return say(wrong_body);
  const std::string label((*body)["label"].string().value_or(""));
  if (label.size() > label_bytes_max)
    return page::refuse({.code = error_code::invalid_argument, .os_errno = 0, .operation = "label"},
                        "a label has at most 200 bytes");
  const auto made = c.of.store->make_checkpoint(label);
  return made ? say(to_json(*made), 201) : say(made.error());
}

answer list_changes(const call& c) {
  history::change_query query{.since = c.number("since"),
                              .limit = changes_max,
                              .git_as_one = true,
                              .look = c.parameter("look") == "1",
                              .by = history::author::other,
                              .bounds = c.bounds()};
  if (const std::string path = c.path(); !path.empty()) {
    query.paths = {path};
    query.collapse = false;
    query.git_as_one = !history::is_of_git(path);
    query.limit =
        std::clamp<std::uint64_t>(c.number("limit").value_or(changes_max), 1, changes_max);
  }
  const auto list = c.of.store->changes(query);
  return list ? say(to_json(*list)) : say_of(list.error(), no_checkpoint);
}

line_counts counted(const reviewed& of, const history::change& one, const work_bounds& bounds) {
  line_counts out{.path = one.path};
  if (std::max(one.before.size, one.after.size) > counted_bytes_max) return out;
  const two_sides sides = sides_of(of, one, bounds);
  if (!sides.is_text()) return out;
  out.is_known = true;
  for (const line_change& each : changed_lines(sides.before.text, sides.after.text)) {
    out.added += each.after_count;
    out.removed += each.before_count;
  }
  return out;
}

/// Of each path that is asked for, in their order; of a directory, what its author changed in it.
class counter {
public:
  counter(const reviewed& of, const std::vector<std::string>& paths) : of_(of) {
    for (const std::string& path : paths)
      asked_[path];
  }

  /// The changes come in the order of their paths. Errors: those of the bounds.
  result<void> add(const history::change& each, const work_bounds& bounds) {
    PADDOCK_CHECK(bounds.check());
    const auto own = asked_.find(each.path);
    if (own != asked_.end()) own->second = {.by = each.by, .counts = {.path = each.path}};
    if (each.entry == entry_kind::directory) {
      if (own != asked_.end()) own->second.counts.is_known = true;
      return {};
    }
    const auto around = own != asked_.end() ? own : top_of(each);
    if (around == asked_.end()) return {};
    line_counts& sum = around->second.counts;
    if (around != own && ++files_ > counted_files_max) sum.is_known = false;
    if (around != own && !sum.is_known) return {};
    const line_counts one = counted(of_, each, bounds);
    if (around == own) sum.is_known = one.is_known;
    sum.added += one.added;
    sum.removed += one.removed;
    return {};
  }
  [[nodiscard]] std::vector<line_counts> take() const {
    std::vector<line_counts> out;
    for (const auto& [path, each] : asked_)
      if (!each.counts.path.empty()) out.push_back(each.counts);
    return out;
  }

private:
  struct asked_path {
    history::author by = history::author::other;
    line_counts counts{}; ///< without its path: nothing has changed there
  };
  using asked_paths = std::map<std::string, asked_path, std::less<>>;

  /// The directory that is told as one with it.
  asked_paths::iterator top_of(const history::change& each) {
    if (history::is_of_git(each.path)) return asked_.end();
    for (std::string_view above = parent(each.path); !above.empty(); above = parent(above))
      if (const auto found = asked_.find(above); found != asked_.end() &&
                                                 !found->second.counts.path.empty() &&
                                                 found->second.by == each.by)
        return found;
    return asked_.end();
  }

  const reviewed& of_;
  asked_paths asked_;
  std::size_t files_ = 0; ///< in directories
};

answer count_lines(const call& c) {
  mcp::json_document document;
  const auto body = document.parse(c.request.body);
  if (!body) return say(wrong_body);
  const auto paths = paths_in(*body);
  if (!paths || paths->size() > counts_max) return say(wrong_body);
  std::vector<line_counts> counts;
  const work_bounds bounds = c.bounds();
  if (!paths->empty()) {
    const auto list = c.of.store->changes({.since = number_in(*body, "since"),
                                           .paths = *paths,
                                           .limit = changes_max,
                                           .collapse = false,
                                           .look = false,
                                           .by = history::author::other,
                                           .bounds = bounds});
    if (!list) return say_of(list.error(), no_checkpoint);
    counter all(c.of, *paths);
    for (const history::change& each : list->changes)
      if (const auto added = all.add(each, bounds); !added) return say(added.error());
    counts = all.take();
  }
  return say(to_json(counts));
}

answer show_diff(const call& c) {
  const work_bounds bounds = c.bounds();
  auto change = change_at(c.of, c.number("since"), c.path(), bounds);
  if (!change) return say_of(change.error(), no_change);
  const two_sides sides = sides_of(c.of, *std::move(change), bounds);
  const row_range range{.from = c.number("from").value_or(0)};
  if (!sides.is_text()) return say(diff_json(sides, nullptr, range));
  const file_diff diff = compare(sides.before.text, sides.after.text);
  return say(diff_json(sides, &diff, range));
}

answer show_image(const call& c) {
  const work_bounds bounds = c.bounds();
  auto change = change_at(c.of, c.number("since"), c.path(), bounds);
  if (!change) return say_of(change.error(), no_change);
  two_sides sides = sides_of(c.of, *std::move(change), bounds);
  side& wanted = c.parameter("side") == "before" ? sides.before : sides.after;
  if (wanted.form != side_form::image)
    return say(error{.code = error_code::unsupported_type, .os_errno = 0, .operation = "image"});
  return {.status = 200, .type = std::string(wanted.image_type), .body = std::move(wanted.bytes)};
}

answer list_events(const call& c) {
  const auto limit =
      std::clamp<std::uint64_t>(c.number("limit").value_or(events_max), 1, events_max);
  const auto events = c.of.store->events(c.number("after").value_or(0), limit);
  return events ? say(to_json(*events)) : say(events.error());
}

answer restored(const call& c, const history::restore_request& request) {
  const auto outcome = c.of.store->restore(request);
  const bool is_whole = request.paths.empty() && c.of.left_outside;
  const auto commits =
      is_whole ? c.of.left_outside(request.to) : std::optional<cli::left_commits>();
  return outcome ? say(to_json(*outcome, commits)) : say_of(outcome.error(), no_checkpoint);
}

answer undo(const call& c) {
  mcp::json_document document;
  const auto body = document.parse(c.request.body);
  if (!body || !body->is(mcp::json_kind::object)) return say(wrong_body);
  history::restore_request request{
      .to = number_in(*body, "to"), .by = history::author::other, .bounds = c.bounds()};
  if ((*body)["paths"].exists()) {
    auto paths = paths_in(*body);
    // Nothing chosen is not everything.
    if (!paths || paths->empty()) return say(wrong_body);
    request.paths = *std::move(paths);
  }
  request.force = (*body)["force"].boolean().value_or(false);
  if ((*body)["check"].boolean().value_or(false)) request.effect = history::restore_effect::check;
  return restored(c, request);
}

/// Writes the file as it is but for one hunk, if it still is as it was shown.
answer write_without(const call& c, const two_sides& sides, const file_diff& diff,
                     std::size_t number) {
  const std::string& path = sides.change.path;
  auto bytes = encode_text(without_hunk(diff, number), utf16_mark_of(sides.after.bytes));
  if (!bytes) return say(bytes.error());
  const auto checkpoint = c.of.store->make_checkpoint("before a hunk was undone");
  if (!checkpoint) return say(checkpoint.error());
  const file_change change{.action = change_action::replace,
                           .path = path,
                           .bytes = *std::move(bytes),
                           .before = sides.after.bytes};
  auto recording =
      c.of.store->before_tool(history::persons_undo, std::span(&path, 1), history::author::other);
  std::string said;
  (void)mcp::end_interrupted_change(*c.of.workspace, c.of.state_directory, said);
  const auto applied =
      apply_changes(*c.of.workspace, std::span(&change, 1),
                    {.durability = durability::data, .state_directory = c.of.state_directory});
  const std::string lost = recording.finish();
  if (!applied) {
    const change_failure& why = applied.error();
    return say(detailed_error{why, why.detail});
  }
  history::restore_outcome outcome{.restored = 1,
                                   .paths = {path},
                                   .as = {history::restored_as::reverted},
                                   .paths_total = 1,
                                   .before = checkpoint->number,
                                   .notice = std::move(said)};
  if (!lost.empty()) outcome.before = 0;
  return say(to_json(outcome));
}

answer undo_hunk(const call& c) {
  mcp::json_document document;
  const auto body = document.parse(c.request.body);
  if (!body || !body->is(mcp::json_kind::object)) return say(wrong_body);
  const auto number = number_in(*body, "hunk");
  const auto path = (*body)["path"].string();
  if (!number || !path) return say(wrong_body);
  const auto since = number_in(*body, "since");
  const work_bounds bounds = c.bounds();
  auto change = change_at(c.of, since, decode_name(*path), bounds);
  if (!change) return say_of(change.error(), no_change);
  const two_sides sides = sides_of(c.of, *std::move(change), bounds);
  const bool is_same = sides.is_text() && (*body)["seen"].string() == seen_token(sides);
  if (!is_same)
    return page::refuse({.code = error_code::stale, .os_errno = 0, .operation = "seen"},
                        "the file has changed since it was shown; look at it again");
  const file_diff diff = compare(sides.before.text, sides.after.text);
  if (*number >= diff.hunks.size()) return say(wrong_body);
  const bool are_files = sides.change.before.exists && sides.change.after.exists &&
                         sides.change.before.kind == entry_kind::file &&
                         sides.change.after.kind == entry_kind::file;
  // The last hunk takes the rest of the change with it: modes, times, and what is no file.
  if (diff.hunks.size() == 1 || !are_files)
    return restored(c, {.to = since,
                        .paths = {sides.change.path},
                        .force = (*body)["force"].boolean().value_or(false),
                        .by = history::author::other,
                        .bounds = bounds});
  return write_without(c, sides, diff, *number);
}

struct review_operation {
  std::string_view path;
  std::string_view method;
  answer (*run)(const call&);
};

constexpr review_operation all_operations[] = {
    {"/api/state", "GET", show_state},
    {"/api/checkpoints", "GET", list_checkpoints},
    {"/api/checkpoints", "POST", make_checkpoint},
    {"/api/changes", "GET", list_changes},
    {"/api/counts", "POST", count_lines},
    {"/api/diff", "GET", show_diff},
    {"/api/image", "GET", show_image},
    {"/api/events", "GET", list_events},
    {"/api/undo", "POST", undo},
    {"/api/undo-hunk", "POST", undo_hunk},
};

} // namespace

std::vector<page::operation> operations(reviewed of) {
  const auto shared = std::make_shared<const reviewed>(std::move(of));
  std::vector<page::operation> out;
  for (const review_operation& each : all_operations)
    out.push_back({.path = each.path,
                   .method = each.method,
                   .run = [shared, run = each.run](const page::call& c) {
                     return run(call{{.request = c.request, .query = c.query}, *shared});
                   }});
  return out;
}

} // namespace paddock::review_page
