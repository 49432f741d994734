// SPDX-License-Identifier: MIT
#include "applied_patch.hpp"

#include "mcp/tools/edits.hpp"

#include <paddock/file/file.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

namespace paddock::cli {
namespace {

/// The files of a patch while it is taken back, part by part.
class taken_back_files {
public:
  taken_back_files(const root& workspace, std::uint64_t bytes_max)
      : root_(workspace), bytes_max_(bytes_max) {}

  /// Whether the part could be taken back.
  [[nodiscard]] bool take_back(const file_patch& part) {
    const bool removes = part.action == patch_action::remove;
    std::optional<std::string>* const present = find(part.path);
    if (present == nullptr || present->has_value() == removes) return false;
    if (part.is_executable && !removes && !has_mode(part)) return false;
    auto before = apply_hunks(present->value_or(""), inverse_of(part.hunks));
    if (!before) return false;
    if (part.action == patch_action::create && !before->empty()) return false;
    const bool stays = part.action == patch_action::edit || removes;
    *present = stays ? std::optional(*before) : std::nullopt;
    if (part.action != patch_action::move) return true;
    std::optional<std::string>* const home = find(part.from);
    if (home == nullptr || home->has_value()) return false;
    *home = *std::move(before);
    return true;
  }

private:
  /// Whether the file that is there has the mode that the part gives it.
  [[nodiscard]] bool has_mode(const file_patch& part) const {
    const auto now = inspect(root_, part.path);
    return !now || ((now->status.mode & 0100U) != 0) == *part.is_executable;
  }

  /// The text, or nothing where there is no such file; null: it cannot be told.
  std::optional<std::string>* find(const std::string& path) {
    const auto [found, is_first] = texts_.try_emplace(path);
    if (!is_first) return &found->second;
    const auto content = read_file(root_, path, {.bytes_max = bytes_max_});
    if (!content && content.error().code == error_code::not_found) return &found->second;
    const auto text = content ? mcp::text_of(content->bytes, mcp::mark_of_utf8::is_apart)
                              : result<mcp::file_text, text_fault>(text_fault());
    if (!text) {
      texts_.erase(found);
      return nullptr;
    }
    found->second = text->text();
    return &found->second;
  }

  const root& root_;
  std::uint64_t bytes_max_;
  std::map<std::string, std::optional<std::string>> texts_;
};

} // namespace

bool is_applied(const root& workspace, std::span<const file_patch> patch,
                std::uint64_t file_bytes_max) {
  taken_back_files files(workspace, file_bytes_max);
  return std::ranges::all_of(patch | std::views::reverse,
                             [&](const file_patch& part) { return files.take_back(part); });
}

} // namespace paddock::cli
