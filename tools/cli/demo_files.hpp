// SPDX-License-Identifier: MIT
#pragma once

// The files that the demonstration works on: a bounded copy of somebody's directory, or samples,
// in a temporary directory that is removed at the end.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace paddock::cli {

/// What a file holds, as far as it has to be told whether it is still the same.
struct fingerprint {
  std::uint64_t size = 0;
  std::size_t hash = 0;
  friend bool operator==(const fingerprint&, const fingerprint&) = default;
};

class demo_files {
public:
  /// A fresh directory beneath the system's temporary one; `good()` says whether that worked.
  demo_files();
  demo_files(const demo_files&) = delete;
  demo_files& operator=(const demo_files&) = delete;
  ~demo_files();

  [[nodiscard]] bool good() const { return !path_.empty(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Copies regular files of `directory`, and of the directories in it when these hold few. Links,
  /// hidden entries and directories made by builds are left out. False when nothing could be
  /// copied.
  bool copy_from(const std::string& directory);
  void write_samples();

  /// What every regular file beneath the directory holds now, by its path relative to it.
  [[nodiscard]] std::map<std::string, fingerprint> scan() const;

private:
  bool copy_file(const std::string& from, const std::string& name);
  void copy_subdirectory(const std::string& from, const std::string& name);

  std::string path_;
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

} // namespace paddock::cli
