// SPDX-License-Identifier: MIT
#include "mcp/tools/change_planner.hpp"

#include "mcp/tools/change_words.hpp"
#include "mcp/tools/edits.hpp"

#include <paddock/path/lexical_path.hpp>
#include <paddock/text/detail/line_breaks.hpp>
#include <paddock/text/text_edit.hpp>

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t files_max = 1000;

/// Whether a line of the patch is such.
template <class Is> bool has_line(const file_patch& patch, const Is& is) {
  return std::ranges::any_of(
      patch.hunks, [&](const patch_hunk& hunk) { return std::ranges::any_of(hunk.lines, is); });
}

/// What is wrong with the members of a change, as a whole.
std::string problem_of(json_view change) {
  const auto has = [&](std::string_view name) { return change[name].exists(); };
  const bool removes = change["delete"].boolean().value_or(false);
  const int contents = int{has("edits")} + int{has("text")} + int{removes};
  if (has("path") == has("paths")) return "give either path or paths";
  if (contents == 0 && !has("moveTo"))
    return "nothing to change; give edits, text, delete or moveTo";
  if (contents > 1) return "give one of edits, text and delete";
  if (has("moveTo") && (has("text") || removes)) return "moveTo goes with edits, or alone";
  if (has("paths") && (has("text") || has("moveTo") || has("ifHash")))
    return "paths goes with edits or delete; text, moveTo and ifHash go with one path";
  return {};
}

} // namespace

std::string change_planner::resolved(std::string_view given, final_link last) const {
  std::string path = decode_name(given);
  if (const auto where = root_.locate(path, last)) return where->path;
  return normalize_lexically(path);
}

result<void, failed_change> change_planner::take_file(std::string_view given,
                                                      const std::string& path) {
  const auto [found, is_first] =
      claims_.try_emplace(path, claim{now_, std::string(given), plan_.changes.size()});
  if (is_first) {
    auto why = misled(root_, decode_name(given));
    if (!why) return {};
    return failed_change(plain(why->code, std::move(why->words)), given);
  }
  const claim& other = found->second;
  std::string words = now_;
  if (other.by != now_)
    words += " names a file that " + other.by + " names too (as " + shown(other.given) +
             "); give each file one change, with all of its edits in it";
  else if (now_ != the_patch)
    words += " names this file twice (also as " + shown(other.given) + "); name it once";
  else if (other.is_refused)
    words = "not tried, because an earlier part of the patch for this file was refused";
  else if (other.is_left)
    words += " names this file after it has moved it away; name it as it is called by then, or "
             "split the patch here and apply one part after the other";
  else
    words += " changes this file again in a way that cannot be one change with the part before; "
             "split the patch here and apply one part after the other";
  return failed_change(plain(error_code::invalid_argument, std::move(words)), given);
}

result<void, failed_change> change_planner::push(file_change change, planned_file file) {
  if (plan_.files.size() == files_max)
    return failed_change(
        plain(error_code::too_many, "more than " + std::to_string(files_max) +
                                        " files in one call; make the change in several"),
        file.given);
  const std::uint64_t bytes = change.bytes ? change.bytes->size() : 0;
  if (auto taken = plan_.memory.grow(bytes, options_.bounds); !taken)
    return failed_change(mcp::refusal_of(taken.error()), file.given);
  plan_.changes.push_back(std::move(change));
  plan_.files.push_back(std::move(file));
  return {};
}

work_bounds change_planner::bounds_now() const {
  work_bounds bounds = options_.bounds;
  bounds.held = plan_.memory.bytes();
  return bounds;
}

