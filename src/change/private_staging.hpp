// SPDX-License-Identifier: MIT
#pragma once

// The directory in which everything is made ready that a change brings, and set aside what it takes
// away: where renames lead from a directory of the program's own into the workspace it lies there,
// and nobody in the workspace can open what is in it; else at the top of the workspace, where what
// becomes a protected file gets no name (nameless_files.cpp). So nobody can have changed such a
// file before it is in its place, and its sum read again there would tell nothing new.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>
#include <paddock/path/root.hpp>

#include <string>
#include <vector>

namespace paddock {

class private_staging {
public:
  private_staging() = default;
  /// Makes it, or takes up that of a change that was killed. `own`: a directory that nobody else
  /// may enter. Errors: conflict (somebody was faster), those of making.
  static result<private_staging> take(const root& workspace, int own, const std::string& name);
  /// That of a change that was killed. Errors: not_found.
  static result<private_staging> find(const root& workspace, int own, const std::string& name);

  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  [[nodiscard]] int descriptor() const noexcept { return fd_.get(); }
  /// Whether it lies outside of the workspace.
  [[nodiscard]] bool is_out_of_reach() const noexcept { return is_out_of_reach_; }
  /// The directory that it lies in.
  [[nodiscard]] int home() const noexcept { return home_; }
  [[nodiscard]] result<std::vector<std::string>> names() const;
  /// Removes it, which must be empty.
  [[nodiscard]] result<void> remove() const;
  /// Puts it at the top of the workspace, where it is seen, under another name.
  [[nodiscard]] result<void> show(const component& as);

private:
  file_descriptor fd_;
  int home_ = -1;
  int top_ = -1;
  std::string name_;
  bool is_out_of_reach_ = false;
};

} // namespace paddock
