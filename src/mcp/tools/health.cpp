// SPDX-License-Identifier: MIT
#include "mcp/tools/command_request.hpp"
#include "mcp/tools/recorded_call.hpp"
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

tool_result health_check(workspace_state& state, call& c) {
  const bool alive = state.root->check_alive().has_value();
  const auto memory = sys::memory_usage();
  object_result result;
  json_writer& out = result.writer();
  const auto confined = confinement_verdict(state, c);
  const bool is_degraded = confined && state.runs_commands && confined->trouble.refused;
  out.member("status", !alive ? "workspace_deleted" : is_degraded ? "degraded" : "ok");
  out.member("workspace", encode_name(state.root->path()));
  out.member("uptime", std::to_string((sys::monotonic_ms() - state.started_ms) / 1000) + "s");
  out.key("memory").begin_object();
  out.member("heapUsed", megabytes(memory.resident_bytes));
  out.member("heapTotal", megabytes(memory.peak_bytes));
  out.end_object();
  out.key("pid").integer(sys::process_id());
  out.member("version", PADDOCK_VERSION);
  out.member("resolver", state.root->resolver() == resolver::openat2 ? "openat2" : "walker");
  std::string warning = state.warning;
  if (confined && state.runs_commands && !confined->trouble.text.empty())
    warning += (warning.empty() ? "commands: " : "; commands: ") + confined->trouble.text;
  if (!warning.empty()) out.member("warning", encode_name(warning));
  if (state.options.tools == toolset::coding) out.member("undo", encode_name(undo_words(state)));
  if (!state.options.home_tools.empty()) out.member("homeTools", state.options.home_tools);
  if (!state.options.package_caches.empty())
    out.member("packageCaches", state.options.package_caches);
  if (confined && state.options.confinement.scratch)
    out.member("scratch", confined->report.no_session.empty()
                              ? std::string(wire_name(confined->report.scratch))
                              : "call: " + confined->report.no_session);
  if (confined) {
    out.key("confinement");
    write_confinement(out, confined->report);
  }
  return result.take();
}

} // namespace paddock::mcp
