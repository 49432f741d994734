// SPDX-License-Identifier: MIT
#include "mcp/http/posted_message.hpp"

namespace paddock::mcp {
namespace {

/// Of one call; more progress than that is not kept for the thread that writes.
constexpr std::size_t events_bytes_max = std::size_t{64} * 1024;

} // namespace

class posted_message::calls final : public http::worker_pool::job {
public:
  calls(std::shared_ptr<posted_message> from, std::unique_ptr<work> what)
      : from_(std::move(from)), what_(std::move(what)) {}
  void run() override { from_->talk->run(std::move(what_), 0); }
  void done() override { from_->post(reply_part::kind::done, {}); }

private:
  const std::shared_ptr<posted_message> from_;
  std::unique_ptr<work> what_;
};

void posted_message::post(reply_part::kind what, std::string_view line, rpc_error code) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  out_->post({shared_from_this(), what, code, std::string(line)});
}

void posted_message::send(std::string_view line) {
  replied = true;
  post(reply_part::kind::answer, line);
}

void posted_message::offer(std::string_view line) {
  if (!accepts_events) return;
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (events_waiting_.fetch_add(line.size()) > events_bytes_max) return event_taken(line.size());
  post(reply_part::kind::event, line);
}

void posted_message::refuse(std::string_view line, rpc_error code) {
  replied = true;
  post(reply_part::kind::refusal, line, code);
}

http::pending_answer::client_loss posted_message::when_client_leaves() const noexcept {
  if (speaks == era::legacy) return client_loss::nothing;
  return listening ? client_loss::ends_it_now : client_loss::gives_up;
}

void posted_message::finish() {
  if (!listening) return;
  listening = false;
  talk->end();
}

void posted_message::cancel() {
  if (speaks == era::modern) talk->end();
}

void posted_message::abandon() {
  if (speaks == era::modern) talk->abandon();
}

std::unique_ptr<http::worker_pool::job> posted_message::job_of(std::unique_ptr<work> w) {
  return std::make_unique<calls>(shared_from_this(), std::move(w));
}

} // namespace paddock::mcp
