// SPDX-License-Identifier: MIT

// What entries hold: how it is read, and kept.

#include "base/later.hpp"
#include "base/parallel_blocks.hpp"
#include "history/store_impl.hpp"
#include "sys/spare_memory.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace paddock::history {
namespace {

constexpr std::size_t batch_files = 256;
constexpr std::size_t neighbours_max = 16; ///< what a thread reads at a time
constexpr std::uint64_t small_bytes_max = std::uint64_t{1} << 20U;
constexpr std::uint64_t batch_bytes = std::uint64_t{8} << 20U;
constexpr int reads_max = 3;
constexpr std::uint64_t wait_ms_max = 3'600'000;

holding why_not(const error& e) {
  return e.code == error_code::too_large ? holding::over_budget : holding::lost;
}

/// What may be held if it is asked for by name: a failure may be over by now.
bool is_worth_another_try(holding why) {
  return why == holding::ignored || why == holding::unreadable || why == holding::lost;
}

struct read_entry {
  std::string bytes;
  file_status status;
};

/// What a file or link holds now, if it is still that one.
result<read_entry> read_content(const file_descriptor& fd, const known_state& state,
                                std::uint64_t bytes_max) {
  const bool is_link = state.kind == known_kind::link;
  PADDOCK_TRY(auto status, sys::fstat(fd.get()));
  read_entry out{{}, status};
  if (known_kind_of(out.status.kind) != state.kind)
    return error{error_code::conflict, 0, "history"};
  if (is_link) {
    PADDOCK_TRY(out.bytes, sys::readlinkat(fd.get(), ""));
    return out;
  }
  if (out.status.size > bytes_max) return error{error_code::not_text, 0, "history"}; // grown
  out.bytes.resize(out.status.size + 1);
  std::size_t size = 0;
  for (bool is_more = true; is_more && size < out.bytes.size();) {
    const auto rest = std::span(out.bytes).subspan(size);
    PADDOCK_TRY(const std::size_t n, sys::read(fd.get(), rest));
    is_more = n != 0 && size + n != out.status.size; // a file that has grown is told by its times
    size += n;
  }
  out.bytes.resize(size);
  PADDOCK_TRY(const auto after, sys::fstat(fd.get()));
  if (after.size != size || after.changed_ns != out.status.changed_ns ||
      after.modified_ns != out.status.modified_ns)
    return error{error_code::conflict, 0, "history"};
  return out;
}

/// Files of one directory, by their places in a batch.
struct neighbours {
  std::size_t begin = 0, end = 0;
};

std::vector<neighbours> neighbours_of(const std::vector<unread_file>& batch) {
  std::vector<neighbours> all;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const bool goes_on = !all.empty() && i - all.back().begin < neighbours_max &&
                         parent_of(batch[i].path) == parent_of(batch[i - 1].path);
    if (!goes_on) all.push_back({.begin = i});
    all.back().end = i + 1;
  }
  return all;
}

/// Counts as long as it lives.
class under_way {
public:
  explicit under_way(std::atomic<std::size_t>& count) : count_(count) { ++count_; }
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;
  ~under_way() { --count_; }

private:
  std::atomic<std::size_t>& count_;
};

} // namespace

bool is_in_cache(std::string_view path) {
  static constexpr std::array<std::string_view, 17> caches{
      "node_modules", "target",      "build",         "dist",          "out",      ".venv",
      "venv",         "__pycache__", ".cache",        ".gradle",       ".tox",     ".next",
      ".mypy_cache",  ".ruff_cache", ".pytest_cache", ".parcel-cache", "bazel-out"};
  for (std::string_view above = parent_of(path); !above.empty(); above = parent_of(above))
    if (std::ranges::find(caches, last_of(above)) != caches.end()) return true;
  return false;
}

bool is_left_out(std::string_view path, const known_state& state) {
  constexpr std::uint64_t small_bytes_max = std::uint64_t{1} << 20U;
  return state.is_ignored && (state.size > small_bytes_max || is_in_cache(path));
}

