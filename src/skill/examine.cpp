// SPDX-License-Identifier: MIT
#include "file/directory_stream.hpp"
#include "path/resolve.hpp"
#include "skill/index.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/frontmatter/frontmatter_yaml.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace paddock {
namespace {

/// Further than one tick of any kernel's clock, and than the whole seconds of file systems that
/// know nothing finer.
constexpr std::int64_t tick_ns = 20'000'000;
constexpr std::int64_t second_ns = 1'000'000'000;

file_stamp file_stamp_of(const file_status& s) {
  return {s.device, s.inode, s.size, s.modified_ns, s.changed_ns};
}

/// Whether a later change would show in the stamp. `now` was taken before the content was read.
bool is_settled(const file_status& s, std::int64_t now) {
  const bool coarse = s.changed_ns % second_ns == 0;
  return now - s.changed_ns > (coarse ? 2 * second_ns : tick_ns);
}

struct skill_file_read {
  opened file;
  bool strict = false; ///< found without any link, beneath the directory
};

/// The SKILL.md of one skill. The strict open is enough for nearly all; where it meets a link or
/// another file system, the root's own rules decide.
result<skill_file_read> open_skill_file(const skill_directory& in, std::string& path) {
  const resolve::scope beneath{.root = in.fd.get(),
                               .resolver = in.base->resolver(),
                               .mounts = mounts::refuse,
                               .mount = in.status.mount,
                               .device = in.status.device};
  constexpr int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
  skill_file_read got;
  auto fd = resolve::open_strict(beneath, path, static_cast<std::uint64_t>(flags));
  const bool link = !fd && resolve::met_link(fd.error());
  if (!fd && !link && fd.error().code != error_code::crosses_mount) return fd.error();
  if (link && in.source == skill_source::system)
    return error{error_code::denied_by_policy, ELOOP, "symbolic link"};
  if (fd) {
    PADDOCK_TRY(got.file.status, sys::fstat(fd->get()));
    if (got.file.status.kind == entry_kind::directory)
      return error{error_code::is_a_directory, EISDIR, "open"};
    if (got.file.status.kind != entry_kind::file) return error{error_code::not_regular, 0, "open"};
    got.strict = in.strict_only;
    got.file.fd = *std::move(fd);
  }
  if (!got.strict) {
    PADDOCK_TRY(got.file, in.base->open_beneath(in.prefix + path, access::read));
  }
  return got;
}

/// Fills the buffer as far as the file goes. Reaching `size` counts as the end of the file, which
/// saves the call that would find nothing more.
result<std::size_t> read_up_to(int fd, std::span<char> buffer, std::size_t from,
                               std::uint64_t size) {
  std::size_t used = from;
  do {
    PADDOCK_TRY(const auto n, sys::pread(fd, buffer.subspan(used), used));
    if (n == 0) break;
    used += n;
  } while (used < buffer.size() && used < size);
  return used;
}

/// 98 % of real blocks end within it. What is read beyond it comes from memory that is not in any
/// cache, and costs as much as everything that is done with the block.
constexpr std::size_t usual_bytes = 1024;

/// Reads no more of the file than its frontmatter needs.
result<frontmatter::fields> read_fields(const opened& file, frontmatter::policy policy) {
  using namespace frontmatter;
  const frontmatter::options how{.policy = policy, .full = libyaml()};
  std::array<char, prefix_bytes> first;
  const int fd = file.fd.get();
  std::string_view prefix;
  for (const std::size_t wanted : {usual_bytes, prefix_bytes}) {
    const auto room = std::span(first).first(wanted);
    PADDOCK_TRY(const auto n, read_up_to(fd, room, prefix.size(), file.status.size));
    prefix = {first.data(), n};
    if (n < wanted) return parse(prefix, extent::whole_file, how);
    if (!needs_more(prefix)) return parse(prefix, extent::prefix, how);
  }
  std::string all(bytes_max, '\0');
  std::copy(prefix.begin(), prefix.end(), all.begin());
  PADDOCK_TRY(const auto used, read_up_to(fd, all, prefix.size(), file.status.size));
  const auto have = used < all.size() ? extent::whole_file : extent::prefix;
  return parse(std::string_view(all).substr(0, used), have, how);
}

/// The directory itself may be missing, or be none: then it is nothing that anybody wants to hear
/// of.
bool is_directory(const skill_directory& in, const std::string& id) {
  const auto status = sys::status_at(in.fd.get(), id.c_str(), AT_SYMLINK_NOFOLLOW);
  if (!status) return status.error().code != error_code::not_found;
  if (status->kind != entry_kind::symlink) return status->kind == entry_kind::directory;
  const auto target = in.base->open_beneath(in.prefix + id, access::inspect);
  return !target || target->status.kind == entry_kind::directory;
}

/// Whether the directory has a SKILL.md but for its case, which some other systems do not tell.
bool has_other_case(const skill_directory& in, const std::string& id) {
  constexpr std::size_t looked_at_max = 1'000;
  const auto directory = in.base->open_beneath(in.prefix + id, access::directory);
  if (!directory) return false;
  bool found = false;
  std::size_t seen = 0;
  const auto look = [&](std::string_view name, unsigned char) {
    found = detail::equal_ignoring_ascii_case(name, skill_file_name);
    return !found && ++seen < looked_at_max;
  };
  return for_each_entry(directory->fd.get(), look) && found;
}

} // namespace

