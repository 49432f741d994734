// SPDX-License-Identifier: MIT
#include "http_cli.hpp"

#include "common/workspace_cli.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

namespace paddock::cli {
namespace {

constexpr std::size_t token_bytes_min = 16;
constexpr std::size_t token_bytes_max = 4096;

/// The first line of the file; complains when there is no usable one.
std::optional<std::string> read_token(std::string_view program, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string token;
  const bool opened = file.is_open();
  if (opened) std::getline(file, token);
  if (!opened || file.bad()) {
    complain(program, "the token file " + path + " cannot be read (" +
                          std::generic_category().message(errno) +
                          "); --http-token-file names a file whose first line is the token");
    return std::nullopt;
  }
  if (token.ends_with('\r')) token.pop_back();
  const bool plain =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!plain || token.size() < token_bytes_min || token.size() > token_bytes_max) {
    complain(program, (token.empty() ? "there is no first line in " : "the first line of ") + path +
                          (token.empty() ? "" : " is no token") +
                          ": it takes 16 to 4096 visible ASCII characters "
                          "(openssl rand -hex 32 prints a good one)");
    return std::nullopt;
  }
  std::error_code unknown;
  const auto mode = std::filesystem::status(path, unknown).permissions();
  using perms = std::filesystem::perms;
  if (!unknown && (mode & (perms::group_read | perms::others_read)) != perms::none)
    complain(program, "warning: other users may read the token file " + path +
                          "; chmod 600 keeps it from them");
  return token;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// What was meant by something that is no address; empty: that is not known.
std::string address_meant(std::string_view given) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!given.starts_with(scheme)) continue;
    given.remove_prefix(scheme.size());
    const std::size_t slash = std::min(given.find('/'), given.size());
    std::string text = "; a URL is not an address: write --http ";
    text.append(given.substr(0, slash));
    if (given.substr(0, slash).find(':') == given.npos) text += ":8080";
    if (given.size() - slash > 1) text.append(" --http-path ").append(given.substr(slash));
    return text;
  }
  const std::string meant = "; write --http ";
  if (is_number(given)) return meant + "127.0.0.1:" + std::string(given);
  if (given.starts_with(':') && is_number(given.substr(1)))
    return meant + "127.0.0.1" + std::string(given);
  if (given.find(':') == given.npos) return meant + std::string(given) + ":8080";
  return {};
}

void complain_about(std::string_view program, const http_cli& from, const error& reason) {
  std::string message = "cannot serve at " + from.listen + ": ";
  if (reason.code == error_code::invalid_argument)
    message.append(reason.operation)
        .append(from.options.path.starts_with('/') ? address_meant(from.listen)
                                                   : "; write --http-path /" + from.options.path);
  else if (reason.code == error_code::denied_by_policy)
    message.append(reason.operation).append("; give one with --http-token-file");
  else if (std::string_view(reason.operation).find(' ') != std::string_view::npos)
    message.append(reason.operation).append("; choose another one with --http");
  else if (reason.code == error_code::already_exists)
    message.append("another program has this address; choose another one with --http");
  else
    message.append(text(reason.code));
  complain(program, message);
}

} // namespace

void add_http_options(CLI::App& app, http_cli& target) {
  auto* http = app.add_option("--http", target.listen,
                              "Serve Streamable HTTP at this address instead of standard input and "
                              "output: HOST:PORT (port 0: any free port) or unix:/path/of/socket")
                   ->type_name("ADDRESS");
  const auto needs_http = [&](CLI::Option* o) { o->needs(http)->group(seldom_used); };
  needs_http(app.add_option("--http-path", target.options.path, "Serve at this path")
                 ->type_name("PATH")
                 ->capture_default_str());
  needs_http(app.add_option("--http-token-file", target.token_file,
                            "Require the token in the first line of this file (Authorization: "
                            "Bearer); needed for addresses other than loopback")
                 ->type_name("FILE"));
  needs_http(app.add_option("--http-allow-host", target.options.allowed_hosts,
                            "Accept this host name too, besides localhost (repeatable)")
                 ->type_name("HOST"));
  needs_http(app.add_option("--http-allow-origin", target.options.allowed_origins,
                            "Accept requests from pages of this web origin (repeatable)")
                 ->type_name("ORIGIN"));
}

int serve_http(std::string_view program, const mcp::server& server, http_cli from) {
  if (!from.token_file.empty()) {
    auto token = read_token(program, from.token_file);
    if (!token) return usage;
    from.options.token = *std::move(token);
  }
  from.options.listen = from.listen;
  auto made = mcp::http_server::make(server, from.options);
  if (!made) {
    complain_about(program, from, made.error());
    return usage;
  }
  const auto served =
      made->run_until_terminated([&] { complain(program, "listening on " + made->address()); });
  const auto failure = served ? served->failure : std::optional(served.error());
  if (failure) complain(program, "the server failed: " + std::string(text(failure->code)));
  const int code = failure ? failed : success;
  // Handlers that did not come back still run; static objects must not be destroyed under them.
  if (served && served->calls_abandoned > 0) std::quick_exit(code);
  return code;
}

} // namespace paddock::cli
