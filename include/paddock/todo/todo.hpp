// SPDX-License-Identifier: MIT
#pragma once

/// A todo list: items with ids 0, 1, 2, … that can be added and marked as completed.
///
/// One update adds and completes together, all or nothing. Items are never removed one by one, so
/// an id is valid until the list is cleared; after that ids start at 0 again.
///
/// Thread-safety: none by itself; callers that share a list hold a lock around every call and while
/// they look at `items()`.

#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paddock {

struct todo_item {
  std::uint64_t id = 0;
  std::string title; ///< as given: may be empty, may span lines
  bool completed = false;

  friend bool operator==(const todo_item&, const todo_item&) = default;
};

/// The items of one list, at most `items_max`.
class todo_list {
public:
  explicit todo_list(std::uint64_t items_max = limits{}.todos_max) noexcept
      : items_max_(items_max) {}

  /// Adds an item for each title, then marks the ids as completed; ids made by this call may be
  /// among them. Completing an item again changes nothing. Errors, with the list unchanged:
  /// too_many (more than items_max), not_found (an id that does not exist; find_unknown tells
  /// which).
  result<void> update(std::span<const std::string> new_titles,
                      std::span<const std::int64_t> completed_ids) {
    if (new_titles.size() > items_max_ - items_.size())
      return error{error_code::too_many, 0, "todo"};
    if (find_unknown(completed_ids, new_titles.size()))
      return error{error_code::not_found, 0, "todo"};
    items_.reserve(items_.size() + new_titles.size());
    for (const std::string& title : new_titles)
      items_.push_back({.id = items_.size(), .title = title, .completed = false});
    for (const std::int64_t id : completed_ids)
      items_[static_cast<std::size_t>(id)].completed = true;
    return {};
  }

  /// The first of `ids` that would not exist after adding `new_items` items. Valid ids are 0 up to,
  /// not including, items().size() + new_items.
  [[nodiscard]] std::optional<std::int64_t> find_unknown(std::span<const std::int64_t> ids,
                                                         std::size_t new_items = 0) const noexcept {
    for (const std::int64_t id : ids)
      if (id < 0 || static_cast<std::uint64_t>(id) >= items_.size() + new_items) return id;
    return std::nullopt;
  }

  /// Removes all items; the next one has id 0.
  void clear() noexcept { items_.clear(); }

  /// In order of their ids. Valid until the next change.
  [[nodiscard]] std::span<const todo_item> items() const noexcept { return items_; }

  /// Number of items that are not completed.
  [[nodiscard]] std::size_t remaining() const noexcept {
    std::size_t open = 0;
    for (const todo_item& item : items_)
      if (!item.completed) ++open;
    return open;
  }

private:
  std::uint64_t items_max_;
  std::vector<todo_item> items_;
};

} // namespace paddock
