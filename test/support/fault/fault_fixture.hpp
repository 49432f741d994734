// SPDX-License-Identifier: MIT
#pragma once

// What the fault and the crash tests share: a workspace that can be set back to its beginning, a
// picture of it that can be compared, and the operations that are tried on it.

#ifdef PADDOCK_TEST_ZIP
#include "support/files/make_archive.hpp"
#endif
#include "support/fault/faulty_sys.hpp"
#include "support/files/temp_tree.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>
#include <paddock/skill/store.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <concepts>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test {

/// Path to kind, permission bits and content of everything in a directory.
using picture = std::map<std::string, std::string>;

/// By its name, as a person would tell; the library must not.
inline bool is_leftover(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  const auto digits = [](std::string_view text) {
    return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  };
  for (const std::string_view prefix : {".paddock-tmp-", ".staging-"})
    if (name.starts_with(prefix)) return digits(name.substr(prefix.size()));
  return false;
}

inline picture picture_of(const temp_tree& t, const std::string& top) {
  picture all;
  namespace fs = std::filesystem;
  for (const auto& entry : fs::recursive_directory_iterator(t / top)) {
    struct stat s {};
    const std::string path = entry.path().string();
    if (::lstat(path.c_str(), &s) != 0) continue;
    const std::string name = path.substr((t / top).size() + 1);
    std::string what = std::to_string(s.st_mode & 07777U) + ' ';
    if (S_ISREG(s.st_mode)) what += "file " + t.content(top + '/' + name);
    if (S_ISDIR(s.st_mode)) what += "directory";
    if (S_ISLNK(s.st_mode)) what += "link " + fs::read_symlink(entry.path()).string();
    all.emplace(name, what);
  }
  return all;
}

/// Whether all of `some` is in `all`, as it is there.
inline bool is_part_of(const picture& some, const picture& all) {
  for (const auto& [path, what] : some) {
    const auto there = all.find(path);
    if (there == all.end() || there->second != what) return false;
  }
  return true;
}

/// What lies at or beneath a leftover, taken out of a picture.
inline picture take_leftovers(picture& from) {
  picture taken;
  for (auto at = from.begin(); at != from.end();) {
    bool hidden = false;
    for (std::size_t end = 0; end != std::string::npos && !hidden;) {
      end = at->first.find('/', end == 0 ? 0 : end + 1);
      hidden = is_leftover(std::string_view(at->first).substr(0, end));
    }
    const auto here = at++;
    if (hidden) taken.insert(from.extract(here));
  }
  return taken;
}

struct outcome {
  std::optional<paddock::error> error;
  std::string answer; ///< what it said; empty for an error
};

/// The workspace of one try.
struct workbench {
  temp_tree t;
  std::optional<paddock::root> root;
  std::optional<skill_store> skills;
  std::optional<skill_store> durable_skills;
  /// A kernel without openat2 has file systems without files that have no name.
  nameless_files files = nameless_files::known;

  explicit workbench(resolver how)
      : files(how == resolver::walker ? nameless_files::unknown : nameless_files::known) {
    t.directory("ws");
    t.directory("state");
    if (::chmod((t / "state").c_str(), 0700) != 0) std::abort();
    t.directory("source/sub");
    t.file("source/SKILL.md", "---\nname: Imported\ndescription: From a folder.\n---\nBody\n");
    t.file("source/sub/a.txt", "a");
#ifdef PADDOCK_TEST_ZIP
    make_archive(t / "source.zip", {{"SKILL.md", "---\nname: Zip\ndescription: Packed.\n---\n"},
                                    {"sub/b.txt", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}});
#endif
    reset();
    auto opened = paddock::root::open(t / "ws", {.resolver = how});
    if (!opened) std::abort();
    root = std::move(*opened);
    auto own = paddock::root::open(t / "ws", {.resolver = how});
    if (!own) std::abort();
    auto store = skill_store::open(std::make_shared<const paddock::root>(*std::move(own)));
    if (!store) std::abort();
    skills = std::move(*store);
    auto durable = skill_store::open(skills->root_shared(), {.durability = durability::full});
    if (!durable) std::abort();
    durable_skills = std::move(*durable);
  }

  /// For changes of several files.
  [[nodiscard]] std::string state() const {
    return t / "state";
  }
  void sweep() const;
  void reset() const {
    for (const auto& entry : std::filesystem::directory_iterator(t / "state"))
      std::filesystem::remove(entry.path() / "record");
    for (const auto& entry : std::filesystem::directory_iterator(t / "ws"))
      std::filesystem::remove_all(entry.path());
    t.directory("ws/d/e/deep");
    t.directory("ws/empty");
    t.file("ws/f", "one\ntwo\nthree\n");
    t.file("ws/d/x", "x");
    t.file("ws/d/e/y", "y");
    t.file("ws/d/e/deep/z", "z");
    t.link("ws/l", "f");
    t.link("ws/dl", "d");
    t.directory("ws/.agents/skills/alpha/notes");
    t.file("ws/.agents/skills/alpha/SKILL.md", "---\nname: Alpha\ndescription: Old.\n---\nBody\n");
    t.file("ws/.agents/skills/alpha/notes/n.txt", "n");
  }
};

