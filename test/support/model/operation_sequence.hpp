// SPDX-License-Identifier: MIT
#pragma once

// Sequences of operations from bytes, done by the library and by the model at the same time: each
// answer and the whole tree after each change have to be the same.

#include "support/model/model_file_system.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

/// Numbers from bytes; zeros when there are no more.
class byte_source {
public:
  explicit byte_source(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::size_t below(std::size_t bound) {
    if (rest_.empty()) return 0;
    const std::size_t n = rest_.front() % bound;
    rest_ = rest_.subspan(1);
    return n;
  }

private:
  std::span<const std::uint8_t> rest_;
};

enum class verb : unsigned char {
  create_directory,
  write,
  append,
  edit,
  move,
  remove_file,
  remove_directory,
  remove_tree,
  link, ///< made by somebody else
  list,
  read,
  inspect,
};

struct step_of_sequence {
  verb what{};
  std::string path;
  std::string other; ///< destination, text, or what a link says
  std::size_t number = 0;
};

inline std::string to_string(const step_of_sequence& step) {
  constexpr const char* names[] = {
      "create_directory", "write",       "append", "edit", "move", "remove_file",
      "remove_directory", "remove_tree", "link",   "list", "read", "inspect"};
  return std::string(names[static_cast<std::size_t>(step.what)]) + " '" + step.path + "' '" +
         step.other + "' " + std::to_string(step.number);
}

/// Few names, so that paths meet: `..`, `.`, empty components, the reserved name and one that is
/// too long among them.
inline std::string decode_path(byte_source& from, std::size_t length_max) {
  static const std::string too_long(256, 'n');
  static const std::string_view names[] = {"a", "b", "c",  "a", "b", "c",  "a", "b",
                                           "c", "a", "b",  "c", "a", "..", "a", "b",
                                           "c", "a", "..", "b", "c", ".",  "",  reserved_name};
  const std::size_t shape = from.below(40);
  constexpr std::size_t lengths[] = {1, 1, 1, 1, 2, 2, 2, 3, 3, 4};
  const std::size_t length = std::min(lengths[from.below(std::size(lengths))], length_max);
  std::string path;
  for (std::size_t i = 0; i < length; ++i) {
    if (i > 0) path += '/';
    path += names[from.below(std::size(names))];
  }
  if (path.starts_with('/')) path.insert(0, 1, 'a'); // absolute paths are asked for
  switch (shape) {
  case 0:
  case 1:
    return std::string(root_mark) + '/' + path;
  case 2:
    return path == "a" ? std::string(root_mark) + "-evil/f" : '/' + path;
  case 3:
    return path == "a" ? "" : path + '/' + too_long;
  case 4:
  case 5:
  case 6:
    return path + '/';
  case 7:
    return path + "/.";
  default:
    return path;
  }
}

inline step_of_sequence decode_step(byte_source& from) {
  static constexpr verb likely[] = {verb::create_directory,
                                    verb::create_directory,
                                    verb::write,
                                    verb::write,
                                    verb::append,
                                    verb::edit,
                                    verb::move,
                                    verb::move,
                                    verb::remove_file,
                                    verb::remove_directory,
                                    verb::remove_tree,
                                    verb::link,
                                    verb::link,
                                    verb::link,
                                    verb::list,
                                    verb::read,
                                    verb::inspect,
                                    verb::read};
  static constexpr const char* texts[] = {"", "a", "ab", "bab"};
  step_of_sequence step{.what = likely[from.below(std::size(likely))]};
  if (step.what == verb::link) {
    step.number = from.below(8); // of the directories that there are
    step.path = std::string(1, static_cast<char>('a' + from.below(3)));
    step.other = decode_path(from, 3);
    if (step.other.empty()) step.other = "../out";
    if (from.below(12) == 11) step.other = reserved_name;
    return step;
  }
  step.path = decode_path(from, 4);
  if (step.what == verb::move) step.other = decode_path(from, 4);
  if (step.what == verb::write || step.what == verb::append || step.what == verb::edit)
    step.other = texts[from.below(std::size(texts))];
  return step;
}

/// The library beneath a directory of its own, `<base>/ws`.
class library_file_system {
public:
  library_file_system(const std::string& base, resolver how) : top_(base + "/ws") {
    std::filesystem::create_directories(top_ + '/' + std::string(reserved_name));
    std::ofstream(top_ + '/' + std::string(reserved_name) + "/kept") << "kept";
    auto opened = root::open(top_, {.resolver = how});
    if (!opened) std::abort();
    root_ = *std::move(opened);
  }

