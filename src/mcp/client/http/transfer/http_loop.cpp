// SPDX-License-Identifier: MIT
#include "mcp/client/http/transfer/http_loop.hpp"

#include "base/start_thread.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <limits>

namespace paddock::mcp {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t spare_handles_max = 4;
constexpr error timed_out{error_code::timed_out, 0, "http"};

/// libcurl wants this once, before anything else. Nothing undoes it: others may use it, too.
bool is_curl_ready() {
  if (!libcurl().are_there) return false; // now; another call may find it
  static const bool ready = libcurl().global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return ready;
}

} // namespace

http_loop::http_loop(http_origin server, multi_handle multi, file_descriptor wake)
    : wake_(std::move(wake)), multi_(std::move(multi)), server_(std::move(server)) {}

result<std::unique_ptr<http_loop>> http_loop::start(http_origin server) {
  multi_handle multi(is_curl_ready() ? libcurl().multi_init() : nullptr);
  if (!multi) return error{error_code::io, 0, "curl"};
  PADDOCK_TRY(auto wake, sys::eventfd());
  std::unique_ptr<http_loop> loop(
      new http_loop(std::move(server), std::move(multi), std::move(wake)));
  if (!start_thread(loop->thread_, [l = loop.get()] { l->run(); }))
    return error{error_code::too_many, 0, "thread"};
  return loop;
}

http_loop::~http_loop() {
  stop();
}

void http_loop::post(task t) {
  const std::lock_guard lock(guard_);
  if (stopping_) return;
  inbox_.push_back(std::move(t));
  if (inbox_.size() == 1) sys::raise_event(wake_.get()); // who posted the others has done so
}

void http_loop::stop() noexcept {
  {
    const std::lock_guard lock(guard_);
    stopping_ = true;
    sys::raise_event(wake_.get());
  }
  if (thread_.joinable()) thread_.join();
}

/// libcurl gets it later: this may be called from within one of its callbacks.
std::uint64_t http_loop::send(http_request request, std::unique_ptr<response_handler> handler) {
  const std::uint64_t number = ++last_number_;
  const std::int64_t timeout_ms = request.timeout_ms;
  curl_handle handle;
  if (spare_.empty()) {
    handle.reset(libcurl().easy_init());
  } else {
    handle = std::move(spare_.back());
    spare_.pop_back();
  }
  const auto& made = transfers_.emplace_back(std::make_unique<http_transfer>(
      server_, number, std::move(request), std::move(handler), std::move(handle)));
  if (timeout_ms != 0) made->deadline_ms = sys::monotonic_ms() + timeout_ms;
  return number;
}

http_transfer* http_loop::find(std::uint64_t number) const {
  const auto found =
      std::ranges::find(transfers_, number, [](const auto& t) { return t->number(); });
  return number == 0 || found == transfers_.end() ? nullptr : found->get();
}

void http_loop::abandon(std::uint64_t number) {
  if (http_transfer* const t = find(number)) t->abandon();
}

void http_loop::abandon_all() {
  for (const auto& t : transfers_)
    t->abandon();
  timers_.clear();
}

void http_loop::limit(std::uint64_t number, std::int64_t delay_ms) {
  if (http_transfer* const t = find(number)) t->deadline_ms = sys::monotonic_ms() + delay_ms;
}

void http_loop::after(std::int64_t delay_ms, task t) {
  timers_.push_back({sys::monotonic_ms() + delay_ms, std::move(t)});
}

void http_loop::run_tasks() {
  std::vector<task> tasks;
  {
    const std::lock_guard lock(guard_);
    tasks.swap(inbox_);
  }
  for (const task& t : tasks)
    t();
}

void http_loop::run_timers(std::int64_t now_ms) {
  if (timers_.empty()) return;
  std::vector<timer> due;
  std::vector<timer> later;
  for (timer& t : timers_)
    (t.at_ms > now_ms ? later : due).push_back(std::move(t));
  timers_ = std::move(later);
  for (const timer& t : due)
    t.run();
}

