// SPDX-License-Identifier: MIT
#include "search/walk.hpp"
#include "search/work_pace.hpp"

#include <paddock/base/detail/visible_text.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/search/tree_map.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace paddock {
namespace {

/// "31,204".
std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;)
    text.insert(at -= 3, ",");
  return text;
}

/// "5 B", "1.2 KB", "310 MB", rounded.
std::string size_text(std::uint64_t bytes) {
  constexpr std::array units{"B", "KB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1023.5; ++unit) // which is 1024 when it is rounded
    value /= 1024;
  std::array<char, 32> text;
  const int digits = unit > 0 && value < 9.95 ? 1 : 0;
  const int size = std::snprintf(text.data(), text.size(), "%.*f ", digits, value);
  return std::string(text.data(), static_cast<std::size_t>(size)) + units.at(unit);
}

std::string counted(std::uint64_t number, const char* one, const char* many) {
  return with_commas(number) + ' ' + (number == 1 ? one : many);
}

/// A name that stays on its line.
std::string shown_name(std::string_view name) {
  return detail::on_one_line(encode_name(name));
}

std::string_view text_of(looked_at seen) {
  switch (seen) {
  case looked_at::some:
    return "not all looked at";
  case looked_at::none:
    return "not looked at";
  case looked_at::unreadable:
    return "unreadable";
  case looked_at::all:
    break;
  }
  return "";
}

std::uint64_t bytes_of(const map_line& line) {
  return text_of(line).size() + 1;
}

tree_amount& operator+=(tree_amount& to, const tree_amount& more) {
  to.files += more.files;
  to.directories += more.directories;
  to.bytes += more.bytes;
  return to;
}

enum class shown_level : std::uint8_t { no, directories, files };

/// A directory that was walked through.
struct node {
  const walked_directory* in = nullptr; ///< null: its names were not read
  std::string name{};
  std::uint32_t depth = 0; ///< of what is in it
  bool ignored = false;
  looked_at seen = looked_at::all; ///< it itself
  bool all_seen = true;            ///< with all beneath that counts
  tree_amount amount{};            ///< of all beneath, without what is ignored unless it is itself
  tree_amount files{};             ///< directly in it
  tree_amount ignored_files{};     ///< directly in it, where it is not ignored
  std::vector<node> inside{};      ///< by name
  shown_level open = shown_level::no;
};

looked_at seen_of(names_read read) {
  switch (read) {
  case names_read::none:
    return looked_at::none;
  case names_read::some:
    return looked_at::some;
  case names_read::failed:
    return looked_at::unreadable;
  case names_read::all:
    break;
  }
  return looked_at::all;
}

map_line line_of(const node& of) {
  const bool collapsed = of.open == shown_level::no && of.amount != tree_amount{};
  const bool hides_gaps = of.open == shown_level::no && of.seen == looked_at::all && !of.all_seen;
  return {.depth = of.depth - 1,
          .kind = collapsed ? map_kind::collapsed : map_kind::directory,
          .ignored = of.ignored,
          .name = of.name,
          .amount = collapsed ? of.amount : tree_amount{},
          .seen = hides_gaps ? looked_at::some : of.seen};
}

map_line rest_of(const node& of, const tree_amount& amount, bool ignored = false) {
  return {
      .depth = of.depth, .kind = map_kind::rest, .ignored = ignored, .name = {}, .amount = amount};
}

/// A directory in another. One without names was met before the end, or its path is too long.
node inside_of(const node& of, const walked_entry& entry) {
  const bool reached = entry.inside != nullptr;
  return {.in = entry.inside.get(),
          .name = shown_name(of.in->name(entry)) + '/',
          .depth = of.depth + 1,
          .ignored = entry.ignored,
          .seen = reached                           ? seen_of(entry.inside->read)
                  : of.in->read == names_read::some ? looked_at::none
                                                    : looked_at::unreadable};
}

/// Calls take(line) for each file that is shown by its name, until that says false.
template <class Take> void for_each_file(const node& of, Take&& take) {
  for (std::size_t i = 0; of.in != nullptr && i < of.in->entries.size(); ++i) {
    const walked_entry& entry = of.in->entries[i];
    if (entry.kind == entry_kind::directory || (entry.ignored && !of.ignored)) continue;
    const std::uint64_t size = i < of.in->sizes.size() ? of.in->sizes[i] : 0;
    if (!take(map_line{.depth = of.depth,
                       .kind = entry.kind == entry_kind::symlink ? map_kind::link : map_kind::file,
                       .name = shown_name(of.in->name(entry)),
                       .amount = {.files = 1, .bytes = size}}))
      return;
  }
}

/// Counts what is in a directory; as deep as a path has components. Time that is up does not end
/// it, because one look at each entry takes little.
void count(node& of, work_pace& pace) {
  for (std::size_t i = 0; of.in != nullptr && i < of.in->entries.size(); ++i) {
    if (!pace() && !pace.is_late()) return;
    const walked_entry& entry = of.in->entries[i];
    if (entry.kind != entry_kind::directory) {
      const std::uint64_t size = i < of.in->sizes.size() ? of.in->sizes[i] : 0;
      (entry.ignored && !of.ignored ? of.ignored_files : of.files) += {.files = 1, .bytes = size};
    } else {
      of.inside.push_back(inside_of(of, entry));
      count(of.inside.back(), pace);
    }
  }
  of.amount = of.files;
  of.all_seen = of.seen == looked_at::all;
  for (const node& each : of.inside) {
    if (each.ignored && !of.ignored) continue;
    of.all_seen = of.all_seen && each.all_seen;
    of.amount += each.amount;
    ++of.amount.directories;
  }
}

/// Chooses what is shown.
class chooser {
public:
  chooser(const map_options& options, work_pace& pace) : options_(options), pace_(pace) {}

  /// Opens as much as there is room for, level by level; when time is up, the first alone.
  void open(node& top) {
    std::vector<node*> level{&top};
    for (std::uint64_t depth = 1; !level.empty() && depth <= options_.depth_max; ++depth) {
      if (depth > 1 && !pace_.look()) {
        truncated_ = true;
        return;
      }
      std::vector<node*> next;
      for (auto& [cost, each] : by_cost(level, [&](const node& of) { return list_cost(of); })) {
        if (each->inside.empty() && each != &top) continue; // with its files, or not at all
        if (!take(cost, each == &top)) continue;
        each->open = shown_level::directories;
        for (node& inside : each->inside)
          if (!inside.ignored) next.push_back(&inside);
      }
      std::erase_if(level, [](const node* each) {
        return each->open == shown_level::no && !each->inside.empty();
      });
      for (auto& [cost, each] : by_cost(level, [&](const node& of) {
             return files_cost(of) + (of.open == shown_level::no ? list_cost(of) : 0);
           }))
        if (take(cost, false)) each->open = shown_level::files;
      level = std::move(next);
    }
  }
  [[nodiscard]] bool truncated() const noexcept { return truncated_; }
  /// For lines that have names. Where not even the first list fits, the lines that tell how much
  /// more there is need some.
  [[nodiscard]] std::uint64_t room() const noexcept {
    const std::uint64_t bytes_max = options_.bytes_max;
    if (used_ <= static_cast<std::int64_t>(bytes_max)) return bytes_max;
    return bytes_max - std::min(bytes_max, rests_bytes_max);
  }

private:
  /// A line has a name and a size; no list whose shortest lines have no room is written to be
  /// measured.
  static constexpr std::uint64_t line_bytes_min = 3;
  static constexpr std::int64_t too_much = std::int64_t{1} << 40;
  /// Of "… directories, files, bytes" and of "… files, bytes, ignored".
  static constexpr std::uint64_t rests_bytes_max = 160;

  /// What the list of its directories takes more than its one line.
  [[nodiscard]] std::int64_t list_cost(const node& of) const {
    if (of.inside.size() * line_bytes_min > options_.bytes_max) return too_much;
    std::uint64_t after = of.files.files > 0 ? bytes_of(rest_of(of, of.files)) : 0;
    if (of.ignored_files.files > 0) after += bytes_of(rest_of(of, of.ignored_files, true));
    for (const node& each : of.inside)
      after += bytes_of(line_of(each));
    if (of.depth == 0) return static_cast<std::int64_t>(after);
    map_line opened_line = line_of(of);
    const std::uint64_t before = bytes_of(opened_line);
    opened_line.kind = map_kind::directory;
    return static_cast<std::int64_t>(after + bytes_of(opened_line)) -
           static_cast<std::int64_t>(before);
  }
  /// What the names of its files take more than their one line.
  [[nodiscard]] std::int64_t files_cost(const node& of) const {
    if (of.files.files == 0) return 0;
    if (of.files.files * line_bytes_min > options_.bytes_max) return too_much;
    std::uint64_t after = 0;
    for_each_file(of, [&](const map_line& line) {
      after += bytes_of(line);
      return true;
    });
    return static_cast<std::int64_t>(after) -
           static_cast<std::int64_t>(bytes_of(rest_of(of, of.files)));
  }
  template <class Cost>
  std::vector<std::pair<std::int64_t, node*>> by_cost(const std::vector<node*>& level,
                                                      Cost&& cost) {
    std::vector<std::pair<std::int64_t, std::size_t>> costs; // and the place in the level
    costs.reserve(level.size());
    for (node* each : level) {
      costs.emplace_back(cost(*each), costs.size());
      if (pace_(1 + each->inside.size() + each->files.files)) continue;
      truncated_ = truncated_ || costs.size() < level.size();
      break;
    }
    std::ranges::sort(costs);
    std::vector<std::pair<std::int64_t, node*>> sorted;
    sorted.reserve(costs.size());
    for (const auto& [each, place] : costs)
      sorted.emplace_back(each, level[place]);
    return sorted;
  }
  bool take(std::int64_t cost, bool always) {
    const bool fits = used_ + cost <= static_cast<std::int64_t>(options_.bytes_max);
    if (!fits) truncated_ = true;
    if (fits || always) used_ += cost;
    return fits || always;
  }

  const map_options& options_;
  work_pace& pace_;
  std::int64_t used_ = 0;
  bool truncated_ = false;
};

} // namespace

