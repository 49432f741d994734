// SPDX-License-Identifier: MIT
#include "history/content_packs.hpp"

#include "change/bytes.hpp"
#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <span>
#include <utility>

namespace paddock::history {
namespace {

// A pack is this line and contents, each behind a head of 48 bytes: `Pcnt`, how it is stored (4),
// its size twice (original and stored, 8 each), its name (16), XXH3-64 of the 40 bytes before.
constexpr std::string_view pack_magic = "paddock pack 1\n";
constexpr std::uint32_t content_magic = 0x746E6350; // "Pcnt"
constexpr std::size_t header_size = 48;
constexpr std::uint32_t stored_plain = 0; ///< how a content is stored: there is one way
constexpr std::uint64_t waiting_bytes_max = std::uint64_t{1} << 20U;

using pack_name = std::array<char, 24>;
pack_name name_of_pack(std::uint32_t number) {
  pack_name name;
  std::snprintf(name.data(), name.size(), "pack-%08x", number);
  return name;
}

/// The number of a pack by its name.
std::optional<std::uint32_t> number_of(std::string_view name) {
  if (!name.starts_with("pack-") || name.size() != 13) return std::nullopt;
  std::uint32_t number = 0;
  for (const char digit : name.substr(5)) {
    const bool is_letter = digit >= 'a' && digit <= 'f';
    if (!is_letter && (digit < '0' || digit > '9')) return std::nullopt;
    number = number * 16 + static_cast<std::uint32_t>(is_letter ? digit - 'a' + 10 : digit - '0');
  }
  return number;
}

using content_header = content_packs::description;

std::string header_of(const content_id& id, std::uint64_t size) {
  std::string bytes;
  bytes.reserve(header_size);
  put_u32(bytes, content_magic);
  put_u32(bytes, stored_plain);
  put_u64(bytes, size);
  put_u64(bytes, size);
  put_u64(bytes, id.high);
  put_u64(bytes, id.low);
  put_u64(bytes, sum_of(bytes));
  return bytes;
}

std::optional<content_header> parse_header(std::string_view bytes) {
  byte_reader in(bytes);
  content_header header;
  const std::uint32_t magic = in.u32(), form = in.u32();
  header.size = in.u64();
  const std::uint64_t stored = in.u64();
  header.id.high = in.u64();
  header.id.low = in.u64();
  const std::uint64_t sum = in.u64();
  if (!in.is_good() || magic != content_magic || form != stored_plain || stored != header.size ||
      sum != sum_of(bytes.substr(0, header_size - 8)))
    return std::nullopt;
  return header;
}

result<std::string> read_at(int fd, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  PADDOCK_TRY(const std::size_t done, read_all(fd, bytes, offset));
  bytes.resize(done);
  return bytes;
}

/// Everything, however little the kernel takes at a time.
result<void> write_pieces(int fd, std::span<iovec> rest) {
  constexpr std::size_t at_once_max = 1024; // IOV_MAX
  while (!rest.empty()) {
    PADDOCK_TRY(std::size_t n, sys::writev(fd, rest.first(std::min(at_once_max, rest.size()))));
    if (n == 0) return sys::failure(ENOSPC, "writev");
    for (; !rest.empty() && n >= rest.front().iov_len; rest = rest.subspan(1))
      n -= rest.front().iov_len;
    if (n == 0) continue;
    rest.front().iov_base = static_cast<char*>(rest.front().iov_base) + n;
    rest.front().iov_len -= n;
  }
  return {};
}

} // namespace

void content_packs::forget() {
  contents_.clear();
  open_.clear();
  waiting_.clear();
  waiting_bytes_ = 0;
  out_.reset();
  pack_ = 0;
  end_ = 0;
  is_sealed_ = true;
}

bool content_packs::has_any(std::span<const store_file> files) {
  return std::ranges::any_of(
      files, [](const store_file& each) { return number_of(each.name).has_value(); });
}

result<void> content_packs::catch_up(std::span<const store_file> files, const work_bounds& bounds) {
  grown_ = waiting_bytes_;
  std::vector<std::uint32_t> fresh;
  for (const store_file& each : files) {
    const auto number = number_of(each.name);
    const bool is_known = number == pack_ && each.bytes == end_;
    if (number && *number >= pack_ && !is_known) fresh.push_back(*number);
  }
  std::ranges::sort(fresh);
  for (const std::uint32_t number : fresh) {
    PADDOCK_CHECK(bounds.check());
    const auto fd = sys::openat(directory_, name_of_pack(number).data(), O_RDONLY | O_NOFOLLOW);
    if (!fd) continue; // its contents are lost, and told when they are asked for
    const auto status = sys::fstat(fd->get());
    if (!status) continue;
    if (number != pack_) {
      pack_ = number;
      end_ = 0;
      out_.reset();
    }
    PADDOCK_CHECK(learn(number, fd->get(), status->size));
  }
  return {};
}

result<void> content_packs::learn(std::uint32_t pack, int fd, std::uint64_t size) {
  is_sealed_ = false;
  if (end_ == 0) {
    PADDOCK_TRY(const std::string magic, read_at(fd, 0, pack_magic.size()));
    end_ = magic.size();
    is_sealed_ = magic != pack_magic;
  }
  // Headers alone are read: of small contents many at once, of large ones not the rest.
  constexpr std::uint64_t window_bytes = 4096;
  std::string window;
  std::uint64_t window_at = 0;
  while (!is_sealed_ && end_ < size) {
    if (end_ < window_at || end_ + header_size > window_at + window.size()) {
      PADDOCK_TRY(window, read_at(fd, end_, std::min(window_bytes, size - end_)));
      window_at = end_;
    }
    const auto header =
        parse_header(std::string_view(window).substr(end_ - window_at).substr(0, header_size));
    const std::uint64_t begin = end_ + header_size;
    if (!header || header->size > size - begin || begin > pack_bytes_max + header_size) {
      is_sealed_ = true; // cut off, or damaged: what follows cannot be found
      break;
    }
    // A later copy is there because the first is damaged.
    contents_.set(header->id, {.pack = pack, .offset = static_cast<std::uint32_t>(begin)});
    end_ = begin + header->size;
  }
  if (end_ >= pack_bytes_max) is_sealed_ = true;
  return {};
}

result<void> content_packs::begin_pack() {
  const std::uint32_t number = pack_ + 1;
  PADDOCK_CHECK(sync_pack()); // from now on `sync` is about the new one
  is_listed_ = false;
  PADDOCK_TRY(out_, sys::openat(directory_, name_of_pack(number).data(),
                                O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, 0600));
  PADDOCK_CHECK(write_all(out_.get(), pack_magic));
  pack_ = number;
  end_ = pack_magic.size();
  is_sealed_ = false;
  return {};
}

named_content content_packs::named(std::string bytes) const {
  const content_id name = name_of(bytes, key_);
  return {.bytes = std::move(bytes), .name = name};
}

result<content_id> content_packs::add(named_content&& content, std::uint64_t room) {
  content_id id = content.name;
  const std::string& bytes = content.bytes;
  for (; contents_.find(id); ++id.low) { // another content of that name nobody will ever see
    const auto there = read(id);
    if (there && *there == bytes) return id;
    if (!there) { // damaged: this one takes its place
      contents_.erase(id);
      break;
    }
  }
  const std::uint64_t all = header_size + bytes.size();
  if (all > room) return error{error_code::too_large, 0, budget_operation};
  if (end_ + waiting_bytes_ >= pack_bytes_max) {
    PADDOCK_CHECK(flush());
    is_sealed_ = true;
  }
  if (is_sealed_) PADDOCK_CHECK(begin_pack());
  if (!out_) {
    PADDOCK_TRY(out_, sys::openat(directory_, name_of_pack(pack_).data(),
                                  O_WRONLY | O_APPEND | O_NOFOLLOW));
  }
  grown_ += all;
  const auto offset = static_cast<std::uint32_t>(end_ + waiting_bytes_ + header_size);
  contents_.set(id, {.pack = pack_, .offset = offset});
  waiting_.push_back({.name = id,
                      .offset = offset,
                      .head = header_of(id, bytes.size()),
                      .bytes = std::move(content.bytes)});
  waiting_bytes_ += all;
  if (waiting_bytes_ >= waiting_bytes_max) PADDOCK_CHECK(flush());
  return id;
}

result<void> content_packs::flush() {
  if (waiting_.empty()) return {};
  std::vector<iovec> pieces;
  pieces.reserve(2 * waiting_.size());
  for (waiting& each : waiting_) {
    pieces.push_back({each.head.data(), each.head.size()});
    pieces.push_back({each.bytes.data(), each.bytes.size()});
  }
  const auto written = write_pieces(out_.get(), pieces);
  if (written) {
    end_ += waiting_bytes_;
  } else {
    for (const waiting& each : waiting_)
      contents_.erase(each.name);
    // What is there of it is cut off; where that fails too, another pack goes on.
    if (!sys::ftruncate(out_.get(), end_)) is_sealed_ = true;
  }
  waiting_.clear();
  waiting_bytes_ = 0;
  return written;
}

result<void> content_packs::sync() {
  PADDOCK_CHECK(flush());
  PADDOCK_CHECK(sync_pack());
  if (!is_listed_) PADDOCK_CHECK(sys::fsync(directory_));
  is_listed_ = true;
  return {};
}

/// The pack that grows, also where another process wrote it.
result<void> content_packs::sync_pack() {
  if (pack_ != 0 && !out_) {
    auto opened =
        sys::openat(directory_, name_of_pack(pack_).data(), O_WRONLY | O_APPEND | O_NOFOLLOW);
    if (!opened && opened.error().code == error_code::not_found) return {};
    PADDOCK_TRY(out_, std::move(opened));
  }
  return out_ ? sys::fdatasync(out_.get()) : result<void>();
}

result<void> content_packs::rewrite(const std::function<bool(const content_id&)>& is_wanted,
                                    std::uint64_t room, const work_bounds& bounds) {
  struct pack_use {
    std::uint64_t wanted = 0, all = 0;
    std::span<const located_content> contents{};
  };
  const std::vector<located_content> all = contents_.all();
  std::map<std::uint32_t, pack_use> packs;
  std::optional<error> unread;
  for (auto begin = all.begin(); begin != all.end();) {
    const std::uint32_t number = begin->pack;
    const auto end =
        std::find_if(begin, all.end(), [&](const auto& each) { return each.pack != number; });
    pack_use& use = packs[number];
    use.contents = {begin, end};
    for (const located_content& at : use.contents) {
      const auto header = described(at);
      if (!header) continue;
      use.all += header->size + header_size;
      if (is_wanted(header->id)) use.wanted += header->size + header_size;
    }
    begin = end;
  }
  is_sealed_ = true; // copies go into a pack of their own
  // The emptiest first: what is removed makes room for copies.
  std::vector<std::pair<std::uint32_t, const pack_use*>> order;
  for (const auto& [number, use] : packs)
    order.emplace_back(number, &use);
  std::ranges::sort(order, {}, [](const auto& each) { return each.second->wanted; });
  for (const auto& [number, use_of] : order) {
    const pack_use& use = *use_of;
    constexpr std::uint64_t worth = 4; // a quarter of it is to be won
    const bool is_room = use.wanted == 0 || use.wanted + pack_magic.size() <= room;
    if (use.all - use.wanted < use.all / worth || !is_room) continue;
    PADDOCK_CHECK(bounds.check());
    PADDOCK_TRY(const auto failed, copy_out(use.contents, is_wanted, bounds));
    if (failed) { // the pack stays: perhaps it can be read the next time
      unread = failed;
      continue;
    }
    PADDOCK_CHECK(sync());
    (void)sys::unlinkat(directory_, name_of_pack(number).data(), 0);
    room += use.all - use.wanted;
  }
  return unread ? result<void>(*unread) : result<void>();
}

result<std::optional<error>>
content_packs::copy_out(std::span<const located_content> contents,
                        const std::function<bool(const content_id&)>& is_wanted,
                        const work_bounds& bounds) {
  constexpr std::uint64_t no_bound = ~std::uint64_t{0};
  for (const located_content& at : contents) {
    PADDOCK_CHECK(bounds.check());
    const auto header = described(at);
    if (header && !is_wanted(header->id)) continue;
    auto bytes = header ? read(at, *header) : result<std::string>(header.error());
    const bool is_damaged = !bytes && bytes.error().os_errno == 0;
    if (is_damaged) continue; // it is lost either way
    if (!bytes) return std::optional(bytes.error());
    contents_.erase(header->id);
    PADDOCK_CHECK(add(named(*std::move(bytes)), no_bound));
  }
  return std::optional<error>();
}

result<const file_descriptor*> content_packs::opened(std::uint32_t pack) const {
  if (const auto found = open_.find(pack); found != open_.end()) return &found->second;
  PADDOCK_TRY(file_descriptor fd,
              sys::openat(directory_, name_of_pack(pack).data(), O_RDONLY | O_NOFOLLOW));
  constexpr std::size_t open_max = 16;
  if (open_.size() >= open_max) open_.clear();
  return &open_.emplace(pack, std::move(fd)).first->second;
}

const content_packs::waiting* content_packs::is_waiting(const located_content& at) const {
  if (at.pack != pack_ || at.offset < end_) return nullptr;
  const auto found = std::ranges::lower_bound(waiting_, at.offset, {}, &waiting::offset);
  return found != waiting_.end() && found->offset == at.offset ? &*found : nullptr;
}

result<content_packs::description> content_packs::described(const located_content& at) const {
  std::string read;
  if (const waiting* const here = is_waiting(at)) {
    read = here->head;
  } else {
    PADDOCK_TRY(const file_descriptor* fd, opened(at.pack));
    PADDOCK_TRY(read, read_at(fd->get(), at.offset - header_size, header_size));
  }
  const auto header = parse_header(read);
  return header ? result<description>(*header) : error{error_code::io, 0, "history content"};
}

result<std::string> content_packs::read(const content_id& id) const {
  const auto at = contents_.find(id);
  if (!at) return error{error_code::not_found, 0, "history content"};
  PADDOCK_TRY(const description header, described(*at));
  if (header.id != id) return error{error_code::io, 0, "history content"};
  return read(*at, header);
}

result<std::string> content_packs::read(const located_content& at, const description& of) const {
  std::string bytes;
  if (const waiting* const here = is_waiting(at)) {
    bytes = here->bytes;
  } else {
    PADDOCK_TRY(const file_descriptor* fd, opened(at.pack));
    PADDOCK_TRY(bytes, read_at(fd->get(), at.offset, of.size));
  }
  const content_id sum = name_of(bytes, key_);
  constexpr std::uint64_t same_names_max = 16;
  const bool is_good =
      bytes.size() == of.size && sum.high == of.id.high && of.id.low - sum.low < same_names_max;
  if (!is_good) return error{error_code::io, 0, "history content"};
  return bytes;
}

std::uint64_t content_packs::size_of(const content_id& id) const {
  const auto at = contents_.find(id);
  const auto header = at ? described(*at) : error{error_code::not_found, 0, "history content"};
  return header ? header->size : 0;
}

} // namespace paddock::history