read_time::read_time() : tick_ns(sys::file_clock_ns()), now_ns(sys::file_time_now_ns()) {}

store::impl::fetched store::impl::fetch(const place& where, const known_state& known,
                                        const read_time& when, reach of) const {
  fetched out{.state = known};
  known_state& state = out.state;
  if (!state.is_content()) return out;
  if (of == reach::covered && is_left_out(where.path, state)) {
    state.held = holding::ignored;
    return out;
  }
  if (state.size > how.file_bytes_max) {
    state.held = holding::too_large;
    return out;
  }
  for (int attempt = 0; attempt < reads_max; ++attempt) {
    const std::uint64_t flags = state.kind == known_kind::link ? O_PATH : O_RDONLY;
    const auto fd = where.directory >= 0 ? open_plain_in(*workspace, where.directory,
                                                         std::string(last_of(where.path)), flags)
                                         : open_plain(*workspace, where.path, flags);
    auto read = fd ? read_content(*fd, state, how.file_bytes_max) : result<read_entry>(fd.error());
    if (!read) {
      const error_code why = read.error().code;
      if (why == error_code::not_found) return out; // it was gone before it was read
      state.held = why == error_code::not_text ? holding::too_large : holding::unreadable;
      state.is_unsure = why == error_code::conflict;
      if (state.is_unsure) continue;
      return out;
    }
    state = state_of(read->status);
    state.is_ignored = known.is_ignored;
    state.is_unsure = when.is_fresh(state);
    out.content = packs.named(std::move(read->bytes));
    return out;
  }
  return out;
}

known_state store::impl::keep(fetched&& from) {
  known_state state = from.state;
  if (!from.content) return state;
  // A page that is mapped may be written to without a new time, but for the first time.
  const auto since_ns = running_since_ns();
  state.is_unsure = state.is_unsure || (since_ns && state.changed_ns >= *since_ns);
  const auto id = packs.add(*std::move(from.content), room());
  if (id) {
    state.held = holding::held;
    state.content = *id;
  } else {
    state.held = why_not(id.error());
    if (state.held == holding::over_budget)
      is_full = true;
    else
      complain(id.error());
  }
  return state;
}

void store::impl::take_in(const std::string& path, known_state& state, const read_time& when,
                          reach of) {
  state = keep(fetch({.path = path}, state, when, of));
}

result<void> store::impl::hold(std::span<const std::string> paths) {
  const read_time when;
  journal_record seen{.kind = record_kind::seen, .time_ms = now_ms()};
  const auto one = [&](std::string_view path, const known_state& state, reach of) {
    const bool is_wanted = state.held == holding::not_read_yet ||
                           (of == reach::asked && is_worth_another_try(state.held));
    if (!is_wanted) return;
    known_state now = state;
    take_in(std::string(path), now, when, of);
    if (now.changed_ns != state.changed_ns || now.inode != state.inode) return; // the next scan's
    seen.transitions.push_back({.path = std::string(path), .after = now});
  };
  for (const std::string& path : paths) {
    if (const known_state state = index.find(path); state.kind != known_kind::directory)
      one(path, state, reach::asked);
    else
      index.for_each_beneath(path, [&](std::string_view inner, const known_state& each) {
        one(inner, each, reach::covered);
      });
  }
  return write(std::move(seen));
}

/// The small ones first: a command does not wait for a large file, and what it changes most often
/// is small, such as git's index.
std::vector<unread_file> store::impl::next_unread() {
  std::vector<unread_file> batch;
  std::uint64_t bytes = 0;
  if (std::exchange(has_read_through, false)) return batch; // what is left keeps changing
  bool is_complete = false;
  index.for_each_unread(reading_from,
                        [&](std::string_view in, std::string_view name, const known_state& state) {
                          is_complete = batch.size() >= batch_files || bytes >= batch_bytes;
                          if (is_complete) {
                            reading_from = {std::string(in), std::string(name)};
                            return false;
                          }
                          if ((state.size > small_bytes_max) != reads_large) return true;
                          std::string path(in);
                          if (!in.empty()) path += '/';
                          batch.push_back({std::move(path += name), state});
                          bytes += std::min(state.size, how.file_bytes_max);
                          return true;
                        });
  if (is_complete) return batch;
  reading_from = {};
  reads_large = !reads_large;
  if (reads_large && batch.empty()) return next_unread();
  has_read_through = !reads_large && !batch.empty();
  return batch;
}