std::string text_of(const map_line& line) {
  std::string text(std::size_t{2} * line.depth, ' ');
  text += line.kind == map_kind::rest ? "\u2026" : line.name;
  const tree_amount& amount = line.amount;
  if (line.kind == map_kind::link) return text + " (link)";
  if (line.kind == map_kind::file) return text + ' ' + size_text(amount.bytes);
  std::string told;
  if (line.kind == map_kind::rest && amount.directories > 0)
    told = counted(amount.directories, "directory", "directories");
  if (amount.files > 0)
    (told += told.empty() ? "" : ", ") +=
        counted(amount.files, "file", "files") + ", " + size_text(amount.bytes);
  if (line.kind == map_kind::collapsed && amount.files == 0)
    told = counted(amount.directories, "directory", "directories");
  if (const std::string_view seen = text_of(line.seen); !seen.empty())
    (told += told.empty() ? "" : ", ") += seen;
  if (!told.empty()) (text += ' ') += told;
  return line.ignored ? text + ", ignored" : text;
}

namespace {

/// Writes the lines of what was opened; beyond the room only how much there is more.
class writer {
public:
  writer(std::uint64_t room_bytes, work_pace& pace, tree_map& into)
      : room_bytes_(room_bytes), pace_(pace), into_(into) {}

