// SPDX-License-Identifier: MIT
#pragma once

// Where a server listens: an address and a port, or a socket file.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::http {

class listener {
public:
  /// Who can connect.
  enum class audience : std::uint8_t { owner_of_file, this_machine, network };

  listener() = default;
  /// `where` is HOST:PORT or unix:/path; port 0 stands for any that is free. Addresses that other
  /// machines reach need a token. Errors: invalid_argument (`operation` says what is wrong),
  /// denied_by_policy (no token), already_exists, permission_denied, too_many, io.
  [[nodiscard]] static result<listener> open(std::string_view where, bool has_token);
  listener(listener&&) noexcept = default;
  listener& operator=(listener&&) noexcept = default;
  ~listener() { close(); }

  /// Stops listening, and removes the socket file if it still is the one that was made.
  void close() noexcept;
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] audience open_to() const noexcept { return open_to_; }
  /// The URL of `path` here.
  [[nodiscard]] std::string url_of(std::string_view path) const;

private:
  [[nodiscard]] static result<listener> open_file(std::string_view path);
  [[nodiscard]] static result<listener> open_port(std::string_view where, bool has_token);

  file_descriptor socket_;
  audience open_to_ = audience::this_machine;
  std::string name_;         ///< "127.0.0.1:4567", or the file's path
  std::uint64_t device_ = 0; ///< of the file
  std::uint64_t inode_ = 0;
};

} // namespace paddock::http
