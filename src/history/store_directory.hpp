// SPDX-License-Identifier: MIT
#pragma once

// Where the store of a workspace lies, who may use it, and its lock.

#include "history/known_state.hpp"

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

/// What the error says of a lock that somebody else holds.
inline constexpr const char* lock_operation = "history lock";
/// And of a budget that is used up.
inline constexpr const char* budget_operation = "history budget";

/// A file of the store.
struct store_file {
  std::string name;
  std::uint64_t bytes = 0;
};

class store_directory {
public:
  /// Makes what is missing of the directory of all stores, and the one of this workspace in it.
  /// Errors: those of store::open.
  static result<store_directory, detailed_error> open(const root& workspace,
                                                      std::string_view directory, bool serves);

  [[nodiscard]] int descriptor() const noexcept { return fd_.get(); }
  [[nodiscard]] const content_key& key() const noexcept { return key_; }
  /// The last time before this one; 0: it is new.
  [[nodiscard]] std::int64_t used_before_ns() const noexcept { return used_before_ns_; }
  /// Waits for other processes. Errors: conflict (somebody holds it for long), io, cancelled,
  /// timed_out.
  [[nodiscard]] result<void> lock(const work_bounds& bounds = {});
  void unlock() const noexcept;
  /// Everything in it. Errors: those of reading.
  [[nodiscard]] result<std::vector<store_file>> files() const;
  /// The same, in bytes; 0 where it cannot be read.
  [[nodiscard]] std::uint64_t bytes() const;

private:
  store_directory() = default;
  /// Takes the lock and `head`. Where nobody else has, the first one that serves sets the rules of
  /// servers that have ended aside. Errors: those of `open`.
  result<void, detailed_error> take_up(const root& workspace, const std::string& path, bool serves);
  result<void> take_head(bool serves);
  result<void, detailed_error> read_head(const root& workspace, const std::string& path);
  result<void> write_head(const root& workspace);

  file_descriptor fd_;
  file_descriptor lock_;
  file_descriptor head_; ///< locked, shared: the store is in use
  std::int64_t used_before_ns_ = 0;
  content_key key_{};
  bool waited_in_vain_ = false;
};

/// The file that says that a directory is a store.
inline constexpr const char* head_name = "head";
/// The file that says which names servers protect.
inline constexpr const char* rules_name = "rules";
/// The same of ended servers, until the next one has begun.
inline constexpr const char* ended_rules_name = "rules.ended";
/// Empty: rules were written, with their sum, and are lost where there are none.
inline constexpr const char* kept_rules_name = "rules.kept";
inline constexpr std::uint64_t head_bytes_max = 16 * 1024;
/// What the store of a workspace is called, by its path and the directory there.
[[nodiscard]] std::string name_of_store(const std::string& workspace, const file_status& status);
/// The path in a `head`; nothing where it is none of this version.
[[nodiscard]] std::optional<std::string> workspace_in_head(std::string_view text);
/// Whether these are the bytes of a `head` of the version that this program knows.
[[nodiscard]] bool is_whole_head(std::string_view text) noexcept;
/// When the store was last used, of the clock of file times; 0: it is none.
[[nodiscard]] std::int64_t last_used_ns(int directory);

[[nodiscard]] std::uint64_t bytes_of(std::span<const store_file> files) noexcept;

/// Reads a file of the store. Errors: not_found, too_large, io.
[[nodiscard]] result<std::string> read_store_file(int directory, const char* name,
                                                  std::uint64_t bytes_max);
/// Replaces one by a rename; where `synced` says so, the bytes are on the disk before, and the name
/// is afterwards.
[[nodiscard]] result<void> write_store_file(int directory, const char* name, std::string_view bytes,
                                            bool synced);

} // namespace paddock::history
