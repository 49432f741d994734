// SPDX-License-Identifier: MIT

// The tool editFile.

#include "mcp/tools/edits.hpp"

#include "mcp/tools/refusals.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/file/file.hpp>
#include <paddock/text/detail/line_breaks.hpp>
#include <paddock/text/unified_diff.hpp>

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t diff_bytes_max = std::size_t{8} * 1024;
constexpr std::size_t diffed_bytes_max = std::size_t{32} * 1024 * 1024;
constexpr std::uint64_t diffed_lines_max = 2'000'000; ///< of both texts
constexpr std::uint64_t bytes_for_line = 80;          ///< that a comparison takes

bool has_beyond_ascii(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

/// What is said of texts that were not compared.
unified_diff_text not_compared() {
  return {.text = {}, .added = 0, .removed = 0, .hunks = 1, .hunks_left_out = 1};
}

/// What the answer tells of them.
struct shown_edits {
  std::string hash{}; ///< of the file after the call
  std::vector<edited_place> places{};
  std::optional<std::string> before{}, after{}; ///< where they are compared
  memory_share memory{};                        ///< for these
  /// Keeps both contents, if there is room beside what the rewriting holds.
  void keep(std::string_view old_content, std::string_view content, work_bounds bounds) {
    bounds.held = old_content.size() + content.size();
    if (std::max(old_content.size(), content.size()) > diffed_bytes_max) return;
    if (!memory.grow(bounds.held, bounds)) return;
    before = old_content;
    after = content;
  }
};

} // namespace

result<std::string, text_fault> file_text::bytes_of(std::string text) const {
  if (apart.empty()) return encode_text(std::move(text), mark);
  return text.insert(0, apart);
}

result<file_text, text_fault> text_of(std::string_view content, mark_of_utf8 how) {
  file_text out{.content = content, .decoded = {}, .mark = utf16_mark_of(content)};
  if (how == mark_of_utf8::is_apart && content.starts_with(utf8_mark)) {
    out.apart = content.substr(0, utf8_mark.size());
    out.content.remove_prefix(utf8_mark.size());
  }
  if (out.mark == utf16_mark::none) return out;
  PADDOCK_TRY(decoded_text decoded, decode_text(std::string(content)));
  out.decoded = std::move(decoded.text);
  return out;
}

bool has_utf8(std::string_view text) {
  return has_beyond_ascii(text) && detail::is_valid_utf8(text);
}

bool is_of_other_encoding(std::string_view content) {
  if (utf16_mark_of(content) != utf16_mark::none) return false;
  const std::size_t first = detail::first_invalid_utf8(content);
  if (first == content.size() || has_beyond_ascii(content.substr(0, first))) return false;
  for (std::string_view rest = content.substr(first); !rest.empty();) {
    if (detail::first_sequence(rest).size > 1) return false;
    rest.remove_prefix(1);
  }
  return true;
}

refusal refusal_of_encoding(std::string_view added) {
  return {.code = error_code::not_text,
          .words = std::string("the file is not UTF-8, and ")
                       .append(added)
                       .append(" has characters beyond ASCII, which would stand as UTF-8 between "
                               "what is there; leave them out, or change the file with exec")
                       .append(unchanged),
          .edit = {},
          .lines = {},
          .nearest = {},
          .hash = {}};
}

result<std::string, text_fault> encoded_as(std::string_view content, std::string text) {
  const utf16_mark mark = utf16_mark_of(content);
  if (text.empty() || mark == utf16_mark::none) return text;
  return encode_text(std::move(text), mark);
}

refusal refusal_of_text(const text_fault& fault) {
  refusal out = refusal_of(fault);
  out.words = "the file cannot be read as the UTF-16 that its first bytes say it is: " +
              std::string(fault.operation) + ", at byte offset " + std::to_string(fault.offset) +
              "; change it with exec" + std::string(unchanged);
  return out;
}

std::vector<edit_step> steps_of(json_view edits, text_matching matching) {
  std::vector<edit_step> steps;
  steps.reserve(edits.size());
  const auto count = [](json_view value) -> std::optional<std::uint64_t> {
    if (const auto given = value.integer()) return static_cast<std::uint64_t>(*given);
    return std::nullopt;
  };
  edits.for_each_element([&](json_view each) {
    edit_step step{.old_text = each["oldText"].string().value_or(""),
                   .new_text = each["newText"].string().value_or("")};
    step.matching = matching;
    if (each["all"].boolean().value_or(false)) step.places = edit_places::all;
    step.occurrences = count(each["occurrences"]);
    step.near_line_index = count(each["line"]);
    if (step.near_line_index) --*step.near_line_index;
    steps.push_back(step);
  });
  return steps;
}

