// SPDX-License-Identifier: MIT
#include "base/parallel_blocks.hpp"
#include "search/file_search.hpp"
#include "search/walk.hpp"
#include "search/work_pace.hpp"

#include <paddock/path/lexical_path.hpp>
#include <paddock/search/text_search.hpp>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <ranges>
#include <utility>

namespace paddock {
namespace {

/// Whether what was met went away since, or became something else: as if it had never been met.
bool has_gone(error_code why) {
  using enum error_code;
  constexpr error_code gone[] = {
      not_found,        protected_entry, not_regular,      is_a_directory,
      not_a_directory,  escapes_root,    absolute_symlink, absolute_symlink_inside,
      dangling_symlink, symlink_loop,    magic_link,       conflict};
  return std::ranges::find(gone, why) != std::end(gone);
}

/// Globs that hold less are not counted.
constexpr std::uint64_t globs_bytes_worth_counting = 64 * 1024;
/// Files that a thread takes at once, and how many such blocks may be finished before an earlier
/// one is: what they found is held until then.
constexpr std::size_t block_files = 32, blocks_ahead = 64;

/// A file that is to be searched.
struct candidate {
  const walked_directory* in = nullptr;
  const walked_entry* entry = nullptr;
};

/// The files of a tree that are wanted, by path; only the first where a bound is met.
std::vector<candidate> candidates_of(const walked_directory& top, const search_options& options,
                                     result<void>& within) {
  std::vector<candidate> files;
  const std::size_t skipped = top.path.empty() ? 0 : top.path.size() + 1;
  work_pace work(options.bounds, look_match_steps);
  const auto matches = [&work](std::span<const glob> globs, std::string_view path) {
    return std::ranges::any_of(globs, [&](const glob& each) { return each.matches(path, work); });
  };
  const std::string rules_from =
      options.rules_from.empty() ? "" : std::string(options.rules_from) + '/';
  const auto is_ruled_out = [&](std::string_view path, bool is_file) {
    if (path.starts_with(rules_from)) path.remove_prefix(rules_from.size());
    const auto rules = options.rules | std::views::reverse;
    const auto last = std::ranges::find_if(
        rules, [&](const glob_rule& each) { return each.pattern.matches(path, work); });
    if (last != rules.end()) return last->leaves_out;
    return is_file && !std::ranges::all_of(options.rules, &glob_rule::leaves_out);
  };
  const bool all = options.include.empty() && options.exclude.empty() && options.rules.empty();
  work_pace entries(options.bounds, look_entries);
  for_each_walked(top, [&](const walked_directory& in, const walked_entry& entry) {
    if (within && !entries()) within = entries.within();
    if (!within) return false;
    const bool file = entry.kind == entry_kind::file;
    if (!all && (file || entry.kind == entry_kind::directory)) {
      const std::string in_root = in.path_of(entry), path = in_root.substr(skipped);
      if (matches(options.exclude, path) || is_ruled_out(in_root, file)) return false;
      const bool wanted = !file || options.include.empty() || matches(options.include, path);
      if (within) within = work.within();
      if (!within) return false;
      if (!wanted) return true;
    }
    if (file) files.push_back({&in, &entry});
    return true;
  });
  return files;
}

/// How much was found.
struct amount {
  std::uint64_t matches = 0, files = 0;
};

/// What was found in one block of files.
struct block_outcome {
  std::vector<file_matches> files; ///< those that may be returned
  std::vector<unread_entry> unread;
  amount found;
  std::uint64_t searched = 0, bytes = 0, binary = 0, too_large = 0, no_memory = 0;
  bool done = false;
};

/// Behind the last of the matches (or files) that are returned.
std::uint64_t end_of_page(const search_options& options) {
  return options.offset +
         std::min(options.limit, std::numeric_limits<std::uint64_t>::max() - options.offset);
}

/// Searches many files with several threads and puts what they find in order.
class ordered_search {
public:
  ordered_search(const root& root, const text_pattern& pattern, const search_options& options,
                 std::vector<candidate> files, memory_share taken)
      : root_(root), pattern_(pattern), options_(options), files_(std::move(files)),
        memory_(std::move(taken)), blocks_((files_.size() + block_files - 1) / block_files) {}

