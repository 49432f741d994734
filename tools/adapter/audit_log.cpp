// SPDX-License-Identifier: MIT
#include "audit_log.hpp"

#include "common/text_forms.hpp"

#include <paddock/mcp/json.hpp>

#include <array>
#include <ctime>
#include <string_view>

namespace paddock::cli {
namespace {

std::string_view name_of(mcp::call_outcome outcome) {
  switch (outcome) {
  case mcp::call_outcome::succeeded:
    return "ok";
  case mcp::call_outcome::failed:
    return "error";
  case mcp::call_outcome::too_large:
    return "too_large";
  case mcp::call_outcome::cancelled:
    break;
  }
  return "cancelled";
}

/// What the client says about itself is written down as far as it is plausible.
std::string_view bounded(std::string_view text) {
  constexpr std::size_t text_bytes_max = 256;
  return text.substr(0, text_bytes_max);
}

std::string now() {
  std::timespec t{};
  std::timespec_get(&t, TIME_UTC);
  std::tm utc{};
  gmtime_r(&t.tv_sec, &utc);
  std::array<char, 32> seconds{};
  std::strftime(seconds.data(), seconds.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::array<char, 48> out{};
  std::snprintf(out.data(), out.size(), "%s.%03dZ", seconds.data(),
                static_cast<int>(t.tv_nsec / 1'000'000));
  return out.data();
}

} // namespace

audit_log::audit_log(const std::string& path) : file_(std::fopen(path.c_str(), "ae")) {
  // A line is written by one system call, so several servers may share a file.
  if (file_) std::setvbuf(file_.get(), nullptr, _IOFBF, 64 * 1024);
}

void audit_log::write(const mcp::call_record& record) {
  mcp::json_writer out;
  out.begin_object();
  out.member("time", now()).member("tool", record.tool);
  out.key("id").raw(record.id.empty() ? "null" : record.id);
  out.member("outcome", name_of(record.outcome));
  if (!record.error.empty()) out.member("error", record.error);
  if (!record.trouble.empty()) out.member("trouble", bounded(record.trouble));
  out.key("durationUs").unsigned_integer(record.duration_us);
  out.key("bytesOut").unsigned_integer(record.bytes_out);
  out.member("protocol", record.revision);
  if (!record.client_name.empty()) {
    out.member("client", bounded(record.client_name));
    out.member("clientVersion", bounded(record.client_version));
  }
  if (!record.traceparent.empty()) out.member("traceparent", bounded(record.traceparent));
  out.end_object();
  append(out.take());
}

void audit_log::write(const network_event& event) {
  mcp::json_writer out;
  write_event(out.begin_object().member("time", now()).key("network"), event);
  out.end_object();
  append(out.take());
}

void audit_log::append(std::string line) {
  line += '\n';
  const std::lock_guard lock(mutex_);
  std::fwrite(line.data(), 1, line.size(), file_.get());
  std::fflush(file_.get());
}

} // namespace paddock::cli