  void write(const node& of) {
    tree_amount left_out;
    looked_at seen = looked_at::all; // of those
    for (const node& each : of.inside) {
      if ((!pace_() && full_) || !add(line_of(each))) {
        if (!each.all_seen) seen = looked_at::some;
        left_out += each.amount;
        ++left_out.directories;
      } else if (each.open != shown_level::no) {
        write(each);
      }
    }
    const bool by_name = of.open == shown_level::files && left_out == tree_amount{};
    if (by_name)
      for_each_file(of, [&](map_line line) { return add(std::move(line)); });
    else
      left_out += of.files;
    if (left_out != tree_amount{}) {
      into_.lines.push_back(rest_of(of, left_out));
      into_.lines.back().seen = seen;
    }
    if (of.ignored_files.files > 0) into_.lines.push_back(rest_of(of, of.ignored_files, true));
  }

private:
  bool add(map_line line) {
    const std::uint64_t bytes = bytes_of(line);
    full_ = used_ + bytes > room_bytes_;
    if (full_) return false;
    used_ += bytes;
    into_.lines.push_back(std::move(line));
    return true;
  }

  const std::uint64_t room_bytes_;
  work_pace& pace_;
  tree_map& into_;
  std::uint64_t used_ = 0;
  bool full_ = false; ///< the line before had no room
};

} // namespace

result<tree_map> map_tree(const root& root, std::string_view path, const map_options& options) {
  PADDOCK_TRY(walked_tree tree,
              walk(root, path,
                   {.ignored = options.ignored == ignore_files::respect ? ignored_entries::mark
                                                                        : ignored_entries::include,
                    .sizes = file_sizes::read,
                    .threads_max = options.threads_max,
                    .entries_max = options.entries_max,
                    .bounds = options.bounds}));
  std::uint64_t directories = 1; // entered or not
  for_each_walked(*tree.top, [&](const walked_directory&, const walked_entry& entry) {
    directories += entry.kind == entry_kind::directory ? 1 : 0;
    return true;
  });
  PADDOCK_CHECK(tree.memory.grow(directories * sizeof(node), options.bounds));
  node top{.in = tree.top.get(), .seen = seen_of(tree.top->read)};
  work_pace pace(options.bounds, look_entries);
  count(top, pace);
  chooser choice(options, pace);
  choice.open(top);
  tree_map map{.lines = {}, .amount = top.amount};
  writer(choice.room(), pace, map).write(top);
  if (!pace.within() && !pace.is_late()) return pace.within().error();
  map.coverage = std::move(tree.coverage);
  if (pace.is_late()) map.coverage.ended_early = error_code::timed_out;
  map.truncated = choice.truncated() || map.coverage.ended_early.has_value();
  return map;
}

} // namespace paddock