  std::string run(const step_of_sequence& step) {
    const std::string path = real(step.path);
    switch (step.what) {
    case verb::create_directory:
      return answer(paddock::create_directory(*root_, path), [](const auto& p) { return p; });
    case verb::write:
      return answer(write_file(*root_, path, step.other), [](const auto& p) { return p; });
    case verb::append:
      return answer(append_file(*root_, path, step.other), [](const auto& p) { return p; });
    case verb::edit:
      return answer(
          edit_file(*root_, path, {.old_text = "a", .new_text = step.other}),
          [](const edit_outcome& e) { return e.path + ' ' + std::to_string(e.occurrences); });
    case verb::move:
      return answer(move_entry(*root_, path, real(step.other)),
                    [](const moved& m) { return m.source + ' ' + m.destination; });
    case verb::remove_file:
      return answer(paddock::remove_file(*root_, path), [](const auto& p) { return p; });
    case verb::remove_directory:
    case verb::remove_tree: {
      const auto how = step.what == verb::remove_tree ? recursion::yes : recursion::no;
      return answer(paddock::remove_directory(*root_, path, {.recursive = how}),
                    [](const removed& r) { return r.path + ' ' + std::to_string(r.entries); });
    }
    case verb::list:
      return answer(list_directory(*root_, path), describe_listing);
    case verb::read:
      return answer(read_file(*root_, path),
                    [](const file_content& f) { return f.path + ' ' + f.bytes; });
    case verb::inspect:
      return answer(paddock::inspect(*root_, path), [](const file_information& f) {
        return f.path + ' ' + describe(f.status.kind, f.status.size);
      });
    case verb::link:
      break;
    }
    return {};
  }
  /// By plain system calls, as everything that is not under test here.
  void link(const std::string& directory, const std::string& name, const std::string& target) {
    const std::string at = top_ + '/' + directory + '/' + name;
    (void)!::symlink(real(target).c_str(), at.c_str()); // it may exist
  }
  [[nodiscard]] std::string tree() const {
    std::vector<std::string> rows;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top_)) {
      const std::string path = entry.path().string().substr(top_.size() + 1);
      if (entry.is_symlink())
        rows.push_back(path + '@' + marked(std::filesystem::read_symlink(entry.path()).string()));
      else if (entry.is_directory())
        rows.push_back(path + '/');
      else
        rows.push_back(path + '=' + content(entry.path().string()));
    }
    std::sort(rows.begin(), rows.end());
    std::string all;
    for (const auto& row : rows)
      all += row + '\n';
    return all;
  }
  [[nodiscard]] const std::string& path() const { return top_; }
  /// Removes everything but the reserved entry.
  void clear() {
    for (const auto& entry : std::filesystem::directory_iterator(top_))
      if (entry.path().filename() != reserved_name) std::filesystem::remove_all(entry.path());
  }

private:
  template <class T, class Describe>
  static std::string answer(const result<T>& got, Describe describe) {
    if (!got) return std::string(wire_name(got.error().code));
    return "ok " + describe(*got);
  }
  static std::string describe(entry_kind kind, std::uint64_t size) {
    if (kind == entry_kind::directory) return "directory";
    return (kind == entry_kind::file ? "file" : "other") + std::to_string(size);
  }
  static std::string describe_listing(const directory_listing& listing) {
    std::string line = listing.path;
    for (const auto& entry : listing.entries) {
      line.append(" ").append(listing.name(entry)).append("=");
      if (entry.symlink) line += '@';
      line += describe(entry.kind, entry.size);
    }
    return line;
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] std::string real(const std::string& path) const {
    if (!path.starts_with(root_mark)) return path;
    return top_ + path.substr(root_mark.size());
  }
  [[nodiscard]] std::string marked(const std::string& target) const {
    if (!target.starts_with(top_)) return target;
    return std::string(root_mark) + target.substr(top_.size());
  }

  std::string top_;
  std::optional<root> root_;
};