result<std::optional<skill_directory>>
open_skill_directory(const root& base, const skill_store_options& options, skill_source source) {
  const auto& path =
      source == skill_source::system ? options.system_directory : options.user_directory;
  auto found = base.open_beneath(path, access::directory);
  if (!found && found.error().code == error_code::not_found)
    return std::optional<skill_directory>();
  if (!found) return found.error();
  skill_directory in{.base = &base,
                     .options = &options,
                     .source = source,
                     .prefix = path,
                     .fd = std::move(found->fd),
                     .status = found->status,
                     .strict_only = base.protected_in_place()};
  if (!in.prefix.ends_with('/')) in.prefix += '/';
  return std::optional(std::move(in));
}

std::optional<examined_skill> examine_skill(const skill_directory& in, std::string_view id,
                                            std::string& path) {
  path.assign(id).append("/").append(skill_file_name);
  const auto now = sys::file_clock_ns();

  unloaded_directory bad;
  auto file = open_skill_file(in, path);
  if (file) {
    auto fields = read_fields(file->file, in.options->policy);
    std::optional<file_stamp> stamp;
    if (file->strict && is_settled(file->file.status, now)) stamp = file_stamp_of(file->file.status);
    if (fields && fields->loaded())
      return examined_skill{skill{.id = std::string(id),
                                  .name = std::move(fields->name),
                                  .description = std::move(fields->description),
                                  .source = in.source,
                                  .path = in.prefix + path,
                                  .diagnostics = std::move(fields->diagnostics)},
                            stamp};
    bad.why = fields ? not_a_skill::invalid_frontmatter : not_a_skill::unreadable;
    if (fields) bad.diagnostics = std::move(fields->diagnostics);
    if (!fields) bad.reason = fields.error();
    bad.id = id;
    bad.source = in.source;
    bad.path = in.prefix + bad.id;
    return examined_skill{std::move(bad), fields ? stamp : std::nullopt};
  }
  bad.id = id;
  if (!is_directory(in, bad.id)) return std::nullopt;
  bad.source = in.source;
  bad.path = in.prefix + bad.id;
  if (file.error().code != error_code::not_found) {
    bad.why = not_a_skill::unreadable;
    bad.reason = file.error();
  } else if (has_other_case(in, bad.id)) {
    bad.why = not_a_skill::wrong_case;
  }
  return examined_skill{std::move(bad), std::nullopt};
}

} // namespace paddock
