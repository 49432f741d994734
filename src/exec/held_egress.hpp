// SPDX-License-Identifier: MIT
#pragma once

// paddock-egress for the commands of one workspace: the running program and the events it reports
// (docs/network.md). It ends with this object, or with this process.

#include "sys/process.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/exec/network_event.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace paddock {

class held_egress {
public:
  /// `listeners` are sockets in the network of the commands; `helper` as in command::helper, beside
  /// which the program lies. Errors: unsupported (it is not there, or cannot be started).
  static result<std::shared_ptr<held_egress>> start(const confinement_policy& policy,
                                                    const std::vector<file_descriptor>& listeners,
                                                    const std::string& helper);
  ~held_egress();
  held_egress(const held_egress&) = delete;
  held_egress& operator=(const held_egress&) = delete;

  /// Readable when there are events; -1 when there will be none. Any thread, as the next ones.
  [[nodiscard]] int news();
  /// Reads pending events, and returns each one once. Until then commands
  /// begin no more than a few connections.
  [[nodiscard]] std::vector<network_event> take_new();
  /// A moment: what begins from now on comes after it.
  [[nodiscard]] std::uint64_t mark();
  /// The events until now of connections begun since; with the program's end, if it has ended.
  [[nodiscard]] std::vector<network_event> since(std::uint64_t mark);
  /// It has ended by itself.
  [[nodiscard]] bool is_over();

private:
  held_egress() = default;

  bool take_one();
  void wait_for_flush();

  sys::child_process program_;
  file_descriptor channel_;
  std::mutex lock_; ///< of all below
  struct numbered {
    std::uint64_t number = 0;
    std::uint64_t began = 0; ///< after that flush
    network_event what;
  };
  std::deque<numbered> events_;
  std::uint64_t next_ = 0;  ///< the number of the next one
  std::uint64_t new_ = 0;   ///< of the first that take_new has not returned
  std::uint64_t asked_ = 0; ///< the number of the last flush
  std::uint64_t flushed_ = 0;
  bool is_over_ = false;
};

} // namespace paddock
