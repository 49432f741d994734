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

#include <deque>

namespace paddock::test {

inline const auto both_resolvers = testing::Values(resolver::automatic, resolver::walker);
inline std::string name_of_resolver(const testing::TestParamInfo<resolver>& suite) {
  return suite.param == resolver::walker ? "walker" : "automatic";
}

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
    struct stat s{};
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
  std::map<durability, skill_store> stores; ///< by what they promise
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
    for (const durability how : {durability::none, durability::data, durability::full}) {
      auto made = skill_store::open(skills->root_shared(), {.durability = how});
      if (!made) std::abort();
      stores.emplace(how, std::move(*made));
    }
  }
  [[nodiscard]] const skill_store& skills_that(durability how) const { return stores.at(how); }

  /// For changes of several files.
  [[nodiscard]] std::string state() const { return t / "state"; }
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

/// What an operation says that has succeeded.
inline std::string said(const std::string& path) {
  return path;
}
inline std::string said(const edit_outcome& done) {
  return done.path;
}
inline std::string said(const moved& m) {
  return m.source + ' ' + m.destination;
}
inline std::string said(const removed& r) {
  return std::to_string(r.entries);
}
inline std::string said(const file_content& c) {
  return c.bytes;
}
inline std::string said(const line_slice& s) {
  return s.text;
}
inline std::string said(const skill& s) {
  return s.id + ": " + s.name + ", " + s.description;
}

template <class T, class E, class Say> outcome outcome_of(const result<T, E>& r, Say say) {
  if (!r) return {r.error(), ""};
  return {std::nullopt, say(*r)};
}
template <class T, class E> outcome outcome_of(const result<T, E>& r) {
  if (!r) return {r.error(), ""};
  if constexpr (std::is_void_v<T>)
    return {std::nullopt, "ok"};
  else
    return {std::nullopt, said(*r)};
}

inline outcome list(const root& r, std::string_view path) {
  return outcome_of(list_directory(r, path), [](const directory_listing& listing) {
    std::string all;
    for (const auto& entry : listing.entries)
      all.append(listing.name(entry)).append(" ").append(std::to_string(entry.size)) += ';';
    return all;
  });
}

/// A change of which it can be asked to be there after a power cut.
struct durable_operation {
  const char* name;
  std::function<outcome(const workbench&, durability)> run;
  trait when_durable = trait::none; ///< what it is then, besides `traits`
  trait traits = trait::none;
};

inline const std::vector<durable_operation>& durable_operations() {
  using bench = const workbench&;
  static const std::string text(900, 'n');
  static const text_edit two{.old_text = "two", .new_text = "2"};
  static const std::vector<durable_operation> all = {
      {"write_new",
       [](bench w, durability d) {
         return outcome_of(write_file(*w.root, "new", text, {.durability = d}));
       }},
      {"write_old",
       [](bench w, durability d) {
         return outcome_of(write_file(*w.root, "f", text, {.durability = d}));
       }},
      {"write_through_link",
       [](bench w, durability d) {
         return outcome_of(write_file(*w.root, "dl/../l", text, {.durability = d}));
       }},
      {"write_with_parents",
       [](bench w, durability d) {
         return outcome_of(write_file(*w.root, "p/q/r/new", text, {.durability = d}));
       }},
      {"append",
       [](bench w, durability d) {
         return outcome_of(append_file(*w.root, "f", text, {.durability = d}));
       },
       trait::late},
      {"edit",
       [](bench w, durability d) {
         return outcome_of(edit_file(*w.root, "l", two, {.durability = d}));
       },
       trait::late}, // the sync, after a look at what came away
      {"move_file",
       [](bench w, durability d) {
         return outcome_of(move_entry(*w.root, "f", "d/g", {.durability = d}));
       },
       trait::late},
      {"move_with_parents",
       [](bench w, durability d) {
         return outcome_of(move_entry(*w.root, "d", "p/q/d", {.durability = d}));
       },
       trait::late},
      {"skill_add",
       [](bench w, durability d) {
         return outcome_of(w.skills_that(d).add("beta", "Beta", "For tests."));
       },
       trait::none, trait::late},
      {"skill_edit",
       [](bench w, durability d) {
         return outcome_of(w.skills_that(d).edit("alpha", {.description = "New."}));
       },
       trait::none, trait::late},
      {"skill_remove",
       [](bench w, durability d) { return outcome_of(w.skills_that(d).remove("alpha")); },
       trait::none, trait::late},
      {"skill_import",
       [](bench w, durability d) {
         return outcome_of(w.skills_that(d).import(w.t / "source", {.id = "imp"}));
       },
       trait::none, trait::late},
      {"skill_overwrite",
       [](bench w, durability d) {
         return outcome_of(w.skills_that(d).import(
             w.t / "source", {.id = "alpha", .overwrite = overwrite::replace}));
       },
       trait::none, trait::late},
  };
  return all;
}

