// SPDX-License-Identifier: MIT
#pragma once

// What the rules of protected names look up: whether a directory holds a repository, and the like.
// Asked by path, the answer is about what has the path at this moment. Before an entry of a
// directory is changed, the directory itself has to answer, because another one may have got its
// place.

#include <paddock/base/file_status.hpp>
#include <paddock/base/result.hpp>

#include <string_view>

namespace paddock {

class entry_lookup {
public:
  /// Of a path that is relative to the root and resolved; a link is not followed.
  [[nodiscard]] virtual result<file_status> status(std::string_view path) const = 0;

  /// What cannot be looked at may be there.
  [[nodiscard]] bool has(std::string_view directory, std::string_view name) const;

  entry_lookup(const entry_lookup&) = delete;
  entry_lookup& operator=(const entry_lookup&) = delete;

protected:
  entry_lookup() = default;
  ~entry_lookup() = default;
};

/// Goes out from a directory that is held; those above it are the ones that really are.
class lookup_from final : public entry_lookup {
public:
  /// Both outlive it; `path` is where the directory is.
  lookup_from(int directory, std::string_view path) : directory_(directory), path_(path) {}
  [[nodiscard]] result<file_status> status(std::string_view path) const override;

private:
  int directory_;
  std::string_view path_;
};

} // namespace paddock
