// SPDX-License-Identifier: MIT
#pragma once

// What an operation makes under a name of its own until it is finished: a prefix and 32 random
// hexadecimal digits.
//
// No name and no mark on disk says whose such an entry is. An agent's command runs as the same
// user, so it can make every name, take every lock, and set, read and copy every extended attribute
// that an ordinary user's server could; a record outside the workspace would need a write per
// replacement and would be wrong on another machine or for another user. So nothing is ever removed
// or hidden for its name. What is known is what this process remembers: the names that its
// operations use at this moment, and the entries that it has made and could not remove, which it
// holds open, so that no other object can have their inode number. What a killed process leaves is
// an ordinary entry, listed and kept. It is rare for files, which have no name until they are
// complete where the file system allows that (O_TMPFILE).

#include <paddock/base/result.hpp>
#include <paddock/path/root.hpp>

#include <string_view>
#include <vector>

namespace paddock {

/// What atomic replaces write beside their target.
inline constexpr std::string_view temporary_prefix = ".paddock-tmp-";

/// A name that nobody has: 128 random bits.
[[nodiscard]] result<component> unused_name(std::string_view prefix);

/// Whether a name is one that atomic replaces make. Anybody may have made such a name.
[[nodiscard]] bool is_temporary_name(std::string_view name) noexcept;

/// Keeps a temporary file's name out of this process's listings while it lives.
class name_in_use {
public:
  explicit name_in_use(const component& name);
  name_in_use(const name_in_use&) = delete;
  name_in_use& operator=(const name_in_use&) = delete;
  ~name_in_use();

private:
  component name_;
};

/// Whether an operation of this process uses the name at this moment, or did when the entry was
/// read and the entry is gone. `name` is followed by a NUL.
[[nodiscard]] bool is_passing(int directory, std::string_view name);

/// An entry that this process has made. The open descriptor says which object it is.
struct own_entry {
  component name;
  file_descriptor made;
};

/// Whether the name still leads to the object.
[[nodiscard]] result<bool> is_there(int directory, const own_entry& entry);

/// Remembers what could not be removed; the oldest is forgotten when there are many.
void remember(int directory, own_entry entry);

/// What is remembered of a directory, for another try, and no longer remembered. An entry whose
/// name leads elsewhere by now is only forgotten.
[[nodiscard]] std::vector<own_entry> take_remembered(int directory);

} // namespace paddock
