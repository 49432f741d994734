// SPDX-License-Identifier: MIT
#include "operations.hpp"

#include <paddock/file/allowed_file.hpp>
#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>

namespace paddock::test {

void expect_inside(std::string_view bytes) {
  EXPECT_EQ(bytes.find(outside_mark), std::string_view::npos) << bytes;
}

namespace {

/// What somebody sees who opens a name from a directory that was found.
result<void> look_from(const file_descriptor& directory) {
  const file_descriptor file(
      ::openat(directory.get(), marker_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::array<char, 64> bytes{};
  if (!file || ::read(file.get(), bytes.data(), bytes.size()) <= 0)
    return error{error_code::not_found, errno, "look"};
  expect_inside(bytes.data());
  return {};
}

/// What was read is inside.
template <class T, class E, class Bytes>
result<void> inside(const result<T, E>& got, Bytes T::* bytes) {
  if (got) expect_inside((*got).*bytes);
  return outcome_of(got);
}

constexpr operation file_rows[] = {
    {"read",
     [](const victim& v) {
       return inside(read_file(v.r(), v.in(victim_name)), &file_content::bytes);
     }},
    {"read_prefix",
     [](const victim& v) {
       return inside(read_prefix(v.r(), v.in(victim_name), 16), &file_content::bytes);
     }},
    {"read_lines",
     [](const victim& v) {
       return inside(read_lines(v.r(), v.in(victim_name), {.from = 0, .to = 1}), &line_slice::text);
     }},
    {"read_allowed_file",
     [](const victim& v) {
       const auto got = read_allowed_file(v.r(), v.in(victim_name));
       if (got) expect_inside(*got);
       return outcome_of(got);
     }},
    {"write",
     [](const victim& v) {
       return outcome_of(write_file(v.r(), v.in(victim_name), "INSIDE, new"));
     }},
    {"write_new",
     [](const victim& v) {
       const auto done = write_file(v.r(), v.in(new_name), "INSIDE, new");
       v.at.clear(new_name);
       return outcome_of(done);
     }},
    {"append",
     [](const victim& v) { return outcome_of(append_file(v.r(), v.in(victim_name), ", more")); }},
    {"edit",
     [](const victim& v) {
       const text_edit change{.old_text = "SIDE", .new_text = "SIDE."};
       return outcome_of(edit_file(v.r(), v.in(victim_name), change));
     }},
    {"list",
     [](const victim& v) {
       const auto got = list_directory(v.r(), v.in("sub/deep"));
       if (got) {
         EXPECT_EQ(got->names.find("secret"), std::string::npos);
       }
       return outcome_of(got);
     }},
    {"list_home",
     [](const victim& v) { // with a link to a file outside among the entries
       const auto got = list_directory(v.r(), v.path);
       if (!got) return outcome_of(got);
       for (const auto& entry : got->entries) {
         EXPECT_NE(entry.size, outside_mark.size() + 7) << got->name(entry);
       }
       return outcome_of(got);
     }},
    {"inspect",
     [](const victim& v) {
       const auto got = inspect(v.r(), v.in(victim_name));
       if (got) {
         EXPECT_NE(got->status.size, outside_mark.size() + 7);
         EXPECT_NE(got->status.kind, entry_kind::symlink);
       }
       return outcome_of(got);
     }},
    {"open_directory",
     [](const victim& v) {
       const auto at = v.r().open_beneath(v.path, access::directory);
       return at ? look_from(at->fd) : outcome_of(at);
     }},
    {"working_directory", // as commands get it
     [](const victim& v) -> result<void> {
       const auto at = v.r().open_beneath(v.path, access::inspect);
       if (!at) return at.error();
       if (at->status.kind != entry_kind::directory)
         return error{error_code::not_a_directory, 0, "look"};
       return look_from(at->fd);
     }},
    {"move_away",
     [](const victim& v) {
       const auto done = move_entry(v.r(), v.in(victim_name), "arrived");
       if (done) {
         EXPECT_TRUE(remove_file(v.r(), "arrived").has_value());
       }
       return outcome_of(done);
     }},
    {"move_here",
     [](const victim& v) {
       (void)write_file(v.r(), "traveller", "INSIDE");
       const auto done = move_entry(v.r(), "traveller", v.in(new_name));
       v.at.clear(new_name);
       return outcome_of(done);
     }},
    {"move_directory",
     [](const victim& v) {
       const auto done = move_entry(v.r(), v.in("sub"), "arrived");
       if (done) {
         EXPECT_TRUE(remove_directory(v.r(), "arrived", {.recursive = recursion::yes}).has_value());
       }
       return outcome_of(done);
     }},
    {"remove_file",
     [](const victim& v) { return outcome_of(remove_file(v.r(), v.in(victim_name))); }},
    {"create_directory",
     [](const victim& v) {
       const auto done = create_directory(v.r(), v.in("new/er"));
       v.at.clear("new/er");
       v.at.clear("new");
       return outcome_of(done);
     }},
    {"remove_directory",
     [](const victim& v) {
       return outcome_of(remove_directory(v.r(), v.in("sub"), {.recursive = recursion::yes}));
     }},
};

} // namespace

std::span<const operation> operations_on_files() {
  return file_rows;
}

} // namespace paddock::test
