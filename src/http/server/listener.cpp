// SPDX-License-Identifier: MIT
#include "http/server/listener.hpp"

#include "http/text.hpp"
#include "sys/socket.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

namespace paddock::http {
namespace {

constexpr std::string_view file_scheme = "unix:";

error wrong(const char* what) {
  return {error_code::invalid_argument, 0, what};
}

bool is_loopback(const sys::ip_address& address) {
  if (address.kind == sys::ip_address::family::v4) return address.bytes[0] == 127;
  sys::ip_address loopback{.kind = sys::ip_address::family::v6};
  loopback.bytes[15] = 1;
  return address == loopback;
}

std::string directory_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash + 1));
}

/// Removes the socket file `path` if nobody listens there any more; never what is no socket.
result<void> remove_left_behind(const std::string& path) {
  // Two servers that start at the same time do not remove each other's new file.
  PADDOCK_TRY(const file_descriptor directory,
              sys::openat(AT_FDCWD, directory_of(path).c_str(), O_RDONLY | O_DIRECTORY));
  PADDOCK_CHECK(sys::try_flock(directory.get()));
  PADDOCK_TRY(const file_descriptor file, sys::openat(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW));
  if (sys::kind_of_stream(file.get()) != sys::stream_kind::socket)
    return error{error_code::already_exists, 0, "the path is taken by something that is no socket"};
  const auto answered = sys::connect_unix(path);
  if (answered || answered.error().os_errno != ECONNREFUSED)
    return error{error_code::already_exists, 0, "another program listens at this path"};
  return sys::unlinkat(AT_FDCWD, path.c_str(), 0);
}

} // namespace

result<listener> listener::open(std::string_view where, bool has_token) {
  if (where.starts_with(file_scheme)) return open_file(where.substr(file_scheme.size()));
  return open_port(where, has_token);
}

result<listener> listener::open_file(std::string_view path) {
  while (path.starts_with("//"))
    path.remove_prefix(1);
  if (!path.starts_with('/')) return wrong("the path of a Unix socket begins with /");
  listener out;
  out.open_to_ = audience::owner_of_file;
  out.name_ = path;
  auto opened = sys::listen_unix(path);
  if (!opened && opened.error().code == error_code::already_exists) {
    PADDOCK_CHECK(remove_left_behind(out.name_));
    opened = sys::listen_unix(path);
  }
  if (!opened && opened.error().os_errno == ENAMETOOLONG)
    return wrong("the path of a Unix socket has at most 107 bytes");
  PADDOCK_TRY(out.socket_, std::move(opened));
  if (const auto status = sys::status_at(AT_FDCWD, out.name_.c_str())) {
    out.device_ = status->device;
    out.inode_ = status->inode;
  }
  return out;
}

result<listener> listener::open_port(std::string_view where, bool has_token) {
  const std::size_t colon = where.rfind(':');
  if (colon == std::string_view::npos) return wrong("an address is HOST:PORT or unix:/path");
  const auto port = whole_number(where.substr(colon + 1), 10);
  if (!port || *port > 65535) return wrong("the port is not a number from 0 to 65535");
  std::string_view host = where.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = sys::inet_pton(host);
  if (!address || bracketed != (address->kind == sys::ip_address::family::v6))
    return wrong("the host is not an address such as 127.0.0.1 or [::1]");
  listener out;
  out.open_to_ = is_loopback(*address) ? audience::this_machine : audience::network;
  if (out.open_to_ == audience::network && !has_token)
    return error{error_code::denied_by_policy, 0, "an address that others can reach needs a token"};
  PADDOCK_TRY(out.socket_, sys::listen_tcp(*address, static_cast<std::uint16_t>(*port)));
  PADDOCK_TRY(const std::uint16_t bound, sys::local_port(out.socket_.get()));
  const std::string text = sys::inet_ntop(*address);
  out.name_ = (bracketed ? "[" + text + "]" : text) + ":" + std::to_string(bound);
  return out;
}

void listener::close() noexcept {
  if (!socket_) return;
  socket_ = file_descriptor();
  if (open_to_ != audience::owner_of_file || inode_ == 0) return;
  const auto status = sys::status_at(AT_FDCWD, name_.c_str());
  if (status && status->device == device_ && status->inode == inode_)
    (void)sys::unlinkat(AT_FDCWD, name_.c_str(), 0);
}

std::string listener::url_of(std::string_view path) const {
  if (open_to_ == audience::owner_of_file) return "unix://" + name_ + "#" + std::string(path);
  return "http://" + name_ + std::string(path);
}

} // namespace paddock::http