result<bool> store::impl::has_unread(const work_bounds& bounds) {
  std::unique_lock held(mutex, std::defer_lock);
  PADDOCK_CHECK(hold_mutex(held, bounds));
  return !is_started || index.unread() != 0 || index.lost() != 0;
}

result<void> store::impl::read_for(std::uint64_t most_ms, const work_bounds& bounds) {
  const std::int64_t end =
      later(sys::monotonic_ms(), static_cast<std::int64_t>(std::min(most_ms, wait_ms_max)));
  // After the end of one reading another one tries once more what has changed meanwhile.
  for (int ends = 0; ends < 2 && sys::monotonic_ms() < end;) {
    PADDOCK_TRY(const bool is_left, has_unread(bounds));
    if (!is_left) return {};
    PADDOCK_TRY(const bool is_more, read_some(bounds));
    if (is_more) continue;
    if (reading_now == 0) ++ends;
    sys::pause_ms(1); // others read the last of it
  }
  return {};
}

result<bool> store::impl::read_some(const work_bounds& bounds) {
  std::vector<unread_file> batch;
  {
    const guard held(*this, use::work, bounds);
    PADDOCK_CHECK(held.ready());
    batch = next_unread();
  }
  if (batch.empty()) {
    if (has_read.exchange(false)) sys::give_back_spare_memory();
    return false;
  }
  has_read = true;
  const under_way reading(reading_now);
  // Without the lock: nobody waits for files that are read.
  const read_time when;
  std::vector<fetched> read(batch.size());
  const auto groups = neighbours_of(batch);
  const auto fetch_group = [&](std::size_t g) {
    const std::string in(parent_of(batch[groups[g].begin].path));
    const auto fd = open_plain(*workspace, in, O_PATH | O_DIRECTORY);
    for (std::size_t i = groups[g].begin; i < groups[g].end; ++i)
      read[i] = fetch({.path = batch[i].path, .directory = fd ? fd->get() : -1}, batch[i].state,
                      when, reach::covered);
  };
  parallel_blocks(groups.size(), how.threads_max, fetch_group, 1).finish();
  const guard held(*this, use::work, bounds);
  PADDOCK_CHECK(held.ready());
  journal_record seen{.kind = record_kind::seen, .time_ms = now_ms()};
  seen.transitions.reserve(batch.size());
  for (const neighbours& group : groups) {
    for (std::size_t i = group.begin; i < group.end; ++i) {
      const known_state now = index.find(batch[i].path);
      const bool is_wanted = is_to_read(now) && now.looks_like(batch[i].state);
      // What has changed meanwhile is for the next scan.
      const bool is_gone = !read[i].content && read[i].state.held == holding::not_read_yet;
      if (!is_wanted || is_gone || !now.looks_like(read[i].state)) continue;
      seen.transitions.push_back(
          {.path = std::move(batch[i].path), .after = keep(std::move(read[i]))});
      read[i] = {};
    }
  }
  PADDOCK_CHECK(write(std::move(seen)));
  return true;
}

result<void> store::read_in(const work_bounds& bounds) {
  for (;;) {
    PADDOCK_CHECK(bounds.check());
    PADDOCK_TRY(const bool is_more, impl_->read_some(bounds));
    if (!is_more) return {};
  }
}

std::string store::impl::not_held(std::span<const std::string> paths) const {
  std::string failure;
  for (const std::string& path : paths)
    index.for_each_beneath(path, [&](std::string_view inner, const known_state& state) {
      const bool is_failed = state.held == holding::over_budget || state.held == holding::lost;
      if (!is_failed || !failure.empty()) return;
      failure = "what " + std::string(inner) + " held before could not be kept: ";
      failure += reason_of(state.held);
    });
  return failure;
}

} // namespace paddock::history
