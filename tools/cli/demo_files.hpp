// SPDX-License-Identifier: MIT
#pragma once

// The files that the demonstration works on: samples in a temporary directory that is removed at
// the end.

#include <map>
#include <string>

namespace paddock::cli {

class demo_files {
public:
  /// A fresh directory beneath the system's temporary one; `good()` says whether that worked.
  demo_files();
  demo_files(const demo_files&) = delete;
  demo_files& operator=(const demo_files&) = delete;
  ~demo_files();

  [[nodiscard]] bool good() const { return !path_.empty(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  void write_samples() const;
  /// What every regular file in the directory holds now, by its name.
  [[nodiscard]] std::map<std::string, std::string> scan() const;

private:
  std::string path_;
};

} // namespace paddock::cli