/// Those, plain and durable, and what is changed without a word about power cuts.
inline const std::vector<operation>& changing_operations() {
  using bench = const workbench&;
  static const std::vector<operation> all = [] {
    const auto add = [](std::string_view content) -> result<std::optional<std::string>> {
      return std::optional(std::string(content) + std::string(3000, 'n'));
    };
    const auto has_bytes = [](std::string_view content) { return !content.empty(); };
    std::vector<operation> made = {
        {"rewrite", [=](bench w) { return outcome_of(rewrite_file(*w.root, "l", add)); }},
        {"remove_file", [](bench w) { return outcome_of(remove_file(*w.root, "f")); }},
        {"remove_file_of_that_content",
         [=](bench w) { return outcome_of(remove_file(*w.root, "f", {.only_if = has_bytes})); }},
        {"create_directory",
         [](bench w) { return outcome_of(create_directory(*w.root, "p/q/r")); }},
        {"remove_empty", [](bench w) { return outcome_of(remove_directory(*w.root, "empty")); }},
        {"remove_tree",
         [](bench w) {
           return outcome_of(remove_directory(*w.root, "d", {.recursive = recursion::yes}));
         },
         trait::partial},
#ifdef PADDOCK_TEST_ZIP
        {"skill_import_zip",
         [](bench w) { return outcome_of(w.skills->import(w.t / "source.zip", {.id = "imp"})); },
         trait::late | trait::foreign},
#endif
    };
    static std::deque<std::string> names;
    for (const durable_operation& op : durable_operations())
      for (const durability d : {durability::none, durability::full}) {
        const bool is_durable = d == durability::full;
        names.push_back(std::string(op.name) + (is_durable ? "_durable" : ""));
        made.push_back({names.back().c_str(), [&op, d](bench w) { return op.run(w, d); },
                        is_durable ? op.traits | op.when_durable : op.traits});
      }
    return made;
  }();
  return all;
}

inline const std::vector<operation>& looking_operations() {
  using bench = const workbench&;
  static const std::vector<operation> all = {
      {"open_root",
       [](bench w) {
         return outcome_of(root::open(w.t / "ws"), [](const root& r) { return r.path(); });
       }},
      {"read", [](bench w) { return outcome_of(read_file(*w.root, "dl/../l")); }},
      {"read_prefix", [](bench w) { return outcome_of(read_prefix(*w.root, "f", 6)); }},
      {"read_lines",
       [](bench w) { return outcome_of(read_lines(*w.root, "f", {.from = 1, .to = 2})); }},
      {"read_last_lines",
       [](bench w) { return outcome_of(read_lines(*w.root, "f", {.from = -2})); }},
      {"list", [](bench w) { return list(*w.root, "."); }, trait::degrades},
      {"inspect",
       [](bench w) {
         return outcome_of(inspect(*w.root, "dl/x"), [](const file_information& i) {
           return i.path + (i.readable ? "r" : "-") + (i.writable ? "w" : "-");
         });
       },
       trait::degrades},
      {"skill_list",
       [](bench w) {
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
      {"skill_find", [](bench w) { return outcome_of(w.skills->find("alpha")); }},
      {"skill_files",
       [](bench w) {
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
