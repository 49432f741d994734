// SPDX-License-Identifier: MIT
#pragma once

// A workspace with skills in it, something beside it that nobody may touch, and a store.

#include "support/files/canary.hpp"

#include <paddock/skill/store.hpp>

#include <ostream>

namespace paddock {

inline void PrintTo(not_a_skill why, std::ostream* out) {
  constexpr const char* names[] = {"no_skill_file", "invalid_frontmatter", "unreadable",
                                   "shadowed"};
  *out << names[static_cast<int>(why)];
}
inline void PrintTo(import_refusal refusal, std::ostream* out) {
  *out << wire_name(refusal);
}

namespace test {

inline std::string skill_md(std::string_view name, std::string_view description) {
  return "---\nname: " + std::string(name) + "\ndescription: " + std::string(description) +
         "\n---\n\nBody of " + std::string(name) + ".\n";
}

class skill_fixture : public testing::Test {
protected:
  static constexpr const char* user = "ws/.agents/skills";
  static constexpr const char* system = "ws/.agents/sys.skills";

  void put(std::string_view directory, std::string_view id, std::string_view content) const {
    const std::string at = std::string(directory) + '/' + std::string(id);
    t.directory(at);
    t.file(at + "/SKILL.md", content);
  }
  void put_user(std::string_view id, std::string_view description = "For tests.") const {
    put(user, id, skill_md(id, description));
  }
  void put_system(std::string_view id, std::string_view description = "For tests.") const {
    put(system, id, skill_md(id, description));
  }
  [[nodiscard]] std::string skill_path(std::string_view inside) const {
    return t / (std::string(user) + '/' + std::string(inside));
  }

  [[nodiscard]] skill_store open_store(skill_store_options options = {},
                                       resolver how = resolver::automatic) const {
    auto r = std::make_shared<const root>(open_root(canary.ws(), how));
    auto store = skill_store::open(std::move(r), std::move(options));
    if (!store) {
      ADD_FAILURE() << "cannot open the store: " << wire_name(store.error().code);
      std::abort();
    }
    return *std::move(store);
  }

  /// What hidden directories there are in the user's directory.
  [[nodiscard]] std::vector<std::string> hidden() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(t / user))
      if (entry.path().filename().string().starts_with('.'))
        found.push_back(entry.path().filename().string());
    return found;
  }

  canary_tree canary;
  const temp_tree& t = canary.tree();
};

/// "id: description" of each skill.
inline std::vector<std::string> described(const skill_list& list) {
  std::vector<std::string> all;
  for (const auto& s : list.skills)
    all.push_back(s.id + ": " + s.description);
  return all;
}

} // namespace test
} // namespace paddock
