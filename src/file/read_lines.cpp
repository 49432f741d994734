// SPDX-License-Identifier: MIT
#include "sys/syscall.hpp"

#include <paddock/file/file.hpp>
#include <paddock/text/text_edit.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {
namespace {

/// A range near the front of a large file should cost what it costs in a small one, and a whole
/// file few calls.
constexpr std::size_t first_chunk_bytes = 16 * 1024;
constexpr std::size_t chunk_bytes = 128 * 1024;
/// Between two looks at the bounds.
constexpr std::uint64_t scan_step_bytes = 1024 * 1024;
/// From here on it is faster to count the breaks of a chunk than to go from one to the next.
constexpr std::int64_t lines_worth_counting = 512;
constexpr std::int64_t no_line = std::numeric_limits<std::int64_t>::max();

struct some_lines {
  std::size_t bytes = 0;
  std::int64_t breaks = 0;
};

/// The first `lines` lines of a chunk, with the breaks that end them; all of it when it has fewer.
some_lines lines_of(std::string_view chunk, std::int64_t lines) {
  if (lines >= lines_worth_counting) {
    const auto breaks = static_cast<std::int64_t>(detail::count_breaks(chunk).all);
    if (breaks < lines) return {chunk.size(), breaks};
  }
  some_lines found;
  for (; found.breaks < lines; ++found.breaks) {
    const std::size_t newline = chunk.find('\n', found.bytes);
    if (newline == std::string_view::npos) return {chunk.size(), found.breaks};
    found.bytes = newline + 1;
  }
  return found;
}

/// Reads a file chunk by chunk and counts its line breaks.
class line_stream {
public:
  /// `size` is only a hint: reaching it with a chunk that is not full counts as the end of the
  /// file, which saves the call that would find nothing more.
  line_stream(int fd, std::uint64_t size, const work_bounds& bounds)
      : fd_(fd), size_(size), bounds_(bounds) {}

  /// The rest of the current chunk, or the next one; empty at the end.
  result<std::string_view> chunk() {
    if (rest_.empty() && !at_end_) {
      // At the beginning, and when the first chunk was not the whole file.
      if (offset_ >= buffer_size_ && buffer_size_ < chunk_bytes) {
        buffer_size_ = buffer_size_ == 0 ? first_chunk_bytes : chunk_bytes;
        buffer_.reset(new char[buffer_size_]); // not cleared
      }
      if (offset_ >= next_look_) {
        PADDOCK_CHECK(bounds_.check());
        next_look_ = offset_ + scan_step_bytes;
      }
      PADDOCK_TRY(const auto n, sys::pread(fd_, {buffer_.get(), buffer_size_}, offset_));
      offset_ += n;
      rest_ = {buffer_.get(), n};
      at_end_ = n == 0 || (n < buffer_size_ && offset_ >= size_);
    }
    return rest_;
  }
  void consume(std::size_t bytes) { rest_.remove_prefix(bytes); }

  /// Goes so many lines further; false at the end of the file.
  result<bool> skip_lines(std::int64_t lines) {
    while (lines > 0) {
      PADDOCK_TRY(const auto part, chunk());
      if (part.empty()) return false;
      const auto [bytes, breaks] = lines_of(part, lines);
      consume(bytes);
      passed_ += breaks;
      lines -= breaks;
      if (breaks == 0 && part.front() == '\0' && part.back() == '\0') PADDOCK_CHECK(pass_hole());
    }
    return true;
  }
  /// Where the stream is in the file.
  [[nodiscard]] std::uint64_t position() const { return offset_ - rest_.size(); }
  /// Line breaks passed so far.
  [[nodiscard]] std::int64_t passed() const { return passed_; }
  void add_passed(std::int64_t lines) { passed_ += lines; }

private:
  /// Goes to the next data when a hole, which has no line breaks, is ahead: a sparse file may be
  /// larger than what can be read in a lifetime.
  result<void> pass_hole() {
    if (at_end_ || no_holes_ || !rest_.empty()) return {};
    auto data = sys::seek_data(fd_, offset_);
    if (!data && data.error().os_errno == ENXIO) {
      PADDOCK_TRY(const auto now, sys::fstat(fd_));
      data = now.size;
    }
    no_holes_ = !data; // the file system does not tell
    if (data) offset_ = std::max(offset_, *data);
    return {};
  }

