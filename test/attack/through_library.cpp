// SPDX-License-Identifier: MIT

#include "performers.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>

namespace paddock::test::corpus {
namespace {

answer failed(const error& e) {
  return {.code = e.code, .text = {}, .raw = std::string(e.operation)};
}
answer done(std::string text) {
  return {.code = {}, .text = text, .raw = text};
}
template <class T, class Text> answer of(const result<T>& got, Text&& text) {
  return got ? done(text(*got)) : failed(got.error());
}

answer list(const root& r, const request& asked) {
  return of(list_directory(r, asked.path), [](const directory_listing& listing) {
    std::string names;
    for (const auto& entry : listing.entries)
      names.append(listing.name(entry)).append("\n");
    return names;
  });
}

answer enter(const root& r, const request& asked) {
  const auto found = r.open_beneath(asked.path, access::inspect);
  if (found && found->status.kind != entry_kind::directory)
    return {.code = error_code::not_a_directory, .text = {}, .raw = {}};
  return of(found, [](const opened& o) { return o.path; });
}

answer ask(const root& r, const request& asked) {
  const auto path = [](const std::string& resolved) { return resolved; };
  const auto path_of = [](const auto& outcome) { return outcome.path; };
  switch (asked.what) {
  case action::read:
    return of(read_file(r, asked.path), [](const file_content& f) { return f.bytes; });
  case action::read_part:
    return of(read_lines(r, asked.path, asked.lines), [](const line_slice& l) { return l.text; });
  case action::write:
    return of(write_file(r, asked.path, asked.other), path);
  case action::append:
    return of(append_file(r, asked.path, asked.other), path);
  case action::edit:
    return of(edit_file(r, asked.path, {.old_text = inside_mark, .new_text = "changed"}), path_of);
  case action::inspect:
    return of(inspect(r, asked.path), path_of);
  case action::list:
    return list(r, asked);
  case action::make_directory:
    return of(create_directory(r, asked.path), path);
  case action::remove_file:
    return of(remove_file(r, asked.path), path);
  case action::remove_directory:
    return of(remove_directory(r, asked.path), path_of);
  case action::remove_tree:
    return of(remove_directory(r, asked.path, {.recursive = recursion::yes}), path_of);
  case action::move:
    return of(move_entry(r, asked.path, asked.other), [](const moved& m) { return m.destination; });
  case action::enter:
    break;
  }
  return enter(r, asked);
}

class library final : public performer {
public:
  explicit library(workspaces of) : of_(std::move(of)) {}
  answer perform(const request& asked) override { return ask(*of_.on(asked.mounted), asked); }

private:
  workspaces of_;
};

} // namespace

std::unique_ptr<performer> through_library(workspaces of) {
  return std::make_unique<library>(std::move(of));
}

} // namespace paddock::test::corpus