result<std::string, failed_change> change_planner::read(const target& what, planned_file& file) {
  wanted_hash wanted(what.hash);
  auto content = read_file(root_, decode_name(what.given),
                           {.bytes_max = options_.file_bytes_max, .bounds = bounds_now()});
  if (!content && wanted.explains(content.error()))
    return failed_change(wanted.why(content.error()), what.given);
  if (!content) {
    const error& why = content.error();
    const std::string similar = similar_words(root_, why, decode_name(what.given));
    return failed_change(mcp::refusal_of(why, similar), what.given);
  }
  if (!wanted(content->bytes))
    return failed_change(wanted.why({error_code::stale, 0, "hash"}), what.given);
  plan_.memory.join(std::move(content->memory));
  file.was_executable = (content->status.mode & 0100U) != 0;
  return std::move(content->bytes);
}

result<void, failed_change> change_planner::lead_elsewhere(file_change& change,
                                                           std::string_view move_to) {
  const std::string to = resolved(move_to, final_link::keep);
  if (to == resolved(encode_name(change.path), final_link::keep))
    return failed_change(plain(error_code::invalid_argument,
                               "moveTo is where the file is already; leave it out, or name "
                               "another place"),
                         move_to);
  PADDOCK_CHECK(take_file(move_to, to));
  if (change.action == change_action::replace || change.action == change_action::remove) {
    change.action = change_action::move;
    change.from = std::move(change.path);
  }
  change.path = decode_name(move_to);
  return {};
}

result<void, failed_change> change_planner::check_no_link(std::string_view given) const {
  const auto where = root_.locate(decode_name(given), final_link::keep);
  if (!where || !where->existing || where->existing->kind != entry_kind::symlink) return {};
  return failed_change(plain(error_code::invalid_argument,
                             "this is a symbolic link: an edit is of the file that it leads to, a "
                             "move of the link; name the file itself, or make two changes of it"),
                       given);
}

