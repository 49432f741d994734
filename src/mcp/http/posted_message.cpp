// SPDX-License-Identifier: MIT
#include "mcp/http/posted_message.hpp"

namespace paddock::mcp {
namespace {

/// Of one call; more progress than that is not kept for the thread that writes.
constexpr std::size_t events_bytes_max = std::size_t{64} * 1024;
/// Behind so many bytes only what is brief is told.
constexpr std::size_t told_bytes_max = std::size_t{1} << 20;

std::string_view without_newline(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

} // namespace

class posted_message::calls final : public http::worker_pool::job {
public:
  calls(std::shared_ptr<posted_message> from, std::unique_ptr<transaction> what)
      : from_(std::move(from)), what_(std::move(what)) {}
  void run(http::worker_pool::place& mine) override {
    // Of a batch other calls come behind the one that waits.
    from_->place_ = what_->answer.is_batch() ? nullptr : &mine;
    from_->talk->run(*what_, 0);
    from_->place_ = nullptr;
    from_->answer(std::move(what_));
  }
  void done() override { from_->post(reply_part::kind::done, {}); }

private:
  const std::shared_ptr<posted_message> from_;
  std::unique_ptr<transaction> what_;
};

void posted_message::post(reply_part::kind what, std::string_view line, rpc_error code,
                          std::string_view brief) {
  out_->post({shared_from_this(), what, code, std::string(without_newline(line)),
              std::string(without_newline(brief))});
}

void posted_message::offer(std::string_view line) {
  if (!accepts_events) return;
  line = without_newline(line);
  if (events_waiting_.fetch_add(line.size()) > events_bytes_max) return event_taken(line.size());
  post(reply_part::kind::event, line);
}

void posted_message::tell(std::string_view line, std::string_view brief) {
  if (!accepts_events) return;
  if (events_waiting_ > told_bytes_max) line = brief;
  line = without_newline(line);
  events_waiting_ += line.size();
  post(reply_part::kind::told, line, {}, brief);
}

void posted_message::only_waits(std::uint64_t) {
  if (place_ != nullptr) place_->give_up();
}

void posted_message::answer(std::unique_ptr<transaction> t) {
  if (const std::string_view line = t->answer.end(); !line.empty()) {
    const auto refused = t->answer.refused();
    post(refused ? reply_part::kind::refusal : reply_part::kind::answer, line,
         refused.value_or(rpc_error()));
  }
  talk->finish(std::move(t));
}

http::pending_answer::client_loss posted_message::when_client_leaves() const noexcept {
  if (speaks == era::legacy) return client_loss::nothing;
  return listening ? client_loss::ends_it_now : client_loss::gives_up;
}

/// Cancels the calls of its session, and posts what ends its subscription.
void posted_message::end() {
  for (const std::string& line : talk->end())
    post(reply_part::kind::answer, line);
}

void posted_message::finish() {
  if (!listening) return;
  listening = false;
  end();
}

void posted_message::cancel() {
  if (speaks == era::modern) end();
}

void posted_message::abandon() {
  if (speaks == era::modern) talk->abandon();
}

std::unique_ptr<http::worker_pool::job> posted_message::job_of(std::unique_ptr<transaction> t) {
  return std::make_unique<calls>(shared_from_this(), std::move(t));
}

} // namespace paddock::mcp
