// SPDX-License-Identifier: MIT
// An application that keeps skills for its agents, and tells a model of them.
#include <paddock/skill/prompt.hpp>
#include <paddock/skill/store.hpp>

#include <cstdio>
#include <memory>

int main(int argc, char** argv) {
  auto opened = paddock::root::open(argc > 1 ? argv[1] : ".");
  if (!opened) return 1;
  const auto store =
      paddock::skill_store::open(std::make_shared<const paddock::root>(*std::move(opened)));
  if (!store || !store->add("notes", "notes", "Keeps notes for people.")) return 1;
  const auto list = store->list();
  if (!list) return 1;
  std::puts(paddock::make_skill_prompt((*list)->skills).text.c_str());
}
