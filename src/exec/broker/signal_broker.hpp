// SPDX-License-Identifier: MIT
#pragma once

// Sends the signals of a command that has no PID namespace, where Landlock does not judge them:
// only to processes that the command has started. Not thread-safe.
//
// What descends from the supervisor of the command belongs to it, since that one adopts its
// orphans; the supervisor itself and the command's parent do not. A signal goes to the process that
// was looked at, by a descriptor, so no other one that has its number by now gets it. A process
// signals itself on its own. Siginfo of others has the number of this process as the sender.

#include "sys/filtered_call.hpp"

#include <optional>

namespace paddock {

class signal_broker {
public:
  /// Before the first call: both by their numbers.
  void take_keepers(int supervisor, int parent) noexcept {
    supervisor_ = supervisor;
    parent_ = parent;
  }
  [[nodiscard]] static bool is_about(int call) noexcept;
  /// Makes the call of a caller at `listener`: 0 or an errno is the answer to it; nullopt: it is to
  /// go on, because it is about its own process.
  [[nodiscard]] std::optional<int> make(int listener, const sys::filtered_call& call) const;

private:
  [[nodiscard]] std::optional<int> send(const sys::filtered_call& call, int caller) const;
  [[nodiscard]] int send_by_descriptor(const sys::filtered_call& call) const;
  [[nodiscard]] int send_queued(const sys::filtered_call& call) const;
  [[nodiscard]] int send_to(int process, int signal, int& looks,
                            std::span<const char> info = {}) const;
  [[nodiscard]] int send_to_group(int group, int caller, int signal, int& looks) const;
  [[nodiscard]] bool is_in_tree(int process, int& looks) const;

  int supervisor_ = 0;
  int parent_ = 0;
};

} // namespace paddock
