// SPDX-License-Identifier: MIT
#pragma once

// The corpus of attacks on paths as one table. A row has the number that the attack is known by
// (P01 to P74), makes its tree, and lists attempts: one operation each, and the one answer that it
// must get, however the kernel is asked, whoever asks and through whichever interface.

#include "session.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test::corpus {

/// What an attempt must come to.
struct expected {
  std::optional<error_code> code = {}; ///< nothing: it succeeds
  std::string text = {};               ///< of a success: what came back contains this
};

inline const expected succeeds{};
inline expected refused(error_code code) {
  return {.code = code};
}
inline expected gives(std::string text) {
  return {.text = std::move(text)};
}

struct attempt {
  action what;
  std::string path; ///< @W is the workspace's absolute path, @T that of the directory around it
  expected want;
  std::optional<std::string> other = {}; ///< of a move: the destination, spelled like a path
  mounts mounted = mounts::enter;
  std::optional<expected> as_root = {}; ///< where privilege makes a difference
  std::optional<expected> by_tool = {}; ///< where the tool promises something else
  const char* because = "";             ///< why it does
};

/// The same answer to several operations on one path.
std::vector<attempt> all(std::initializer_list<action> actions, const std::string& path,
                         const expected& want);
/// Every operation there is, but for those that act on a link instead of following it.
std::vector<attempt> every_following(const std::string& path, error_code code);
/// Every operation there is.
std::vector<attempt> every(const std::string& path, error_code code);
inline std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  while (times-- > 0)
    out += part;
  return out;
}

/// The attempts of all lists, in order.
std::vector<attempt> join(std::vector<std::vector<attempt>> lists);

/// Most checks ask for operations one by one, and count on what each leaves.
enum class checked : std::uint8_t { one_by_one, always };

struct row {
  const char* id;
  const char* name; ///< with the id: unique
  std::vector<std::string> directories = {};
  /// Paths in the workspace, and where they lead; @T and @W as in attempts.
  std::vector<std::pair<std::string, std::string>> links = {};
  /// Makes the rest of the tree, with what privilege there is, before the outside is described.
  void (*build)(scene&) = nullptr;
  /// With the same privilege, in the process of the case: mounts, and what only it can have.
  void (*arrange)(scene&) = nullptr;
  /// As the user of the case, after the workspace has been opened.
  void (*meanwhile)(session&) = nullptr;
  std::vector<attempt> attempts = {};
  /// What a list of attempts cannot say.
  void (*check)(session&) = nullptr;
  checked checking = checked::one_by_one;
  needs need = needs::nothing;
  const char* no_undo = ""; ///< why its end is not reviewed and undone; empty: it is
  /// Also through the adapter as a program of its own.
  reach through = reach::in_process;
  std::string_view workspace = "ws"; ///< how the root is spelled when it is opened
};

std::vector<row> path_rows();
std::vector<row> link_rows();
std::vector<row> special_file_rows();
std::vector<row> change_rows();
std::vector<row> replacement_rows();
std::vector<row> reserved_rows();
std::vector<row> name_rows();
std::vector<row> limit_rows();
std::vector<row> race_rows();

/// All of them.
std::vector<row> rows();

/// What has no counterpart here, and why.
struct not_offered {
  const char* id;
  const char* why;
};
std::vector<not_offered> rows_not_offered();

} // namespace paddock::test::corpus