std::int64_t http_loop::wait_ms(std::int64_t now_ms) const {
  if (begun_ < transfers_.size()) return 0;
  std::int64_t earliest = idle_since_ms_ < 0 ? never : idle_since_ms_ + idle_ms_max;
  for (const timer& t : timers_)
    earliest = std::min(earliest, t.at_ms);
  for (const auto& t : transfers_)
    earliest = std::min(earliest, t->is_over() ? 0 : t->deadline_ms);
  return std::clamp<std::int64_t>(earliest - now_ms, 0, std::numeric_limits<int>::max());
}

/// Callbacks add to `transfers_` and never take away.
void http_loop::begin_transfers() {
  for (; begun_ < transfers_.size(); ++begun_) {
    http_transfer& t = *transfers_[begun_];
    if (t.is_over()) continue;
    is_used_ = true;
    if (!t.set_up() || libcurl().multi_add_handle(multi_.get(), t.handle()) != CURLM_OK)
      t.fail({{error_code::io, 0, "curl"}, "libcurl does not take the request"});
  }
}

void http_loop::transfer() {
  int running = 0;
  (void)libcurl().multi_perform(multi_.get(), &running);
  int left = 0;
  while (const CURLMsg* const message = libcurl().multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result; // what it is in does not outlive the next call
    const auto of_handle = [&](const auto& t) { return t->handle() == message->easy_handle; };
    const auto found = std::ranges::find_if(transfers_, of_handle);
    if (found != transfers_.end()) (*found)->finish(code);
  }
}

/// Gives back what is over, and ends what takes too long.
void http_loop::end_transfers(std::int64_t now_ms) {
  for (std::size_t i = 0; i < begun_; ++i)
    if (now_ms >= transfers_[i]->deadline_ms)
      transfers_[i]->fail({timed_out, "the server did not answer in time"});
  std::size_t kept = 0;
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    auto& t = transfers_[i];
    if (t->is_over()) {
      if (i < begun_) libcurl().multi_remove_handle(multi_.get(), t->handle());
      curl_handle handle = t->take_handle();
      t.reset();
      if (handle && spare_.size() < spare_handles_max) spare_.push_back(std::move(handle));
    } else if (i < begun_) {
      ++kept;
    }
  }
  std::erase(transfers_, nullptr);
  begun_ = kept;
  if (!transfers_.empty())
    idle_since_ms_ = -1;
  else if (is_used_ && idle_since_ms_ < 0)
    idle_since_ms_ = now_ms;
}

/// Closes connections that nobody uses: libcurl looks at connections that it keeps only when there
/// is another request.
void http_loop::hang_up(std::int64_t now_ms) {
  if (idle_since_ms_ < 0 || now_ms < idle_since_ms_ + idle_ms_max) return;
  idle_since_ms_ = -1;
  multi_handle fresh(libcurl().multi_init());
  if (!fresh) return;
  is_used_ = false;
  multi_.swap(fresh);
  spare_.clear();
}

/// An event of our own costs fewer system calls than curl_multi_wakeup.
void http_loop::wait(std::int64_t at_most_ms) {
  curl_waitfd woken{.fd = wake_.get(), .events = CURL_WAIT_POLLIN, .revents = 0};
  // Fails only without memory; the next round tries again.
  (void)libcurl().multi_poll(multi_.get(), &woken, 1, static_cast<int>(at_most_ms), nullptr);
  if (woken.revents != 0) sys::clear_event(wake_.get());
}

void http_loop::run() {
  for (;;) {
    {
      const std::lock_guard lock(guard_);
      if (stopping_) break;
    }
    run_tasks();
    run_timers(sys::monotonic_ms());
    begin_transfers();
    transfer();
    const std::int64_t now_ms = sys::monotonic_ms();
    end_transfers(now_ms);
    hang_up(now_ms);
    wait(wait_ms(now_ms));
  }
  for (std::size_t i = 0; i < begun_; ++i)
    libcurl().multi_remove_handle(multi_.get(), transfers_[i]->handle());
  transfers_.clear();
  timers_.clear();
  const std::lock_guard lock(guard_);
  inbox_.clear();
  multi_.reset();
}

} // namespace paddock::mcp
