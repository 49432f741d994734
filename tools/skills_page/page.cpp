// SPDX-License-Identifier: MIT
#include "page.hpp"

#include "api.hpp"
#include "common/workspace_cli.hpp"

#include <paddock/path/root.hpp>
#include <paddock/skill/store.hpp>

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

namespace paddock::skills_page {
namespace {

constexpr std::string_view program = "paddock skills ui";

int unusable(const std::string& what, const error& failure) {
  cli::complain(program, what + " cannot be used: " + std::string(text(failure.code)) + "; " +
                             std::string(advice(failure.code)));
  return cli::usage;
}

/// Blocked in this thread and all that it starts, so that they are waited for.
sigset_t block_stop_signals() {
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGINT);
  ::sigaddset(&stop, SIGTERM);
  ::sigaddset(&stop, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  return stop;
}

/// Until a signal, or until the listening socket fails.
int serve(server& page, const sigset_t& stop) {
  bool sound = true;
  std::thread serving([&] {
    sound = page.serve();
    if (!sound) ::kill(::getpid(), SIGTERM); // wakes the wait below
  });
  int signal = 0;
  ::sigwait(&stop, &signal);
  page.end();
  serving.join();
  if (sound) return cli::success;
  cli::complain(program, "the network connection was lost; start it again");
  return cli::failed;
}

} // namespace

int run_skills_page(const page_options& options) {
  const sigset_t stop = block_stop_signals();
  auto opened = root::open(options.root);
  if (!opened) return unusable("the directory " + options.root, opened.error());
  auto store = skill_store::open(std::make_shared<const root>(*std::move(opened)),
                                 {.durability = durability::full});
  if (!store) return unusable("the directory " + options.root, store.error());
  auto page = server::make();
  if (!page) return unusable("this system", page.error());
  add_page(**page);
  add_api(**page, std::make_shared<const skill_store>(*std::move(store)));
  if (!(*page)->bind(options.port)) {
    cli::complain(program, "port " + std::to_string(options.port) +
                               " cannot be used; choose another one, or leave out --port");
    return cli::usage;
  }
  std::printf("%s\n", (*page)->address().c_str());
  std::fflush(stdout);
  cli::complain(program, "open the address above in a browser on this machine; Ctrl-C ends it");
  return serve(**page, stop);
}

} // namespace paddock::skills_page
