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

/// What the system enforces, found out by the first one who asks.
const confinement_report* confinement_of(workspace_state& state, call& c) {
  if (state.options.exec == exec_mode::off || state.options.access == workspace_access::read_only)
    return nullptr;
  std::call_once(state.confinement_once, [&] {
    c.may_block();
    auto found = probe_confinement(state.options.confinement, state.options.exec_helper);
    if (found) state.confinement = *std::move(found);
  });
  return state.confinement ? &*state.confinement : nullptr;
}

} // namespace

tool_result health_check(workspace_state& state, call& c) {
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
  if (const auto* report = confinement_of(state, c)) {
    out.key("confinement");
    write_confinement(out, *report);
  }
  return result.take();
}

} // namespace paddock::mcp
