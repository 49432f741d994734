// SPDX-License-Identifier: MIT
#pragma once

// Answers the system calls of a command that its filter hands over (seccomp user notification): the
// kernel gives a process one listener, so everything that waits for an answer waits here.
// Not thread-safe.

#include "exec/broker/attribute_broker.hpp"
#include "exec/broker/signal_broker.hpp"
#include "exec/protection/workspace_watch.hpp"
#include "sys/filtered_call.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace paddock {

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