  result<void> run(text_matches& into) {
    PADDOCK_CHECK(memory_.begin(options_.bounds));
    const auto useful = static_cast<unsigned>(
        std::min<std::size_t>(std::max(options_.threads_max, 1U), blocks_.size()));
    parallel_blocks(
        useful, useful, [this](std::size_t) { work(); }, 1)
        .finish();
    if (failed_) return *failed_;
    if (ended_ && *ended_ == error_code::cancelled) return error{*ended_, 0, "search"};
    if (ended_) into.coverage.ended_early = ended_;
    into.exact = into.exact && !ended_ && lines_left_out_ == 0;
    gather(into);
    into.exact =
        into.exact && std::ranges::all_of(into.coverage.unread, has_gone, &unread_entry::why);
    return {};
  }

private:
  void work() {
    file_search search(root_, pattern_, options_, memory_);
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return next_ < first_open_ + blocks_ahead || ended_; });
      if (ended_ || next_ == blocks_.size()) break;
      const std::size_t block = next_++;
      const amount before = found_before_;
      lock.unlock();
      block_outcome outcome;
      const auto searched = search_block(search, block, before, outcome);
      lock.lock();
      outcome.done = true;
      blocks_[block] = std::move(outcome);
      if (!searched && !ended_) {
        ended_ = searched.error().code;
        if (ended_ != error_code::timed_out) failed_ = searched.error();
      }
      for (; first_open_ < blocks_.size() && blocks_[first_open_].done; ++first_open_) {
        found_before_.matches += blocks_[first_open_].found.matches;
        found_before_.files += blocks_[first_open_].found.files;
      }
      if (found_before_.matches > options_.matches_max && !ended_) ended_ = error_code::too_many;
      changed_.notify_all();
    }
    lines_left_out_ += search.lines_left_out();
  }

  [[nodiscard]] bool by_line() const noexcept { return options_.output == search_output::lines; }

  /// Errors: those of the bounds.
  result<void> search_block(file_search& search, std::size_t block, amount before,
                            block_outcome& into) {
    const std::uint64_t wanted = end_of_page(options_); // of all; see `gather`
    const std::size_t end = std::min((block + 1) * block_files, files_.size());
    const walked_directory* directory = nullptr;
    result<file_descriptor> open = error{};
    for (std::size_t i = block * block_files; i < end; ++i) {
      const candidate& file = files_[i];
      if (file.in != directory) {
        directory = file.in;
        open = open_again(root_, *directory);
      }
      if (!open) {
        if (!has_gone(open.error().code))
          into.unread.push_back({file.in->path_of(*file.entry), open.error().code});
        continue;
      }
      const std::uint64_t sure =
          by_line() ? before.matches + into.found.matches : before.files + into.found.files;
      const std::uint64_t kept_max = sure < wanted ? wanted - sure : 0;
      PADDOCK_TRY(
          file_outcome outcome,
          search.search(open->get(), file.in->name(*file.entry).data(), by_line() ? kept_max : 0));
      const std::size_t before_it = into.files.size();
      add(file, std::move(outcome), kept_max > 0, into);
      if (into.files.size() > before_it)
        PADDOCK_CHECK(search.keep(2 * sizeof(file_matches) + into.files.back().path.size()));
    }
    return {};
  }

  static void add(const candidate& file, file_outcome outcome, bool is_kept, block_outcome& into) {
    into.no_memory += outcome.no_memory ? 1 : 0;
    switch (outcome.verdict) {
    case file_verdict::binary:
      ++into.binary;
      return;
    case file_verdict::too_large:
      ++into.too_large;
      into.unread.push_back({file.in->path_of(*file.entry), error_code::too_large});
      return;
    case file_verdict::unreadable:
      if (!has_gone(outcome.why))
        into.unread.push_back({file.in->path_of(*file.entry), outcome.why});
      return;
    case file_verdict::searched:
      break;
    }
    ++into.searched;
    into.bytes += outcome.bytes;
    if (outcome.count == 0) return;
    into.found.matches += outcome.count;
    ++into.found.files;
    if (!is_kept) return;
    into.files.push_back({file.in->path_of(*file.entry), outcome.count, std::move(outcome.lines)});
  }

  /// Puts the blocks together. Lines were kept generously, because nobody knew yet how many came
  /// before them.
  void gather(text_matches& into) {
    const std::uint64_t end = end_of_page(options_);
    for (block_outcome& block : blocks_) {
      into.searched += block.searched;
      into.searched_bytes += block.bytes;
      into.binary += block.binary;
      into.too_large += block.too_large;
      into.no_memory += block.no_memory;
      into.coverage.unreadable += block.unread.size() - block.too_large;
      std::ranges::move(block.unread, std::back_inserter(into.coverage.unread));
      std::uint64_t next = by_line() ? into.total_matches : into.total_files;
      into.total_matches += block.found.matches;
      into.total_files += block.found.files;
      for (file_matches& file : block.files) {
        const std::uint64_t first = next;
        next += by_line() ? file.count : 1;
        if (next <= options_.offset || first >= end) continue;
        if (by_line())
          keep_matches(file.lines, options_.offset > first ? options_.offset - first : 0,
                       end - first, options_);
        into.files.push_back(std::move(file));
      }
    }
    std::ranges::sort(into.coverage.unread, {}, &unread_entry::path);
    if (into.coverage.unread.size() > search_coverage::named_max)
      into.coverage.unread.resize(search_coverage::named_max);
  }

  const root& root_;
  const text_pattern& pattern_;
  const search_options& options_;
  const std::vector<candidate> files_;
  search_memory memory_;

  std::mutex mutex_; // of all below
  std::condition_variable changed_;
  std::vector<block_outcome> blocks_;
  std::size_t next_ = 0;       ///< not yet taken
  std::size_t first_open_ = 0; ///< all before it are done
  amount found_before_;        ///< in those
  std::optional<error> failed_;
  std::uint64_t lines_left_out_ = 0;
  std::optional<error_code> ended_;
};

