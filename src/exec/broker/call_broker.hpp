// SPDX-License-Identifier: MIT
#pragma once

// Answers the system calls of a command that its filter hands over (seccomp user notification): the
// kernel gives a process one listener, so everything that waits for an answer waits here.
// Not thread-safe.

#include "exec/broker/attribute_broker.hpp"
#include "exec/protection/workspace_watch.hpp"
#include "sys/filtered_call.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock {

/// Sends the signals of a command that has no PID namespace, where Landlock does not judge them:
/// only to processes that the command has started. Not thread-safe.
///
/// What descends from the supervisor of the command belongs to it, since that one adopts its
/// orphans; the supervisor itself and the command's parent do not. A signal goes to the process
/// that was looked at, by a descriptor, so no other one that has its number by now gets it. A
/// process signals itself on its own. Siginfo of others has the number of this process as the
/// sender.
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

class call_broker {
public:
  /// As attribute_broker takes them.
  call_broker(int workspace, const entries_to_protect& entries,
              const std::vector<std::string>& write_paths)
      : attributes_(workspace, entries, write_paths) {}

  void take_scratch(file_descriptor scratch) { attributes_.take_scratch(std::move(scratch)); }
  /// The process IDs of the command's supervisor and parent.
  void take_listener(file_descriptor listener, int supervisor, int parent) {
    listener_ = std::move(listener);
    signals_.take_keepers(supervisor, parent);
  }
  /// Readable when a call waits; -1: none ever will.
  [[nodiscard]] int listener() const noexcept { return listener_.get(); }
  /// Answers the next call. `revents` are those of the listener.
  void answer(short revents);
  [[nodiscard]] bool met_link() const noexcept { return met_link_; }

private:
  [[nodiscard]] std::optional<int> make(const sys::filtered_call& call);

  file_descriptor listener_;
  attribute_broker attributes_;
  signal_broker signals_;
  bool met_link_ = false;
};

} // namespace paddock
