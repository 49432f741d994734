// SPDX-License-Identifier: MIT
#include "mcp/tools/change_planner.hpp"

#include "mcp/tools/edits.hpp"

#include <paddock/path/lexical_path.hpp>
#include <paddock/text/text_edit.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t files_max = 1000;
constexpr std::string_view the_patch = "the patch";
/// Of files that parts of a patch change once more, for all parts together.
constexpr std::uint64_t bytes_again_max = std::uint64_t{256} * 1024 * 1024;

refusal plain(error_code code, std::string words) {
  return {.code = code,
          .words = std::move(words.append(unchanged)),
          .edit = {},
          .lines = {},
          .nearest = {},
          .hash = {}};
}

/// Why a hunk has no place in `text`, and what would have fitted.
refusal refusal_of(std::string_view text, std::span<const patch_hunk> hunks,
                   const hunk_failure& failure, const work_bounds& bounds) {
  const patch_hunk& hunk = hunks[failure.hunk];
  refusal out = plain(failure.code, "");
  out.words = "hunk " + std::to_string(failure.hunk + 1) + " (line " +
              std::to_string(hunk.line_of_patch + 1) + " of the patch)";
  out.edit = failure.hunk;
  out.lines = failure.lines;
  if (failure.code == error_code::too_large) {
    out.words += " and those before it take too much work to place: their lines stand nearly "
                 "everywhere; show lines that stand once, or give fewer hunks in a call";
    out.words += unchanged;
    return out;
  }
  const auto [before, after] = texts_of(hunk);
  const auto wanted = [&] { return bounds.check().has_value(); };
  const auto elsewhere = before.empty() ? result<edit_plan>(error{error_code::no_match})
                                        : plan_edit(text, {before, after}, wanted);
  if (before.empty()) {
    out.words += " does not say where its lines belong; show a line of the file beside them";
  } else if (failure.code == error_code::ambiguous) {
    out.words += " shows lines that stand in several places (" +
                 lines_text(failure.lines, failure.lines.size()) +
                 "); show more of the lines around the change";
  } else if (elsewhere) {
    out.words += " shows lines that stand in line " + std::to_string(elsewhere->line + 1) +
                 ", but not behind the hunk before it and the lines behind @@; give hunks in the "
                 "order of the file";
  } else {
    out.nearest = nearest_in(text, before, after, bounds);
    out.words += " shows lines that do not occur" + words_of(out.nearest, text, "the hunk", bounds);
  }
  out.words += unchanged;
  return out;
}

/// What is wrong with the members of a change, as a whole.
std::string problem_of(json_view change) {
  const auto has = [&](std::string_view name) { return change[name].exists(); };
  const bool removes = change["delete"].boolean().value_or(false);
  const int contents = int{has("edits")} + int{has("text")} + int{removes};
  if (has("path") == has("paths")) return "give either path or paths";
  if (contents == 0 && !has("moveTo"))
    return "says nothing of what is to be done; give edits, text, delete or moveTo";
  if (contents > 1) return "give one of edits, text and delete";
  if (has("moveTo") && (has("text") || removes)) return "moveTo goes with edits, or alone";
  if (has("paths") && (has("text") || has("moveTo") || has("ifHash")))
    return "paths goes with edits or delete; text, moveTo and ifHash are of one path";
  return {};
}

} // namespace

std::string change_planner::resolved(std::string_view given, final_link last) const {
  std::string path = decode_name(given);
  if (const auto where = root_.locate(path, last)) return where->path;
  return normalize_lexically(path);
}

result<file_change*, failed_change> change_planner::take_file(std::string_view given,
                                                              const std::string& path, use how) {
  const auto [found, is_first] =
      claims_.try_emplace(path, claim{now_, std::string(given), plan_.changes.size()});
  if (is_first) return nullptr;
  const claim& other = found->second;
  const bool is_same = other.by == now_, is_of_patch = is_same && now_ == the_patch;
  if (is_of_patch && how == use::edit && other.change < plan_.changes.size()) {
    file_change& earlier = plan_.changes[other.change];
    if (earlier.action == change_action::create || earlier.action == change_action::replace)
      return &earlier;
  }
  std::string words = now_;
  if (is_of_patch)
    words += " names this file twice, and not only to edit it; make these changes in two calls";
  else if (is_same)
    words += " names this file twice (also as " + shown(other.given) + "); name it once";
  else
    words += " names a file that " + other.by + " names too (as " + shown(other.given) +
             "); give each file one change, with all of its edits in it";
  return failed_change(plain(error_code::invalid_argument, std::move(words)), given);
}

result<void, failed_change> change_planner::push(file_change change, planned_file file) {
  if (plan_.files.size() == files_max)
    return failed_change(
        plain(error_code::too_many, "more than " + std::to_string(files_max) +
                                        " files in one call; make the change in several"),
        file.given);
  const std::uint64_t bytes = change.bytes ? change.bytes->size() : 0;
  if (auto taken = file.memory.grow(bytes, bounds_); !taken)
    return failed_change(mcp::refusal_of(taken.error()), file.given);
  plan_.changes.push_back(std::move(change));
  plan_.files.push_back(std::move(file));
  return {};
}