  int fd_;
  std::uint64_t size_;
  work_bounds bounds_;
  std::uint64_t next_look_ = scan_step_bytes;
  bool no_holes_ = false;
  bool at_end_ = false;
  std::unique_ptr<char[]> buffer_; // NOLINT: a vector would clear it
  std::size_t buffer_size_ = 0;
  std::uint64_t offset_ = 0;
  std::string_view rest_;
  std::int64_t passed_ = 0;
};

result<std::int64_t> count_lines(int fd, std::uint64_t size, const work_bounds& bounds) {
  line_stream stream(fd, size, bounds);
  PADDOCK_TRY(const bool more, stream.skip_lines(no_line));
  (void)more; // no file has that many lines
  return stream.passed() + 1;
}

/// Appends lines up to `wanted` breaks; the last break is not part of the text.
/// Returns whether the end of the file ended it.
result<bool> take_lines(line_stream& stream, std::int64_t wanted, std::uint64_t bytes_max,
                        std::string& text) {
  while (wanted > 0) {
    PADDOCK_TRY(const auto part, stream.chunk());
    if (part.empty()) return true;
    const auto [used, breaks] = lines_of(part, wanted);
    stream.add_passed(breaks);
    wanted -= breaks;
    // The break that ends the range counts for the bound no more than it does for the text.
    const std::size_t kept = wanted == 0 ? used - 1 : used;
    if (text.size() + kept > bytes_max) return error{error_code::too_large, 0, "read lines"};
    text.append(part.substr(0, kept));
    stream.consume(used);
  }
  return false;
}

/// A bound as an index from the front; a negative one counts from `total`.
std::int64_t from_front(std::int64_t bound, std::int64_t total) {
  return bound >= 0 ? bound : std::max<std::int64_t>(0, total + bound);
}

/// Whether nothing follows the last newline, where that is no line.
result<bool> has_no_last_line(int fd, std::uint64_t size, line_breaks breaks) {
  if (breaks == line_breaks::separate) return false;
  if (size == 0) return true;
  char last = '\0';
  PADDOCK_TRY(const auto n, sys::pread(fd, {&last, 1}, size - 1));
  return n == 1 && last == '\n';
}

} // namespace

result<line_slice> read_lines(const root& root, std::string_view path, line_range range,
                              read_options options) {
  PADDOCK_TRY(auto file, root.open_beneath(path, access::read));
  const int fd = file.fd.get();
  line_slice slice;
  slice.path = std::move(file.path);
  slice.file_size = file.status.size;
  if (!range.from && !range.to && file.status.size > options.bytes_max)
    return error{error_code::too_large, 0, "read lines"};

  PADDOCK_TRY(const bool is_short, has_no_last_line(fd, file.status.size, range.breaks));
  std::int64_t from = range.from.value_or(0);
  std::int64_t to = range.to.value_or(no_line);
  if (from < 0 || to < 0) {
    PADDOCK_TRY(slice.total_lines, count_lines(fd, file.status.size, options.bounds));
    *slice.total_lines -= is_short ? 1 : 0;
    from = from_front(from, *slice.total_lines);
    to = from_front(to, *slice.total_lines);
  }

  PADDOCK_CHECK(slice.memory.grow(std::min(file.status.size, options.bytes_max), options.bounds));
  line_stream stream(fd, file.status.size, options.bounds);
  PADDOCK_TRY(const bool reached, stream.skip_lines(from));
  slice.offset = stream.position();
  bool at_end = !reached;
  if (reached && to > from) {
    PADDOCK_TRY(at_end, take_lines(stream, to - from, options.bytes_max, slice.text));
  }
  if (at_end) slice.total_lines = stream.passed() + (is_short ? 0 : 1);
  if (at_end && is_short && range.to && slice.text.ends_with('\n')) slice.text.pop_back();
  const auto last = slice.total_lines.value_or(no_line);
  slice.from = std::min(from, last);
  slice.to = std::max(slice.from, std::min(to, last));
  return slice;
}

} // namespace paddock
