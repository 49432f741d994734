// SPDX-License-Identifier: MIT
#pragma once

// What somebody gives a command to read. It gets a pipe and never the descriptor itself, which
// would lead out of its root directory: /proc/self/fd opens a file again, to be written.

#include "exec/command_driver.hpp"

#include <memory>
#include <string_view>

namespace paddock {

class input_relay : public command_driver {
public:
  /// Borrows `from`.
  explicit input_relay(int from);

  [[nodiscard]] confine::run_manner::streams streams() const noexcept override;
  [[nodiscard]] int news() const noexcept override;
  void runs() override;
  [[nodiscard]] std::optional<std::int64_t> take_stop() override;
  [[nodiscard]] input_state write_input(int fd) override;

private:
  void read_more();

  const int from_;
  const std::unique_ptr<char[]> buffer_;
  std::string_view unwritten_; ///< of the buffer
  bool runs_ = false;          ///< an attempt that fails before has taken nothing
  bool ended_ = false;
};

} // namespace paddock