std::optional<refusal> contradiction_in(std::span<const edit_step> steps, std::string_view list) {
  const auto both = std::ranges::find_if(steps, [](const edit_step& step) {
    return step.places == edit_places::all && step.near_line_index;
  });
  if (both == steps.end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(both - steps.begin());
  return refusal{.code = error_code::invalid_argument,
                 .words = std::string(list) + "[" + std::to_string(index) +
                          "]: all replaces every place, and line one of them; give all or line",
                 .edit = index,
                 .lines = {},
                 .nearest = {},
                 .hash = {}};
}

unified_diff_text diff_of(std::string_view before, std::string_view after,
                          const unified_diff_options& options, const work_bounds& bounds) {
  if (before == after) return {};
  if (std::max(before.size(), after.size()) > diffed_bytes_max) return not_compared();
  const auto old_text = text_of(before), new_text = text_of(after);
  if (!old_text || !new_text) return not_compared();
  const std::uint64_t lines =
      detail::count_breaks(old_text->text()).all + detail::count_breaks(new_text->text()).all;
  work_bounds beside = bounds; // the texts, for which the call holds memory
  beside.held = std::max(beside.held, std::uint64_t{1});
  memory_share memory;
  if (lines > diffed_lines_max || !memory.grow(lines * bytes_for_line, beside))
    return not_compared();
  return unified_diff(old_text->text(), new_text->text(), options,
                      [&] { return bounds.check().has_value(); });
}

bool is_counted(const unified_diff_text& diff) {
  return diff.added + diff.removed > 0 || diff.hunks == 0;
}

void write_counts(json_writer& out, const unified_diff_text& diff) {
  if (!is_counted(diff)) return;
  out.key("added").unsigned_integer(diff.added);
  out.key("removed").unsigned_integer(diff.removed);
}

result<edited_content, failed_change> edit_content(std::string_view content,
                                                   std::span<const edit_step> steps,
                                                   std::string_view list, std::uint64_t bytes_max,
                                                   const work_bounds& bounds) {
  const auto failed = [&](refusal why) {
    why.hash = hash_of(content);
    return failed_change(std::move(why));
  };
  const bool shows_mark = std::ranges::any_of(
      steps, [](const edit_step& step) { return step.old_text.starts_with(utf8_mark); });
  const auto text = text_of(content, shows_mark ? mark_of_utf8::is_text : mark_of_utf8::is_apart);
  if (!text) return failed(refusal_of_text(text.error()));
  const auto adds =
      std::ranges::find_if(steps, [](const edit_step& step) { return has_utf8(step.new_text); });
  if (adds != steps.end() && is_of_other_encoding(content)) {
    const auto number = static_cast<std::size_t>(adds - steps.begin());
    refusal why =
        refusal_of_encoding(std::string(list) + "[" + std::to_string(number) + "].newText");
    why.edit = number;
    return failed(std::move(why));
  }
  auto made = apply_edits(text->text(), steps, {.bytes_max = bytes_max},
                          [&] { return bounds.check().has_value(); });
  if (!made && made.error().code == error_code::cancelled)
    return failed(refusal_of(bounds.check() ? error(made.error()) : bounds.check().error(),
                             "nothing was changed; call again when less is going on, or give fewer "
                             "edits"));
  if (!made) return failed(refusal_of(text->text(), steps, made.error(), list, bounds));
  auto bytes = text->bytes_of(std::move(made->text));
  if (!bytes) return failed(refusal_of_text(bytes.error()));
  return edited_content{std::move(*bytes), std::move(made->steps)};
}

tool_result edit_file(workspace_state& state, call& c) {
  const std::string_view given = text_argument(c, "path");
  const std::string path = path_argument(c, "path");
  const std::vector<edit_step> steps = steps_of(c.arguments()["edits"]);
  if (const auto wrong = contradiction_in(steps, "edits")) return refused(*wrong, given);
  const bool is_trial = c.arguments()["dryRun"].boolean().value_or(false);
  wanted_hash wanted(text_argument(c, "ifHash"));
  const edit_options options{.durability = state.options.durability,
                             .file_bytes_max = state.limits.edit_file_bytes_max,
                             .bounds = bounds_of(state, c),
                             .only_if = wanted.check()};
  const auto found = inspect(*state.root, path);
  const std::string name = encode_name(found ? found->path : path);
  const std::string old_name = "a/" + name, new_name = "b/" + name;
  std::optional<refusal> why;
  shown_edits done;
  const auto make = [&](std::string_view content) -> result<std::optional<std::string>> {
    why.reset();
    auto made = edit_content(content, steps, "edits", options.file_bytes_max, options.bounds);
    if (!made) {
      why = std::move(made.error().why);
      return error(made.error());
    }
    done = {.hash = hash_of(is_trial ? content : made->bytes), .places = std::move(made->places)};
    done.keep(content, made->bytes, options.bounds);
    if (is_trial || made->bytes == content) return std::optional<std::string>();
    return std::optional(std::move(made->bytes));
  };
  c.may_block();
  const auto changed = rewrite_file(*state.root, path, make, options);
  if (!changed && why) return refused(*why, given);
  if (!changed && wanted.explains(changed.error()))
    return wanted.refuse(changed.error(), c, "path");
  if (!changed) {
    refusal failed = refusal_of(changed.error(), similar_words(*state.root, changed.error(), path));
    if (changed.error().code != error_code::io) say_also(failed, ""); // a disk may have it half
    return refused(failed, given);
  }
  object_result out;
  out.text("path", encode_name(*changed));
  out.writer().key("applied").boolean(!is_trial);
  out.text("hash", done.hash);
  out.writer().key("edits").begin_array();
  for (const edited_place& place : done.places) {
    out.writer().begin_object().key("line").unsigned_integer(place.line_index + 1);
    out.writer().key("occurrences").unsigned_integer(place.occurrences).end_object();
  }
  out.writer().end_array();
  unified_diff_text diff = not_compared();
  if (done.before)
    diff = diff_of(*done.before, *done.after,
                   {.bytes_max = std::min(diff_bytes_max, result_bytes_max(c) / 4),
                    .before_name = old_name,
                    .after_name = new_name},
                   options.bounds);
  out.text("diff", diff.text);
  if (diff.hunks_left_out > 0) out.writer().key("diffTruncated").boolean(true);
  return out.take();
}

} // namespace paddock::mcp