result<std::string, failed_change> change_planner::read(const target& what, planned_file& file) {
  wanted_hash wanted(what.hash);
  auto content =
      read_file(root_, decode_name(what.given), {.bytes_max = file_bytes_max_, .bounds = bounds_});
  if (!content && wanted.explains(content.error()))
    return failed_change(wanted.why(content.error()), what.given);
  if (!content) return failed_change(mcp::refusal_of(content.error()), what.given);
  if (!wanted(content->bytes))
    return failed_change(wanted.why({error_code::stale, 0, "hash"}), what.given);
  file.memory = std::move(content->memory);
  file.was_executable = (content->status.mode & 0100U) != 0;
  return std::move(content->bytes);
}

result<void, failed_change> change_planner::edit(const target& what, const maker& make) {
  std::string path = resolved(what.given, final_link::follow);
  const bool is_moved = !what.move_to.empty();
  PADDOCK_TRY(file_change* const earlier,
              take_file(what.given, path, is_moved ? use::once : use::edit));
  if (earlier != nullptr) return edit_again(*earlier, what, make);
  planned_file file{.given = std::string(what.given)};
  PADDOCK_TRY(std::string content, read(what, file));
  auto made = make(content);
  if (!made) return failed_change(std::move(made.error().why), what.given);
  file.lines_that_differ = std::move(made->lines_that_differ);
  file_change change{.action = change_action::replace, .path = std::move(path)};
  if (is_moved) {
    PADDOCK_CHECK(take_file(what.move_to, resolved(what.move_to, final_link::keep)));
    change.action = change_action::move;
    change.from = std::exchange(change.path, decode_name(what.move_to));
  }
  change.before = std::move(content);
  change.bytes = std::move(made->bytes);
  change.is_executable = what.is_executable;
  return push(std::move(change), std::move(file));
}

result<void, failed_change> change_planner::edit_again(file_change& earlier, const target& what,
                                                       const maker& make) {
  planned_file& file = plan_.files[static_cast<std::size_t>(&earlier - plan_.changes.data())];
  bytes_again_ += earlier.bytes->size();
  if (bytes_again_ > bytes_again_max)
    return failed_change(plain(error_code::too_large,
                               "the patch has too many parts of this large file; give its hunks "
                               "one after the other in one part, or in several calls"),
                         what.given);
  auto made = make(*earlier.bytes);
  if (!made) {
    refusal why = std::move(made.error().why);
    if (why.words.ends_with(unchanged)) why.words.resize(why.words.size() - unchanged.size());
    why.words
        .append("; the parts of the patch before it have changed this file; its lines are as "
                "they are by then")
        .append(unchanged);
    why.hash = earlier.before ? hash_of(*earlier.before) : std::string();
    return failed_change(std::move(why), what.given);
  }
  if (made->bytes.size() > earlier.bytes->size())
    if (auto taken = file.memory.grow(made->bytes.size() - earlier.bytes->size(), bounds_); !taken)
      return failed_change(mcp::refusal_of(taken.error()), what.given);
  earlier.bytes = std::move(made->bytes);
  if (what.is_executable) earlier.is_executable = what.is_executable;
  file.lines_that_differ.insert(file.lines_that_differ.end(), made->lines_that_differ.begin(),
                                made->lines_that_differ.end());
  return {};
}

result<void, failed_change> change_planner::create(const target& what, std::string bytes) {
  return push({.action = change_action::create,
               .path = decode_name(what.given),
               .bytes = std::move(bytes),
               .is_executable = what.is_executable},
              {.given = std::string(what.given)});
}

result<void, failed_change> change_planner::write(const target& what, std::string text) {
  PADDOCK_CHECK(take_file(what.given, resolved(what.given, final_link::follow)));
  planned_file file{.given = std::string(what.given)};
  auto content = read(what, file);
  if (!content && content.error().code == error_code::not_found && what.hash.empty())
    return create(what, std::move(text));
  PADDOCK_TRY(std::string before, std::move(content));
  auto bytes = encoded_as(before, std::move(text));
  if (!bytes) return failed_change(refusal_of_text(bytes.error()), what.given);
  return push({.action = change_action::replace,
               .path = decode_name(what.given),
               .bytes = *std::move(bytes),
               .before = std::move(before)},
              std::move(file));
}

result<void, failed_change> change_planner::take_away(const target& what, const maker* remainder) {
  planned_file file{.given = std::string(what.given)};
  std::string path = decode_name(what.given);
  const auto where = root_.locate(path, final_link::keep);
  if (!where) return failed_change(mcp::refusal_of(where.error()), what.given);
  PADDOCK_CHECK(take_file(what.given, where->path));
  file_change change{.action = change_action::remove, .path = std::move(path)};
  if (!what.move_to.empty()) {
    PADDOCK_CHECK(take_file(what.move_to, resolved(what.move_to, final_link::keep)));
    change.action = change_action::move;
    change.from = std::exchange(change.path, decode_name(what.move_to));
  }
  const bool is_link = where->existing && where->existing->kind == entry_kind::symlink;
  if (!is_link || !what.hash.empty() || remainder != nullptr) {
    PADDOCK_TRY(std::string content, read(what, file));
    if (remainder != nullptr) {
      auto rest = (*remainder)(content);
      if (!rest) return failed_change(std::move(rest.error().why), what.given);
      if (!rest->bytes.empty())
        return failed_change(
            plain(error_code::no_match,
                  "the patch deletes this file, but shows only a part of its lines; read it again"),
            what.given);
    }
    if (!is_link) change.before = std::move(content);
  }
  return push(std::move(change), std::move(file));
}

