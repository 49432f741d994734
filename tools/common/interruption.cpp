// SPDX-License-Identifier: MIT
#include "interruption.hpp"

#include <signal.h>

#include <atomic>

namespace paddock::cli {
namespace {

std::atomic<const cancellation*> watched{nullptr};
std::atomic<int> first_signal{0};
std::atomic<bool> was_asked{false};
static_assert(std::atomic<const cancellation*>::is_always_lock_free, "used in a signal handler");

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

void on_signal(int number) {
  int none = 0;
  first_signal.compare_exchange_strong(none, number);
  was_asked.store(true);
  if (const cancellation* const of = watched.load()) of->request();
}

} // namespace

interruption::interruption() {
  first_signal.store(0);
  was_asked.store(false);
  watched.store(&asked_);
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  ::sigemptyset(&action.sa_mask);
  for (const int each : signals) {
    struct sigaction before{};
    ::sigaction(each, nullptr, &before);
    // Who starts a program with a signal ignored (nohup, a job in the background) wants it so.
    if (before.sa_handler != SIG_IGN) ::sigaction(each, &action, nullptr);
  }
}

interruption::~interruption() {
  for (const int each : signals) {
    struct sigaction before{};
    ::sigaction(each, nullptr, &before);
    if (before.sa_handler == on_signal) ::signal(each, SIG_DFL);
  }
  watched.store(nullptr);
}

const std::atomic<bool>& interruption::is_asked() const noexcept {
  return was_asked;
}

std::optional<int> interruption::signal() const noexcept {
  const int number = first_signal.load();
  return number == 0 ? std::nullopt : std::optional(number);
}

} // namespace paddock::cli
