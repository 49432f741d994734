// SPDX-License-Identifier: MIT
#include "http/server/pooled_application.hpp"

#include <cerrno>
#include <new>
#include <utility>

namespace paddock::http {
namespace {

/// Also of those whose clients have gone.
constexpr std::size_t open_max = 256;

} // namespace

class pooled_application::open_request final : public pending_answer {
public:
  explicit open_request(std::uint64_t connection_number) : connection(connection_number) {}

  [[nodiscard]] client_loss when_client_leaves() const noexcept override {
    return client_loss::gives_up;
  }
  void finish() override { cancelled = true; }
  void cancel() override { cancelled = true; }
  void abandon() override { cancelled = true; }

  const std::uint64_t connection;
  std::atomic<bool> cancelled = false;
};

class pooled_application::job final : public worker_pool::job {
public:
  job(pooled_application& by, std::shared_ptr<open_request> to, request_head head, std::string body)
      : by_(by), mailbox_(by.mailbox_), to_(std::move(to)),
        request_{std::move(head), std::move(body), to_->cancelled} {}

  void run(worker_pool::place&) override {
    try {
      answer_ = by_.answer_to(request_);
    } catch (const std::bad_alloc&) {
      refusal_ = "this request needs more memory than there is";
    } catch (...) { // what it says may be what clients must not know
      refusal_ = "no answer could be made, by a fault of this program; report it if it comes again";
    }
  }
  void done() override { mailbox_->post({to_, std::move(answer_), refusal_}); }

private:
  pooled_application& by_;
  const std::shared_ptr<mailbox<ready>> mailbox_;
  const std::shared_ptr<open_request> to_;
  const request request_;
  answer answer_;
  std::string_view refusal_;
};

pooled_application::pooled_application(file_descriptor wake, unsigned threads_max)
    : mailbox_(std::make_shared<mailbox<ready>>(std::move(wake))),
      pool_(std::make_shared<worker_pool>(threads_max, 0U)) {}

result<file_descriptor> pooled_application::wake_event() {
  return sys::eventfd();
}

result<pooled_application::outcome> pooled_application::serve(listener l, server_options options,
                                                              int stop_fd) {
  PADDOCK_TRY(const auto serving, server::make(*this, std::move(l), options));
  if (!pool_->start()) return error{error_code::too_many, EAGAIN, "thread"};
  server_ = serving.get();
  const auto served = serving->run(stop_fd);
  server_ = nullptr;
  outcome out{.abandoned = pool_->stop()};
  if (!served) out.failure = served.error();
  mailbox_->close();
  return out;
}

void pooled_application::handle(connection& c) {
  if (open_ >= open_max)
    return server_->refuse(c, 503, "too much is under way; try again in a moment");
  const auto open = std::make_shared<open_request>(c.number);
  c.pending = open;
  ++open_;
  pool_->submit(std::make_unique<job>(*this, open, c.reader.head(), std::exchange(c.body, {})));
}

void pooled_application::deliver() {
  for (const ready& each : mailbox_->take()) {
    --open_;
    connection* const c = server_->find(each.to->connection);
    if (c == nullptr || c->pending != each.to) continue;
    if (!each.refusal.empty())
      server_->refuse(*c, 500, each.refusal);
    else
      server_->respond(*c, each.what.status, each.what.lines, each.what.type, each.what.body);
    server_->go_on(*c);
  }
}

} // namespace paddock::http
