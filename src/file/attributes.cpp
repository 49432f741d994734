// SPDX-License-Identifier: MIT
#include "file/attributes.hpp"

#include "sys/syscall.hpp"

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

namespace paddock {
namespace {

constexpr const char* access_list = "system.posix_acl_access";
constexpr std::string_view user_prefix = "user.";

// The list as bytes: a version of four, then entries of a tag (2), permissions (2), an id (4).
constexpr std::size_t list_head = 4;
constexpr std::size_t list_entry = 8;
constexpr std::size_t permissions_at = 2;
constexpr char tag_group = 0x04; // the owning group
constexpr char tag_mask = 0x10;
constexpr char tag_other = 0x20;

bool says_none(const error& e) {
  return e.os_errno == ENODATA || e.code == error_code::unsupported;
}

/// The system says "invalid argument" of a list with users that it does not know here.
error list_refusal(const error& why) {
  const bool unknown = why.code == error_code::invalid_argument;
  return {unknown ? error_code::permission_denied : why.code, why.os_errno, "access control list"};
}

/// It is another group than before: nobody may get more than both the old one and everybody had,
/// neither who is in the new group nor who is in the old one, and now is one of the others.
/// `mode` is set after the list, and has the bits of the others too.
void shrink_group(std::string& list, unsigned& mode) {
  constexpr char all = 07;
  const auto permissions_of = [&](char tag) -> char* {
    for (std::size_t at = list_head; at + list_entry <= list.size(); at += list_entry)
      if (list[at] == tag) return &list[at + permissions_at];
    return nullptr;
  };
  char* const group = permissions_of(tag_group);
  char* const others = permissions_of(tag_other);
  if (group == nullptr || others == nullptr) return;
  const char* const mask = permissions_of(tag_mask);
  const int of_group = *group & (mask != nullptr ? *mask : all);
  *group = *others = static_cast<char>(of_group & *others);
  mode = (mode & 0770U) | static_cast<unsigned>(*others);
}

/// Whether the new file belongs to the old one's group.
result<bool> take_over_owner(int fd, const file_status& old) {
  PADDOCK_TRY(const auto now, sys::status_at(fd, ""));
  if (now.uid == old.uid && now.gid == old.gid) return true;
  if (sys::fchown(fd, old.uid, old.gid)) return true;
  if (now.gid == old.gid) return true;
  return sys::fchown(fd, now.uid, old.gid).has_value();
}

result<void> take_over_list(int fd, const place& where, bool listed, bool group_kept,
                            unsigned& mode) {
  if (listed) {
    auto list = sys::attribute_at(where.parent.get(), where.name.c_str(), access_list);
    if (!list && !says_none(list.error())) return list_refusal(list.error());
    if (list) {
      if (!group_kept) shrink_group(*list, mode);
      auto set = sys::set_attribute(fd, access_list, *list);
      return set ? set : list_refusal(set.error());
    }
  }
  const auto inherited = sys::attribute_size(fd, access_list);
  if (!inherited || *inherited == 0) return {};
  auto gone = sys::remove_attribute(fd, access_list);
  return gone ? gone : list_refusal(gone.error());
}

/// What cannot be read or may not be set stays behind.
result<void> take_over_notes(int fd, const place& where, std::string_view names) {
  for (; !names.empty(); names.remove_prefix(names.find('\0') + 1)) {
    const std::string name(names.substr(0, names.find('\0')));
    if (!name.starts_with(user_prefix)) continue;
    const auto value = sys::attribute_at(where.parent.get(), where.name.c_str(), name.c_str());
    if (!value) continue;
    auto set = sys::set_attribute(fd, name.c_str(), *value);
    if (!set && set.error().code == error_code::no_space) return set;
  }
  return {};
}

bool names_list(std::string_view names) {
  for (; !names.empty(); names.remove_prefix(names.find('\0') + 1))
    if (names.substr(0, names.find('\0')) == access_list) return true;
  return false;
}

} // namespace

result<void> take_over_attributes(int fd, const place& where) {
  const file_status& old = *where.existing;
  const auto names = sys::attribute_names_at(where.parent.get(), where.name.c_str());
  if (!names && !says_none(names.error()) && names.error().code != error_code::not_found)
    return list_refusal(names.error());
  if (names) PADDOCK_CHECK(take_over_notes(fd, where, *names));
  PADDOCK_TRY(const bool group_kept, take_over_owner(fd, old));
  const bool listed = names && names_list(*names);
  unsigned mode = old.mode & 0777U; // with a list, the bits of the group are the list's mask
  PADDOCK_CHECK(take_over_list(fd, where, listed, group_kept, mode));
  if (!group_kept && !listed) { // as shrink_group says
    const unsigned common = mode & mode >> 3U & 07U;
    mode = (mode & 0700U) | common << 3U | common;
  }
  return sys::fchmod(fd, mode);
}

} // namespace paddock
