// SPDX-License-Identifier: MIT
#include "mcp/server/session.hpp"

#include <paddock/mcp/server.hpp>

#include <gsl/assert>

#include <chrono>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::chrono::seconds patience_with_tasks{5};

} // namespace

/// A connection that keeps its lines.
struct server::in_process final : call_events {
  explicit in_process(std::shared_ptr<const server::core> core) : talk(std::move(core)) {}
  ~in_process() override {
    talk.abandon();
    (void)talk.wait_for_tasks(std::chrono::steady_clock::now() + patience_with_tasks);
  }
  in_process(const in_process&) = delete;
  in_process& operator=(const in_process&) = delete;

  void keep(std::string_view line) { lines.emplace_back(line.substr(0, line.size() - 1)); }
  void offer(std::string_view line) override { keep(line); }
  void may_block(std::uint64_t) override {}

  std::vector<std::string> lines;
  session talk;
};

namespace {

std::shared_ptr<const server::core> core_of(server_options options, std::vector<tool> tools,
                                            std::vector<extension> extensions) {
  Expects(problem_of_parts(tools, extensions).empty());
  return std::make_shared<const server::core>(std::move(options), std::move(tools),
                                              std::move(extensions));
}

} // namespace

result<server, detailed_error> server::make(server_options options, std::vector<tool> tools,
                                            std::vector<extension> extensions) {
  std::string problem = problem_of_parts(tools, extensions);
  if (problem.empty()) return server(std::move(options), std::move(tools), std::move(extensions));
  return detailed_error({error_code::invalid_argument, 0, "server"}, std::move(problem));
}

server::server(server_options options, std::vector<tool> tools, std::vector<extension> extensions)
    : core_(core_of(std::move(options), std::move(tools), std::move(extensions))),
      in_process_(std::make_unique<in_process>(core_)) {}
server::server(server&&) noexcept = default;
server& server::operator=(server&&) noexcept = default;
server::~server() = default;

const server_options& server::options() const noexcept {
  return core_->options;
}
const std::vector<tool>& server::tools() const noexcept {
  return core_->tools;
}
std::string_view server::tools_json() const noexcept {
  return core_->tools_array();
}

std::vector<std::string> server::handle_line(std::string_view line) {
  if (line.size() > core_->options.limits.message_in_bytes_max) {
    in_process_->keep(in_process_->talk.refusal_of_long_line());
  } else {
    std::string padded;
    padded.reserve(line.size() + json_padding);
    padded.append(line).append(json_padding, '\0');
    if (auto t = in_process_->talk.accept({padded.data(), line.size()}, *in_process_)) {
      in_process_->talk.run(*t, 0);
      if (const auto answer = t->answer.end(); !answer.empty()) in_process_->keep(answer);
      in_process_->talk.finish(std::move(t));
    }
  }
  return std::exchange(in_process_->lines, {});
}

} // namespace paddock::mcp
