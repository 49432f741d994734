// SPDX-License-Identifier: MIT
#include "page.hpp"

#include "api.hpp"
#include "common/history_cli.hpp"
#include "common/workspace_cli.hpp"
#include "page/application.hpp"

#include <paddock/path/root.hpp>
#include <paddock/skill/store.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace paddock::skills_page {

[[nodiscard]] std::span<const page::asset> assets() noexcept; // made by embed.py

namespace {

constexpr std::string_view program = "paddock skills ui";
/// Largest body of a request; the page refuses to send more.
constexpr std::size_t body_bytes_max = std::size_t{64} * 1024 * 1024;

int unusable(const std::string& what, const error& failure) {
  cli::complain(program, what + " cannot be used: " + page::sentence(failure.code));
  return cli::usage;
}

} // namespace

int run_skills_page(const page_options& options) {
  auto opened = root::open(options.root);
  if (!opened) return unusable("the directory " + options.root, opened.error());
  auto store = skill_store::open(
      std::make_shared<const root>(*std::move(opened)),
      {.durability = durability::full, .state_directory = cli::default_history_directory()});
  if (!store) return unusable("the directory " + options.root, store.error());
  return page::serve(
      {.command = program,
       .assets = assets(),
       .operations = operations(std::make_shared<const skill_store>(*std::move(store))),
       .body_bytes_max = body_bytes_max},
      options.port);
}

} // namespace paddock::skills_page
