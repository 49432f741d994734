// SPDX-License-Identifier: MIT
#include "page.hpp"

#include "application.hpp"
#include "common/workspace_cli.hpp"
#include "http/server/termination.hpp"

#include <paddock/path/root.hpp>
#include <paddock/skill/store.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

namespace paddock::skills_page {
namespace {

constexpr std::string_view program = "paddock skills ui";

int unusable(const std::string& what, const error& failure) {
  cli::complain(program, what + " cannot be used: " + std::string(text(failure.code)) + "; " +
                             std::string(advice(failure.code)));
  return cli::usage;
}

} // namespace

int run_skills_page(const page_options& options) {
  auto opened = root::open(options.root);
  if (!opened) return unusable("the directory " + options.root, opened.error());
  auto store = skill_store::open(std::make_shared<const root>(*std::move(opened)),
                                 {.durability = durability::full});
  if (!store) return unusable("the directory " + options.root, store.error());
  auto page =
      application::make(std::make_shared<const skill_store>(*std::move(store)), options.port);
  if (!page && page.error().operation == std::string_view("getrandom"))
    return unusable("this system", page.error());
  if (!page) {
    cli::complain(program, "port " + std::to_string(options.port) +
                               " cannot be used; choose another one, or leave out --port");
    return cli::usage;
  }
  const auto terminated = http::termination::redirect();
  if (!terminated) return unusable("this system", terminated.error());
  std::printf("%s\n", (*page)->address().c_str());
  std::fflush(stdout);
  cli::complain(program, "open the address above in a browser on this machine; Ctrl-C ends it");
  const auto served = (*page)->serve(terminated->descriptor());
  const bool good = served && !served->failure;
  if (!good) cli::complain(program, "the network connection was lost; start it again");
  const int code = good ? cli::success : cli::failed;
  // An import that did not end in time still runs; what it uses must not be destroyed under it.
  if (served && served->abandoned > 0) std::quick_exit(code);
  return code;
}

} // namespace paddock::skills_page