/// Does what the bytes say on all three until they differ; then says how, in words.
class sequence_comparison {
public:
  explicit sequence_comparison(const std::string& base)
      : by_openat2_(base + "/first", resolver::automatic),
        by_walker_(base + "/other", resolver::walker) {
    std::filesystem::create_directories(base + "/first/out");
    std::filesystem::create_directories(base + "/other/out");
  }

  /// Empty when all agree.
  std::string run(std::span<const std::uint8_t> bytes, wrong_rule wrong = wrong_rule::none) {
    constexpr int steps_max = 24;
    by_openat2_.clear();
    by_walker_.clear();
    model_file_system model(by_openat2_.path().size(), wrong);
    byte_source from(bytes);
    std::string history;
    for (int i = 0; i < steps_max && !from.empty(); ++i) {
      // Something to act on, or else most answers would be that there is nothing.
      static const std::vector<step_of_sequence> first = {
          {.what = verb::write, .path = "a/b/c", .other = "ab", .number = 0},
          {.what = verb::write, .path = "a/c", .other = "bab", .number = 0},
          {.what = verb::write, .path = "b/a", .other = "a", .number = 0},
          {.what = verb::link, .path = "c", .other = "a/b", .number = 0}};
      const bool given = i < static_cast<int>(first.size());
      const step_of_sequence step = given ? first[static_cast<std::size_t>(i)] : decode_step(from);
      history += to_string(step) + '\n';
      const std::string said = run_step(step, model);
      if (!said.empty()) return history + said;
      ++steps_;
    }
    const std::string said = compare_trees(model);
    return said.empty() ? "" : history + said;
  }
  [[nodiscard]] long steps() const { return steps_; }
  /// Steps that succeeded.
  [[nodiscard]] long done() const { return done_; }

private:
  std::string run_step(const step_of_sequence& step, model_file_system& model) {
    if (step.what == verb::link) {
      const auto directories = model.directories();
      const auto& in = directories[step.number % directories.size()];
      by_openat2_.link(in, step.path, step.other);
      by_walker_.link(in, step.path, step.other);
      model.link(in, step.path, step.other);
      return {};
    }
    const std::string expected = by_model(step, model);
    done_ += expected.starts_with("ok") ? 1 : 0;
    const std::string first = by_openat2_.run(step);
    const std::string second = by_walker_.run(step);
    if (first != expected || second != expected)
      return "model:   " + expected + "\nopenat2: " + first + "\nwalker:  " + second;
    const bool only_looks =
        step.what == verb::list || step.what == verb::read || step.what == verb::inspect;
    return only_looks ? "" : compare_trees(model);
  }

  [[nodiscard]] std::string compare_trees(const model_file_system& model) const {
    const std::string tree = model.tree();
    const std::string first = by_openat2_.tree();
    const std::string second = by_walker_.tree();
    if (first == tree && second == tree) return {};
    return "model:\n" + tree + "openat2:\n" + first + "walker:\n" + second;
  }

  static std::string by_model(const step_of_sequence& step, model_file_system& model) {
    switch (step.what) {
    case verb::create_directory:
      return model.create_directory(step.path);
    case verb::write:
      return model.write(step.path, step.other);
    case verb::append:
      return model.append(step.path, step.other);
    case verb::edit:
      return model.edit(step.path, 'a', step.other);
    case verb::move:
      return model.move(step.path, step.other);
    case verb::remove_file:
      return model.remove_file(step.path);
    case verb::remove_directory:
    case verb::remove_tree:
      return model.remove_directory(step.path, step.what == verb::remove_tree);
    case verb::list:
      return model.list(step.path);
    case verb::read:
      return model.read(step.path);
    case verb::inspect:
      return model.inspect(step.path);
    case verb::link:
      break;
    }
    return {};
  }

  library_file_system by_openat2_;
  library_file_system by_walker_;
  long steps_ = 0;
  long done_ = 0;
};

} // namespace paddock::test
