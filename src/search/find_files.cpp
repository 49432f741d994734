// SPDX-License-Identifier: MIT
#include "search/walk.hpp"
#include "search/work_pace.hpp"
#include "sys/syscall.hpp"

#include <paddock/search/find_files.hpp>

#include <fcntl.h>
#include <linux/openat2.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

namespace paddock {
namespace {

/// A path that matched, where the time of its last change counts.
struct dated_path {
  std::string path;
  std::int64_t modified_ns = 0;
};

/// Whether the link leads to a file, or nowhere, by the kernel's word. A protected file is told as
/// what leads nowhere is, so that nobody has to ask what is protected.
bool leads_to_file(const root& root, const std::string& path) {
  if (root.resolver() != resolver::openat2) return false;
  const auto target = sys::openat2(root.descriptor(), path.c_str(), O_PATH, 0,
                                   RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
  if (!target) {
    const int why = target.error().os_errno;
    return why == ENOENT || why == EXDEV || why == ELOOP || why == ENOTDIR;
  }
  const auto status = sys::fstat(target->get());
  return status && status->kind == entry_kind::file;
}

entry_kind followed(const root& root, const std::string& path) {
  if (leads_to_file(root, path)) return entry_kind::file;
  const auto target = root.open_beneath(path, access::inspect);
  return target ? target->status.kind : entry_kind::file;
}

bool is_wanted(const root& root, const walked_directory& in, const walked_entry& entry,
               wanted_kind kind) {
  if (kind == wanted_kind::any) return true;
  entry_kind is = entry.leads_to_file ? entry_kind::file : entry.kind;
  if (is == entry_kind::symlink) is = followed(root, in.path_of(entry));
  return is == (kind == wanted_kind::file ? entry_kind::file : entry_kind::directory);
}

/// Leaves those from `begin` to `end` of all when they are in order. The others are only parted
/// from them, so a page of very many takes one look at each, about.
template <class T, class Before>
void keep_page(std::vector<T>& all, std::uint64_t begin, std::uint64_t end, Before before) {
  const auto at = [&](std::uint64_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
  // Files alone are in order as they are met; a directory stands where what is in it stands.
  if (!std::is_sorted(all.begin(), all.end(), before)) {
    if (begin > 0) std::nth_element(all.begin(), at(begin), all.end(), before);
    if (end < all.size()) std::nth_element(at(begin), at(end), all.end(), before);
    std::sort(at(begin), at(end), before);
  }
  all.erase(at(end), all.end());
  all.erase(all.begin(), at(begin));
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

/// As for_each_walked. The memory of what was visited is used again for the paths.
template <class Visit> void visit_and_free(walked_directory& from, Visit&& visit) {
  for (walked_entry& entry : from.entries)
    if (visit(from, entry) && entry.inside) {
      visit_and_free(*entry.inside, visit);
      entry.inside.reset();
    }
}

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
  const bool dated = options.order == found_order::modified;
  // Most of what a list of very many files takes is memory that is used for the first time.
  std::vector<std::string> paths;
  std::vector<dated_path> dated_paths;
  if (!dated) paths.reserve(tree.coverage.entries);
  modification_times times(root);
  work_pace work(options.bounds, look_match_steps);
  std::string relative; // to the directory where it began
  result<void> within;
  std::uint64_t met = 0, kept_bytes = 0;
  const std::size_t skipped = tree.top->path.empty() ? 0 : tree.top->path.size() + 1;
  visit_and_free(*tree.top, [&](const walked_directory& in, const walked_entry& entry) {
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
    std::string path = in.path_of(entry);
    kept_bytes += sizeof(dated_path) + path.size();
    if (dated)
      dated_paths.push_back({std::move(path), times.of(in, entry)});
    else
      paths.push_back(std::move(path));
    return true;
  });
  if (within) within = options.bounds.check();
  if (!within && within.error().code != error_code::timed_out) return within.error();
  if (!within) tree.coverage.ended_early = within.error().code;
  const std::uint64_t total = dated ? dated_paths.size() : paths.size();
  const std::uint64_t begin = std::min<std::uint64_t>(options.offset, total);
  const std::uint64_t end = begin + std::min<std::uint64_t>(options.limit, total - begin);
  if (dated) {
    keep_page(dated_paths, begin, end, [](const dated_path& a, const dated_path& b) {
      return a.modified_ns != b.modified_ns ? a.modified_ns > b.modified_ns : a.path < b.path;
    });
    for (dated_path& each : dated_paths)
      paths.push_back(std::move(each.path));
  } else {
    keep_page(paths, begin, end, std::less<>());
  }
  found_files found{
      .paths = std::move(paths), .total = total, .coverage = std::move(tree.coverage)};
  return found;
}

} // namespace paddock