result<void, failed_change> change_planner::edit(const target& what, const maker& make) {
  if (file_change* const earlier = made_before(what.given)) return edit_again(*earlier, what, make);
  std::string path = resolved(what.given, final_link::follow);
  PADDOCK_CHECK(take_file(what.given, path));
  const bool is_moved = !what.move_to.empty();
  if (is_moved) PADDOCK_CHECK(check_no_link(what.given));
  planned_file file{.given = std::string(what.given)};
  PADDOCK_TRY(std::string content, read(what, file));
  auto made = make(content);
  if (!made) return named(std::move(made.error()), what.given);
  file.loose = std::move(made->loose);
  file_change change{.action = change_action::replace, .path = std::move(path)};
  if (is_moved) PADDOCK_CHECK(lead_elsewhere(change, what.move_to));
  change.before = std::move(content);
  change.bytes = std::move(made->bytes);
  change.is_executable = what.is_executable;
  return push(std::move(change), std::move(file));
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

failed_change change_planner::shows_only_a_part(std::string_view given) {
  return failed_change(
      plain(error_code::no_match,
            "the patch deletes this file, but does not show all of its lines; show them, or "
            "delete it without a patch"),
      given);
}

result<void, failed_change> change_planner::take_away(const target& what, const maker* remainder) {
  planned_file file{.given = std::string(what.given)};
  std::string path = decode_name(what.given);
  const auto where = root_.locate(path, final_link::keep);
  if (!where) return failed_change(mcp::refusal_of(where.error()), what.given);
  PADDOCK_CHECK(take_file(what.given, where->path));
  file_change change{.action = change_action::remove, .path = std::move(path)};
  if (!what.move_to.empty()) PADDOCK_CHECK(lead_elsewhere(change, what.move_to));
  const bool is_link = where->existing && where->existing->kind == entry_kind::symlink;
  if (!is_link || !what.hash.empty() || remainder != nullptr) {
    PADDOCK_TRY(std::string content, read(what, file));
    if (remainder != nullptr) {
      auto rest = (*remainder)(content);
      if (!rest) return named(std::move(rest.error()), what.given);
      if (!rest->bytes.empty()) return shows_only_a_part(what.given);
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
                edit_content(content, steps, list, options_.file_bytes_max, options_.bounds));
    made_text made{.bytes = std::move(edited.bytes)};
    for (const edited_place& place : edited.places)
      made.loose.add(place.differing_line_indexes, place.indentation);
    return made;
  };
}

change_planner::maker change_planner::maker_of(const file_patch& patch) const {
  return [this, &patch](std::string_view content) -> result<made_text, failed_change> {
    if (patch.hunks.empty()) return made_text{.bytes = std::string(content)};
    const auto failed = [&](refusal why) {
      why.hash = hash_of(content);
      return failed_change(std::move(why));
    };
    const bool shows_mark = has_line(patch, [](const hunk_line& line) {
      return line.action != line_action::add && line.text.starts_with(utf8_mark);
    });
    const auto text = text_of(content, shows_mark ? mark_of_utf8::is_text : mark_of_utf8::is_apart);
    if (!text) return failed(refusal_of_text(text.error()));
    const bool adds = has_line(patch, [](const hunk_line& line) {
      return line.action == line_action::add && has_utf8(line.text);
    });
    if (adds && is_of_other_encoding(content)) return failed(refusal_of_encoding("the patch"));
    auto made = patched(text->text(), patch.hunks);
    if (!made) {
      made.error().why.hash = hash_of(content);
      return std::move(made).error();
    }
    auto bytes = text->bytes_of(std::move(made->text));
    if (!bytes) return failed(refusal_of_text(bytes.error()));
    made_text out{.bytes = std::move(*bytes)};
    for (const hunk_place& place : made->hunks)
      out.loose.add(place.differing_line_indexes, place.indentation);
    return out;
  };
}

result<patched_text, failed_change>
change_planner::patched(std::string_view text, std::span<const patch_hunk> hunks) const {
  const auto wanted = [this] { return options_.bounds.check().has_value(); };
  const auto no_time = [this](const error& why) {
    const auto bound = options_.bounds.check();
    return mcp::refusal_of(
        bound ? why : bound.error(),
        "nothing was changed; call again when less is going on, or give a smaller patch");
  };
  const std::uint64_t line_bytes = options_.matching == text_matching::exact ? 60 : 120;
  memory_share of_lines; // for their index
  const std::uint64_t lines = detail::count_breaks(text).all;
  if (const auto taken = of_lines.grow(line_bytes * lines, bounds_now()); !taken)
    return failed_change(mcp::refusal_of(taken.error()));
  std::vector<patch_hunk> left(hunks.begin(), hunks.end());
  std::vector<std::size_t> numbers(left.size()); // of each that is left
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = i;
  std::vector<refusal> refusals;
  for (;;) {
    auto made = apply_hunks(text, left, options_.matching, wanted);
    if (made && refusals.empty()) return *std::move(made);
    if (made) break;
    hunk_failure& failure = made.error();
    if (failure.code == error_code::cancelled) return failed_change(no_time(failure));
    const auto at = static_cast<std::ptrdiff_t>(failure.hunk);
    failure.hunk = numbers[failure.hunk];
    refusals.push_back(refusal_of(text, hunks, failure, options_.matching, options_.bounds));
    if (failure.code == error_code::too_large || refusals.size() >= options_.refusals_max) break;
    left.erase(left.begin() + at);
    numbers.erase(numbers.begin() + at);
  }
  failed_change out(std::move(refusals.front()));
  refusals.erase(refusals.begin());
  out.more = std::move(refusals);
  return out;
}

result<void, failed_change> change_planner::add(json_view change, std::size_t number) {
  const std::string name = "changes[" + std::to_string(number) + "]";
  now_ = name;
  target what{.given = change["path"].string().value_or(""),
              .move_to = change["moveTo"].string().value_or(""),
              .hash = change["ifHash"].string().value_or("")};
  if (const std::string problem = problem_of(change); !problem.empty())
    return failed_change(plain(error_code::invalid_argument, name + ": " + problem), what.given);
  const std::vector<edit_step> steps = steps_of(change["edits"], options_.matching);
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
    if (!done && done.error().code == error_code::not_found)
      say_also(done.error().why, ", or leave it out of paths");
  });
  return done;
}

} // namespace paddock::mcp
