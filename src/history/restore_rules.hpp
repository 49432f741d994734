// SPDX-License-Identifier: MIT
#pragma once

// What a restore may do where the rules of protected names would refuse a tool: the agent's own
// goes again, and a person's comes back, into the directory where it was.

#include "history/obeyed_content.hpp"
#include "history/store_impl.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace paddock::history {

/// A path as it is to be and as it is, once what was moved has gone back.
struct placed_change {
  known_state wanted{}, present{};
  bool by_agent = false, by_tool = false, by_other = false, other_since = false, is_theirs = false;
  bool by_server = false;  ///< of others, the agent of another server
  bool by_restore = false; ///< the last step was one's
};
using placed_changes = std::map<std::string, placed_change, std::less<>>;

class restore_rules {
public:
  /// Where what is to lie at a path is now.
  using place_now = std::function<std::string(const std::string& path)>;
  /// All of them live longer.
  restore_rules(const store::impl& of, const restore_request& request, const placed_changes& placed,
                place_now now)
      : of_(of), request_(request), placed_(placed), place_now_(std::move(now)) {}

  using is_meant = std::function<bool(const std::string& path)>;
  /// Looks for what an agent wrote under a protected name: that never comes back there, whoever
  /// asks. First of all.
  void find_unfit(const was_there& has, const is_meant& meant);
  [[nodiscard]] bool is_unfit(const std::string& path) const {
    return by_agents_.unfit.contains(path);
  }
  [[nodiscard]] bool is_by_agent(const std::string& path) const {
    return by_agents_.all.contains(path);
  }
  /// Why a path may not become what it was. Asked once for each: the next answer could be about
  /// another directory.
  [[nodiscard]] std::optional<error> refusal(const std::string& path, const placed_change& each);
  /// Whether a rule protects the path, and it may be restored all the same.
  [[nodiscard]] bool is_above(const std::string& path) const { return above_rules_.contains(path); }
  void add_above(const std::string& path) { above_rules_.insert(path); }

private:
  [[nodiscard]] bool is_persons() const noexcept { return request_.by == author::other; }
  [[nodiscard]] bool is_made_by_agent(const placed_change& each) const;
  [[nodiscard]] bool is_gits_own(const std::string& path, const placed_change& each,
                                 const error& refused) const;
  [[nodiscard]] bool is_persons_own(const std::string& path, const placed_change& each,
                                    const error& refused) const;
  [[nodiscard]] bool is_harmless(const std::string& path, const placed_change& each) const;
  [[nodiscard]] bool has_same_home(const std::string& path) const;
  [[nodiscard]] bool comes_with_its_directory(const std::string& path,
                                              const placed_change& each) const;
  [[nodiscard]] result<void> ask_rules(const std::string& path, const placed_change& each) const;

  const store::impl& of_;
  const restore_request& request_;
  const placed_changes& placed_;
  place_now place_now_;
  std::set<std::string> above_rules_, obeyed_;
  written_by_agents by_agents_; ///< of what is obeyed
};

} // namespace paddock::history
