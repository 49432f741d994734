// SPDX-License-Identifier: MIT
#include "mcp/tools/tools.hpp"
#include "sys/syscall.hpp"

#include <paddock/version.hpp>

#include <string>

namespace paddock::mcp {
namespace {

std::string megabytes(std::uint64_t bytes) {
  constexpr std::uint64_t mib = 1024 * 1024;
  return std::to_string((bytes + mib / 2) / mib) + "MB";
}

} // namespace

tool_result health_check(workspace_state& state, call&) {
  const bool alive = state.root->check_alive().has_value();
  const auto memory = sys::memory_usage();
  object_result result;
  json_writer& out = result.writer();
  out.member("status", alive ? "ok" : "workspace_deleted");
  out.member("workspace", encode_name(state.root->path()));
  out.member("uptime", std::to_string((sys::monotonic_ms() - state.started_ms) / 1000) + "s");
  out.key("memory").begin_object();
  out.member("heapUsed", megabytes(memory.resident_bytes));
  out.member("heapTotal", megabytes(memory.peak_bytes));
  out.end_object();
  out.key("pid").integer(sys::process_id());
  out.member("version", PADDOCK_VERSION);
  out.member("resolver", state.root->resolver() == resolver::openat2 ? "openat2" : "walker");
  return result.take();
}

} // namespace paddock::mcp
