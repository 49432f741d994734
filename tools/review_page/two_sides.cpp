// SPDX-License-Identifier: MIT
#include "two_sides.hpp"

#include <paddock/file/file.hpp>
#include <paddock/mime/mime.hpp>
#include <paddock/text/utf16.hpp>

#include <algorithm>
#include <utility>

namespace paddock::review_page {
namespace {

constexpr std::string_view image_types[] = {"image/png",  "image/jpeg", "image/gif",
                                            "image/webp", "image/bmp",  "image/avif"};

/// The form of bytes that are known.
void recognise(side& one) {
  const std::string_view prefix = std::string_view(one.bytes).substr(0, mime::sniff_bytes);
  const auto* type = std::ranges::find(image_types, mime::sniff(prefix).type);
  if (type != std::ranges::end(image_types)) {
    one.form = side_form::image;
    one.image_type = *type;
    return;
  }
  auto text = text_to_show(one.bytes);
  if (!text) {
    one.form = side_form::binary;
  } else if (text->size() > text_bytes_max ||
             static_cast<std::size_t>(std::ranges::count(*text, '\n')) > text_lines_max) {
    one.form = side_form::too_large;
  } else {
    one.form = side_form::text;
    one.text = *std::move(text);
  }
}

/// What can be said without the bytes of a file; nothing: they are needed.
std::optional<side> without_bytes(const history::entry_state& state) {
  if (!state.exists || state.kind == entry_kind::directory) return side{};
  if (state.kind == entry_kind::symlink)
    return side{.form = side_form::text,
                .bytes = state.link_target + "\n",
                .text = state.link_target + "\n"};
  if (state.kind != entry_kind::file)
    return side{.form = side_form::unknown,
                .problem = std::string(history::reason_of(history::holding::special))};
  if (state.size > image_bytes_max) return side{.form = side_form::too_large};
  return std::nullopt;
}

side side_before(const reviewed& of, const history::entry_state& state) {
  if (auto known = without_bytes(state)) return *std::move(known);
  side out;
  if (state.held != history::holding::held || (state.content.empty() && state.size > 0)) {
    out.form = side_form::unknown;
    out.problem = history::reason_of(state.held == history::holding::held ? history::holding::lost
                                                                          : state.held);
    return out;
  }
  if (!state.content.empty()) {
    auto bytes = of.store->content(state.content);
    if (!bytes) {
      out.form = side_form::unknown;
      out.problem = history::reason_of(history::holding::lost);
      return out;
    }
    out.bytes = *std::move(bytes);
  }
  recognise(out);
  return out;
}

side side_after(const reviewed& of, const history::change& what, const work_bounds& bounds) {
  if (auto known = without_bytes(what.after)) return *std::move(known);
  side out;
  auto content =
      read_file(*of.workspace, what.path, {.bytes_max = image_bytes_max, .bounds = bounds});
  if (!content) {
    const error_code code = content.error().code;
    if (code == error_code::too_large) return {.form = side_form::too_large};
    out.form = side_form::unknown;
    out.problem = text(code);
    return out;
  }
  out.bytes = std::move(content->bytes);
  recognise(out);
  return out;
}

} // namespace

std::string_view name_of(side_form form) {
  constexpr std::string_view names[] = {"absent", "text", "image", "binary", "tooLarge", "unknown"};
  return names[static_cast<std::size_t>(form)];
}

bool two_sides::is_text() const {
  const auto fits = [](const side& one) {
    return one.form == side_form::text || one.form == side_form::absent;
  };
  return fits(before) && fits(after) &&
         (before.form == side_form::text || after.form == side_form::text);
}

result<history::change> change_at(const reviewed& of, std::optional<std::uint64_t> since,
                                  std::string_view path, const work_bounds& bounds) {
  history::change_query query{.since = since,
                              .paths = {std::string(path)},
                              .limit = 100'000,
                              .collapse = false,
                              .look = false,
                              .by = history::author::other,
                              .bounds = bounds};
  PADDOCK_TRY(history::change_list list, of.store->changes(query));
  for (history::change& each : list.changes)
    if (each.path == path) return std::move(each);
  return error{.code = error_code::not_found, .os_errno = 0, .operation = "change"};
}

two_sides sides_of(const reviewed& of, history::change what, const work_bounds& bounds) {
  two_sides out;
  out.before = side_before(of, what.before);
  out.after = side_after(of, what, bounds);
  out.change = std::move(what);
  return out;
}

} // namespace paddock::review_page