change_planner::maker change_planner::maker_of(const std::vector<edit_step>& steps,
                                               std::string list) const {
  return [this, &steps,
          list = std::move(list)](std::string_view content) -> result<made_text, failed_change> {
    PADDOCK_TRY(edited_content edited,
                edit_content(content, steps, list, file_bytes_max_, bounds_));
    made_text made{.bytes = std::move(edited.bytes), .lines_that_differ = {}};
    for (const edited_place& place : edited.places)
      made.lines_that_differ.insert(made.lines_that_differ.end(), place.lines_that_differ.begin(),
                                    place.lines_that_differ.end());
    return made;
  };
}

change_planner::maker change_planner::maker_of(const file_patch& patch) const {
  return [this, &patch](std::string_view content) -> result<made_text, failed_change> {
    if (patch.hunks.empty())
      return made_text{.bytes = std::string(content), .lines_that_differ = {}};
    const auto failed = [&](refusal why) {
      why.hash = hash_of(content);
      return failed_change(std::move(why));
    };
    const auto text = text_of(content);
    if (!text) return failed(refusal_of_text(text.error()));
    const auto wanted = [this] { return bounds_.check().has_value(); };
    auto patched = apply_hunks(text->text(), patch.hunks, matching_, wanted);
    if (!patched && patched.error().code == error_code::cancelled)
      return failed(mcp::refusal_of(
          bounds_.check() ? error(patched.error()) : bounds_.check().error(),
          "nothing was changed; call again when less is going on, or give a smaller patch"));
    if (!patched) return failed(refusal_of(text->text(), patch.hunks, patched.error(), bounds_));
    auto bytes = encode_text(std::move(patched->text), text->mark);
    if (!bytes) return failed(refusal_of_text(bytes.error()));
    made_text made{.bytes = std::move(*bytes), .lines_that_differ = {}};
    for (const hunk_place& place : patched->hunks)
      made.lines_that_differ.insert(made.lines_that_differ.end(), place.lines_that_differ.begin(),
                                    place.lines_that_differ.end());
    return made;
  };
}

result<void, failed_change> change_planner::add(json_view change, std::size_t number) {
  const std::string name = "changes[" + std::to_string(number) + "]";
  now_ = name;
  target what{.given = change["path"].string().value_or(""),
              .move_to = change["moveTo"].string().value_or(""),
              .hash = change["ifHash"].string().value_or("")};
  if (const std::string problem = problem_of(change); !problem.empty())
    return failed_change(plain(error_code::invalid_argument, name + ": " + problem), what.given);
  const std::vector<edit_step> steps = steps_of(change["edits"], matching_);
  if (auto wrong = contradiction_in(steps, name + ".edits"))
    return failed_change(*std::move(wrong), what.given);
  const auto make = [&]() -> result<void, failed_change> {
    for (const std::string_view path : {what.given, what.move_to})
      if (std::string words = home_words(root_, path); !words.empty())
        return failed_change(plain(error_code::invalid_argument, std::move(words)), path);
    if (!steps.empty()) return edit(what, maker_of(steps, name + ".edits"));
    if (const auto text = change["text"].string()) return write(what, std::string(*text));
    return take_away(what);
  };
  if (!change["paths"].exists()) return make();
  result<void, failed_change> done;
  change["paths"].for_each_element([&](json_view path) {
    if (!done) return;
    what.given = path.string().value_or("");
    done = make();
  });
  return done;
}

result<void, failed_change> change_planner::add(const file_patch& patch) {
  const std::string path = encode_name(patch.path), from = encode_name(patch.from);
  const maker make = maker_of(patch);
  now_ = the_patch;
  target what{.given = path, .is_executable = patch.is_executable};
  planned_file source;
  std::string content;
  switch (patch.action) {
  case patch_action::edit:
    return edit(what, make);
  case patch_action::move:
    what.given = from;
    what.move_to = path;
    return patch.hunks.empty() && !patch.is_executable ? take_away(what) : edit(what, make);
  case patch_action::remove:
    return take_away(what, patch.hunks.empty() ? nullptr : &make);
  case patch_action::copy: {
    PADDOCK_TRY(content, read({.given = from}, source));
    if (!what.is_executable) what.is_executable = source.was_executable;
    break;
  }
  case patch_action::create:
    break;
  }
  auto made = make(content);
  if (!made) return failed_change(std::move(made.error().why), path);
  PADDOCK_CHECK(take_file(path, resolved(path, final_link::keep)));
  return create(what, std::move(made->bytes));
}

} // namespace paddock::mcp
