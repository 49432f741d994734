// SPDX-License-Identifier: MIT
#include "search/walk.hpp"
#include "search/work_pace.hpp"
#include "sys/syscall.hpp"

#include <paddock/search/find_files.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace paddock {
namespace {

/// A path that matched.
struct match {
  std::string path;
  std::int64_t modified_ns = 0;
};

bool is_wanted(const root& root, const walked_directory& in, const walked_entry& entry,
               wanted_kind kind) {
  if (kind == wanted_kind::any) return true;
  entry_kind is = entry.leads_to_file ? entry_kind::file : entry.kind;
  if (is == entry_kind::symlink) {
    const auto target = root.open_beneath(in.path_of(entry), access::inspect);
    is = target ? target->status.kind : entry_kind::file;
  }
  return is == (kind == wanted_kind::file ? entry_kind::file : entry_kind::directory);
}

/// Puts those from `begin` to `end` where they are when all are in order. The others are only
/// parted from them, so a page of very many takes one look at each, about.
void put_in_order(std::vector<match>& matches, std::uint64_t begin, std::uint64_t end) {
  // Files alone are in order as they are met; a directory stands where what is in it stands.
  const auto before = [](const match& a, const match& b) {
    return a.modified_ns != b.modified_ns ? a.modified_ns > b.modified_ns : a.path < b.path;
  };
  const auto at = [&](std::uint64_t i) { return matches.begin() + static_cast<std::ptrdiff_t>(i); };
  if (begin > 0) std::nth_element(matches.begin(), at(begin), matches.end(), before);
  if (end < matches.size()) std::nth_element(at(begin), at(end), matches.end(), before);
  std::sort(at(begin), at(end), before);
}

/// When entries were changed, directory by directory.
class modification_times {
public:
  explicit modification_times(const root& root) : root_(root) {}

  std::int64_t of(const walked_directory& in, const walked_entry& entry) {
    if (opened_ != &in) {
      auto found = open_again(root_, in);
      fd_ = found ? *std::move(found) : file_descriptor();
      opened_ = &in;
    }
    const auto status = sys::entry_status_at(fd_.get(), in.name(entry).data());
    return status ? status->modified_ns : 0;
  }

private:
  const root& root_;
  const walked_directory* opened_ = nullptr;
  file_descriptor fd_;
};

} // namespace

result<found_files> find_files(const root& root, std::string_view path, const glob& wanted,
                               const find_options& options) {
  PADDOCK_TRY(walked_tree tree,
              walk(root, path,
                   {.ignored = options.ignored == ignore_files::respect ? ignored_entries::leave_out
                                                                        : ignored_entries::include,
                    .mark_links = options.kind != wanted_kind::any,
                    .threads_max = options.threads_max,
                    .entries_max = options.entries_max,
                    .bounds = options.bounds}));
  std::vector<match> matches;
  modification_times times(root);
  work_pace work(options.bounds, look_match_steps);
  std::string relative; // to the directory where it began
  result<void> within;
  std::uint64_t met = 0, kept_bytes = 0;
  const std::size_t skipped = tree.top->path.empty() ? 0 : tree.top->path.size() + 1;
  for_each_walked(*tree.top, [&](const walked_directory& in, const walked_entry& entry) {
    if (within && ++met % look_entries == 0) {
      within = options.bounds.check();
      if (within) within = tree.memory.grow(std::exchange(kept_bytes, 0), options.bounds);
    }
    if (!within) return false;
    relative.assign(in.path, std::min(skipped, in.path.size()));
    if (!relative.empty()) relative += '/';
    relative += in.name(entry);
    const bool named = wanted.matches(relative, work);
    if (!work.within()) within = work.within();
    if (!within) return false;
    if (!named || !is_wanted(root, in, entry, options.kind)) return true;
    const bool dated = options.order == found_order::modified;
    matches.push_back({in.path_of(entry), dated ? times.of(in, entry) : 0});
    kept_bytes += sizeof(match) + matches.back().path.size();
    return true;
  });
  if (within) within = options.bounds.check();
  if (!within && within.error().code != error_code::timed_out) return within.error();
  if (!within) tree.coverage.ended_early = within.error().code;
  found_files found{.paths = {}, .total = matches.size(), .coverage = std::move(tree.coverage)};
  const std::uint64_t begin = std::min<std::uint64_t>(options.offset, matches.size());
  const std::uint64_t count = std::min<std::uint64_t>(options.limit, matches.size() - begin);
  put_in_order(matches, begin, begin + count);
  for (std::uint64_t i = begin; i < begin + count; ++i)
    found.paths.push_back(std::move(matches[i].path));
  return found;
}

} // namespace paddock