/// Lets the next operations of this process meet what is left.
inline void workbench::sweep() const {
  const picture all = picture_of(t, "ws");
  std::set<std::string> directories;
  for (const auto& [path, what] : all) {
    const auto slash = path.rfind('/');
    if (!is_leftover(path) || what.ends_with(" directory")) continue;
    directories.insert(slash == std::string::npos ? "." : path.substr(0, slash));
  }
  for (const auto& directory : directories) {
    EXPECT_TRUE(list_directory(*root, directory));
    EXPECT_TRUE(write_file(*root, directory + "/sweeper", ""));
  }
  EXPECT_TRUE(skills->add("sweeper", "Sweeper", "Comes next."));
}

enum class trait : unsigned char {
  none = 0,
  partial = 1,  ///< done in steps: what is left after a failure is some of the old
  late = 2,     ///< may fail after everything is done, when it looks at what it made
  degrades = 4, ///< may succeed and say that something could not be found out
  foreign = 8,  ///< another library makes calls of its own for it
};
constexpr trait operator|(trait a, trait b) {
  return static_cast<trait>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(trait all, trait one) {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}

struct operation {
  const char* name;
  std::function<outcome(const workbench&)> run;
  trait traits = trait::none;
};

template <class T, class E, class Say> outcome outcome_of(const result<T, E>& r, Say say) {
  if (!r) return {r.error(), ""};
  return {std::nullopt, say(*r)};
}
inline outcome outcome_of(const result<std::string>& r) {
  return outcome_of(r, [](const std::string& path) { return path; });
}
template <std::derived_from<skill> T, class E> outcome outcome_of(const result<T, E>& r) {
  return outcome_of(r, [](const skill& s) { return s.id + ": " + s.name + ", " + s.description; });
}
inline outcome outcome_of(const result<void>& r) {
  return r ? outcome{std::nullopt, "ok"} : outcome{r.error(), ""};
}

inline outcome list(const root& r, std::string_view path) {
  return outcome_of(list_directory(r, path), [](const directory_listing& listing) {
    std::string all;
    for (const auto& entry : listing.entries)
      all.append(listing.name(entry)).append(" ").append(std::to_string(entry.size)) += ';';
    return all;
  });
}

inline const std::vector<operation>& changing_operations() {
  static const write_options full{.durability = durability::full};
  static const std::string text(3000, 'n');
  static const std::vector<operation> all = {
      {"write_new",
       [](const workbench& w) { return outcome_of(write_file(*w.root, "new", text)); }},
      {"write_old", [](const workbench& w) { return outcome_of(write_file(*w.root, "f", text)); }},
      {"write_through_link",
       [](const workbench& w) { return outcome_of(write_file(*w.root, "dl/../l", text)); }},
      {"write_with_parents",
       [](const workbench& w) { return outcome_of(write_file(*w.root, "p/q/r/new", text)); }},
      {"write_durable_with_parents",
       [](const workbench& w) { return outcome_of(write_file(*w.root, "p/q/new", text, full)); }},
      {"write_durable",
       [](const workbench& w) { return outcome_of(write_file(*w.root, "f", text, full)); }},
      {"append", [](const workbench& w) { return outcome_of(append_file(*w.root, "f", text)); }},
      {"append_durable",
       [](const workbench& w) { return outcome_of(append_file(*w.root, "f", text, full)); },
       trait::late},
      {"edit",
       [](const workbench& w) {
         return outcome_of(edit_file(*w.root, "f", {.old_text = "two", .new_text = "2"}),
                           [](const edit_outcome& done) { return done.path; });
       }},
      {"edit_durable",
       [](const workbench& w) {
         return outcome_of(edit_file(*w.root, "l", {.old_text = "two", .new_text = "2"},
                                     {.durability = durability::full}),
                           [](const edit_outcome& done) { return done.path; });
       },
       trait::late}, // the sync, after a look at what came away
      {"rewrite",
       [](const workbench& w) {
         return outcome_of(rewrite_file(
             *w.root, "l", [](std::string_view content) -> result<std::optional<std::string>> {
               return std::optional(std::string(content) + text);
             }));
       }},
      {"move_file",
       [](const workbench& w) {
         return outcome_of(move_entry(*w.root, "f", "d/g"),
                           [](const moved& m) { return m.source + ' ' + m.destination; });
       }},
      {"move_durable",
       [](const workbench& w) {
         return outcome_of(move_entry(*w.root, "f", "p/g", {.durability = durability::full}),
                           [](const moved& m) { return m.source + ' ' + m.destination; });
       },
       trait::late},
      {"move_with_parents",
       [](const workbench& w) {
         return outcome_of(move_entry(*w.root, "d", "p/q/d"),
                           [](const moved& m) { return m.source + ' ' + m.destination; });
       }},
      {"remove_file", [](const workbench& w) { return outcome_of(remove_file(*w.root, "f")); }},
      {"remove_file_of_that_content",
       [](const workbench& w) {
         const auto has_bytes = [](std::string_view content) { return !content.empty(); };
         return outcome_of(remove_file(*w.root, "f", {.only_if = has_bytes}));
       }},
      {"create_directory",
       [](const workbench& w) { return outcome_of(create_directory(*w.root, "p/q/r")); }},
      {"remove_empty",
       [](const workbench& w) {
         return outcome_of(remove_directory(*w.root, "empty"),
                           [](const removed& r) { return std::to_string(r.entries); });
       }},
      {"remove_tree",
       [](const workbench& w) {
         return outcome_of(remove_directory(*w.root, "d", {.recursive = recursion::yes}),
                           [](const removed& r) { return std::to_string(r.entries); });
       },
       trait::partial},
      {"skill_add",
       [](const workbench& w) { return outcome_of(w.skills->add("beta", "Beta", "For tests.")); },
       trait::late},
      {"skill_edit",
       [](const workbench& w) {
         return outcome_of(w.skills->edit("alpha", {.description = "New."}));
       },
       trait::late},
      {"skill_remove", [](const workbench& w) { return outcome_of(w.skills->remove("alpha")); },
       trait::late},
      {"skill_import",
       [](const workbench& w) {
         return outcome_of(w.skills->import(w.t / "source", {.id = "imp"}));
       },
       trait::late},
      {"skill_import_durable",
       [](const workbench& w) {
         return outcome_of(w.durable_skills->import(w.t / "source", {.id = "imp"}));
       },
       trait::late},
#ifdef PADDOCK_TEST_ZIP
      {"skill_import_zip",
       [](const workbench& w) {
         return outcome_of(w.skills->import(w.t / "source.zip", {.id = "imp"}));
       },
       trait::late | trait::foreign},
#endif
      {"skill_edit_durable",
       [](const workbench& w) {
         return outcome_of(w.durable_skills->edit("alpha", {.description = "New."}));
       },
       trait::late},
      {"skill_overwrite",
       [](const workbench& w) {
         return outcome_of(
             w.skills->import(w.t / "source", {.id = "alpha", .overwrite = overwrite::replace}));
       },
       trait::late},
  };
  return all;
}

inline const std::vector<operation>& looking_operations() {
  static const std::vector<operation> all = {
      {"open_root",
       [](const workbench& w) {
         return outcome_of(root::open(w.t / "ws"), [](const root& r) { return r.path(); });
       }},
      {"read",
       [](const workbench& w) {
         return outcome_of(read_file(*w.root, "dl/../l"),
                           [](const file_content& c) { return c.bytes; });
       }},
      {"read_prefix",
       [](const workbench& w) {
         return outcome_of(read_prefix(*w.root, "f", 6),
                           [](const file_content& c) { return c.bytes; });
       }},
      {"read_lines",
       [](const workbench& w) {
         return outcome_of(read_lines(*w.root, "f", {.from = 1, .to = 2}),
                           [](const line_slice& s) { return s.text; });
       }},
      {"read_last_lines",
       [](const workbench& w) {
         return outcome_of(read_lines(*w.root, "f", {.from = -2}),
                           [](const line_slice& s) { return s.text; });
       }},
      {"list", [](const workbench& w) { return list(*w.root, "."); }, trait::degrades},
      {"inspect",
       [](const workbench& w) {
         return outcome_of(inspect(*w.root, "dl/x"), [](const file_information& i) {
           return i.path + (i.readable ? "r" : "-") + (i.writable ? "w" : "-");
         });
       },
       trait::degrades},
      {"skill_list",
       [](const workbench& w) {
         const auto cold = skill_store::open(w.skills->root_shared());
         if (!cold) return outcome{cold.error(), ""};
         return outcome_of(cold->list(), [](const auto& found) {
           std::string ids;
           for (const auto& s : found->skills)
             ids += s.id;
           return ids;
         });
       },
       trait::degrades},
      {"skill_find", [](const workbench& w) { return outcome_of(w.skills->find("alpha")); }},
      {"skill_files",
       [](const workbench& w) {
         return outcome_of(w.skills->files("alpha"), [](const std::vector<skill_file>& files) {
           std::string paths;
           for (const auto& f : files)
             paths += f.path + ';';
           return paths;
         });
       },
       trait::degrades},
  };
  return all;
}

} // namespace paddock::test
