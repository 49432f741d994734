// SPDX-License-Identifier: MIT
#include "operations.hpp"

#include <paddock/skill/store.hpp>

namespace paddock::test {
namespace {

const import_options as_imported{.id = "imported", .overwrite = overwrite::replace};

template <class T, class E> result<void> judge(const victim& v, const result<T, E>& made) {
  if (made) expect_inside(made->description);
  v.at.clear_tree("skills/imported");
  return outcome_of(made);
}

result<void> judge(const result<std::shared_ptr<const skill_list>>& got) {
  if (!got) return got.error();
  for (const auto& s : (*got)->skills)
    expect_inside(s.description);
  // A directory that cannot be found any more is an empty list.
  if ((*got)->skills.empty()) return error{error_code::not_found, 0, "list"};
  return {};
}

const std::string& archive() {
  static const std::string bytes = [] {
    std::ifstream in(std::string(PADDOCK_TEST_ARCHIVES) + "/at-the-top.zip", std::ios::binary);
    EXPECT_TRUE(in);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  return bytes;
}

constexpr operation skill_rows[] = {
    {"skill_scan", [](const victim& v) { return judge(v.store.list()); }},
    {"skill_scan_anew",
     [](const victim& v) -> result<void> {
       const auto store = skill_store::open(v.base, {.user_directory = v.in("skills")});
       if (!store) return store.error();
       return judge(store->list());
     }},
    {"skill_find",
     [](const victim& v) {
       const auto got = v.store.find("s");
       if (got) expect_inside(got->description);
       return outcome_of(got);
     }},
    {"skill_files",
     [](const victim& v) {
       const auto got = v.store.files("s");
       if (got) {
         EXPECT_LE(got->size(), 1U);
       }
       return outcome_of(got);
     }},
    {"skill_add_and_remove",
     [](const victim& v) {
       const auto made = v.store.add("imported", "imported", "INSIDE, added");
       if (made) {
         expect_inside(made->description);
         (void)v.store.remove("imported").has_value(); // the attacker may be faster
       }
       return judge(v, made);
     },
     4},
    {"skill_edit",
     [](const victim& v) {
       return outcome_of(v.store.edit("s", {.name = {}, .description = "INSIDE, edited"}));
     },
     2},
    {"skill_import_folder",
     [](const victim& v) { return judge(v, v.store.import(v.folder, as_imported)); }, 4},
    {"skill_import_archive",
     [](const victim& v) {
       return judge(v, v.store.import_archive(archive(), "skill.zip", as_imported));
     },
     4},
};

} // namespace

std::span<const operation> operations_on_skills() {
  return skill_rows;
}

} // namespace paddock::test
