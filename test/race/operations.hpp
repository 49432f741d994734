// SPDX-License-Identifier: MIT
#pragma once

// Every operation, aimed at one directory: what it answers and where it acts has to be inside.

#include "attacks.hpp"

#include <paddock/base/result.hpp>
#include <paddock/path/root.hpp>
#include <paddock/skill/store.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace paddock::test {

/// One of the tree that build_for_attacks makes.
struct victim {
  victim(const canary_tree& canary, const attack& by, resolver how)
      : base(std::make_shared<const root>(open_root(canary.ws(), how))), path(by.path),
        at(canary.tree() / by.home),
        store(*skill_store::open(base, {.user_directory = path + "/skills"})),
        folder(canary.tree() / "folder") {}

  std::shared_ptr<const root> base;
  std::string path; ///< of the directory, as the attack spells it
  home at;
  skill_store store;  ///< its user skills are beneath that directory
  std::string folder; ///< a skill to be imported, where nobody attacks

  [[nodiscard]] const root& r() const { return *base; }
  [[nodiscard]] std::string in(std::string_view name) const {
    return path + '/' + std::string(name);
  }
};

struct operation {
  const char* name;
  result<void> (*run)(const victim&);
  int cost = 1;       ///< everyday rounds are divided by it
  bool walks = false; ///< it holds what it walks through, so it cannot be led into hidden places

  [[nodiscard]] bool faces(const attack& by) const {
    return walks || by.leads != attack::reach::hidden;
  }
};

[[nodiscard]] std::span<const operation> operations_on_files();
[[nodiscard]] std::span<const operation> operations_on_skills();
[[nodiscard]] std::span<const operation> operations_with_commands();
[[nodiscard]] std::span<const operation> operations_that_walk();

/// The test fails when bytes from outside are among them.
void expect_inside(std::string_view bytes);

/// Whether it worked, without the value.
template <class T, class E> result<void> outcome_of(const result<T, E>& got) {
  if (!got) return static_cast<const error&>(got.error());
  return {};
}

} // namespace paddock::test