/// A file that was named: it is searched whatever ignore files say.
result<text_matches> search_one(const root& root, const std::string& path,
                                const text_pattern& pattern, const search_options& options) {
  walked_directory directory{.path = std::string(parent(path)),
                             .names = std::string(file_name(path))};
  directory.names += '\0';
  const walked_entry entry{.name_size = static_cast<std::uint16_t>(directory.names.size() - 1),
                           .kind = entry_kind::file};
  text_matches found;
  found.coverage.entries = 1;
  PADDOCK_CHECK(ordered_search(root, pattern, options, {{&directory, &entry}}, {}).run(found));
  if (found.binary > 0) return error{error_code::unsupported_type, 0, "search"};
  if (!found.coverage.unread.empty()) return error{found.coverage.unread.front().why, 0, "search"};
  if (found.searched == 0 && !found.coverage.ended_early)
    return error{error_code::not_found, 0, "search"}; // it went away
  return found;
}

} // namespace

result<text_matches> search_text(const root& root, std::string_view path,
                                 const text_pattern& pattern, const search_options& options) {
  PADDOCK_TRY(const opened start, root.open_beneath(path, access::inspect));
  if (start.status.kind != entry_kind::directory) {
    PADDOCK_TRY(const opened readable, root.open_beneath(path, access::read));
    return search_one(root, readable.path, pattern, options);
  }
  PADDOCK_TRY(walked_tree tree,
              walk(root, path,
                   {.ignored = options.ignored == ignore_files::respect ? ignored_entries::leave_out
                                                                        : ignored_entries::include,
                    .threads_max = options.threads_max,
                    .entries_max = options.entries_max,
                    .bounds = options.bounds}));
  std::uint64_t globs_bytes = 0;
  for (const std::span<const glob> globs : {options.include, options.exclude})
    for (const glob& each : globs)
      globs_bytes += each.held_bytes();
  for (const glob_rule& each : options.rules)
    globs_bytes += each.pattern.held_bytes();
  if (globs_bytes >= globs_bytes_worth_counting)
    PADDOCK_CHECK(tree.memory.grow(globs_bytes, options.bounds));
  text_matches found;
  found.coverage = std::move(tree.coverage);
  result<void> within;
  std::vector<candidate> files = candidates_of(*tree.top, options, within);
  if (!within && within.error().code != error_code::timed_out) return within.error();
  if (!within) found.coverage.ended_early = within.error().code;
  found.exact = !found.coverage.ended_early;
  PADDOCK_CHECK(
      ordered_search(root, pattern, options, std::move(files), std::move(tree.memory)).run(found));
  return found;
}

std::string why_not_searched(error_code why) {
  const std::uint64_t line_mib = search_options().line_bytes_max >> 20;
  if (why == error_code::unsupported_type) return "it is a binary file";
  if (why == error_code::too_large)
    return "it has a line longer than " + std::to_string(line_mib) + " MiB";
  return std::string(text(why));
}

} // namespace paddock
