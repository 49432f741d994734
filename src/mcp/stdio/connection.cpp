// SPDX-License-Identifier: MIT
#include "mcp/stdio/connection.hpp"

#include "base/start_thread.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace paddock::mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds look{
    5}; ///< between two looks of the supervisor; one unchanged look is "long"
constexpr unsigned quiet_looks_max = 4; ///< then it sleeps
constexpr milliseconds grace{250};      ///< for calls to end by themselves after the end of input
constexpr milliseconds patience{900};   ///< for everything, so that the whole stays below a second
constexpr milliseconds stall_look{20};  ///< while the client does not read or all threads are taken
constexpr std::size_t queued_max = 256;
constexpr unsigned waiting_max = 256; ///< calls that only wait, each with a thread

/// Whether the call that this thread runs is one of those.
thread_local bool only_waiting = false;

} // namespace

connection::connection(std::shared_ptr<const server::core> core, int in, int out,
                       file_descriptor wake, serve_options options)
    : core_(std::move(core)), in_(in), wake_(std::move(wake)), options_(options),
      out_(out, static_cast<std::size_t>(core_->options.limits.message_out_bytes_max),
           [fd = wake_.get()] { sys::raise_event(fd); }),
      session_(core_),
      reader_(static_cast<std::size_t>(core_->options.limits.message_in_bytes_max)) {}

// --- the leader --------------------------------------------------------------------------------

/// The next message with calls; those without are answered on the way. Null: the input has ended.
std::unique_ptr<transaction> connection::next_calls() {
  while (const auto item = next_line()) {
    if (item->too_long) {
      out_.send(session_.refusal_of_long_line());
      continue;
    }
    std::unique_ptr<transaction> t = session_.accept(item->line, *this);
    if (!t) continue;
    if (!t->calls.empty()) return t;
    answer(std::move(t));
  }
  return nullptr;
}

/// Returns at the end of the input (true), or when the leadership was taken from this thread
/// (false).
bool connection::lead() {
  for (;;) {
    std::unique_ptr<transaction> t = first_calls_ ? std::move(first_calls_) : next_calls();
    if (!t) return true;
    open_bytes_.fetch_add(t->bytes, std::memory_order_relaxed);
    if (must_queue())
      queue(std::move(t));
    else if (!run_inline(std::move(t)))
      return false;
  }
}

std::optional<line_reader::item> connection::next_line() {
  if (!wait_for_capacity()) return std::nullopt;
  for (;;) {
    if (const auto item = reader_.take()) return item;
    if (at_end_) return std::nullopt;
    if (wait_for_input() == input::ready) {
      const auto n = sys::read(in_, reader_.space());
      if (n) {
        reader_.added(*n);
        at_end_ = *n == 0;
      } else {
        at_end_ = n.error().os_errno != EAGAIN;
      }
      if (at_end_) return reader_.take_rest();
    } else {
      at_end_ = true;
      return std::nullopt;
    }
  }
}

connection::input connection::wait_for_input() {
  std::array<pollfd, 3> entries{{{.fd = in_, .events = POLLIN, .revents = 0},
                                 {.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = options_.stop_fd, .events = POLLIN, .revents = 0}}};
  auto ready = sys::poll(entries, -1);
  while (ready && *ready == 0) // a signal came, perhaps to stop
    ready = sys::poll(entries, -1);
  if (!ready || entries[1].revents != 0) {
    reason_ = end_reason::output_closed;
    return input::ended;
  }
  if (entries[2].revents != 0) {
    reason_ = end_reason::stopped;
    return input::ended;
  }
  return input::ready;
}

/// Waits while the client does not read its answers, too many calls wait, or those that wait or run
/// hold too much. False when the connection ends, or the client has gone and nothing moves any
/// more.
bool connection::wait_for_capacity() {
  const auto full = [&] {
    return out_.congested() || queued_.load(std::memory_order_relaxed) >= queued_max ||
           open_bytes_.load(std::memory_order_relaxed) >=
               2 * core_->options.limits.message_in_bytes_max;
  };
  if (!full()) return true;
  bool hung_up = false;
  auto last_progress = steady_clock::now();
  std::uint64_t seen = 0;
  while (full()) {
    // A descriptor that hung up would be ready at once for ever, so it is left out from then on.
    std::array<pollfd, 3> entries{{{.fd = hung_up ? -1 : in_, .events = 0, .revents = 0},
                                   {.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = options_.stop_fd, .events = POLLIN, .revents = 0}}};
    const auto ready = sys::poll(entries, static_cast<int>(stall_look.count()));
    if (!ready || entries[1].revents != 0) reason_ = end_reason::output_closed;
    if (entries[2].revents != 0) reason_ = end_reason::stopped;
    if (reason_ != end_reason::input_ended) return false;
    hung_up = hung_up || entries[0].revents != 0;
    const std::uint64_t now_seen = out_.written() + queued_.load(std::memory_order_relaxed);
    if (!hung_up || now_seen != seen) last_progress = steady_clock::now();
    seen = now_seen;
    if (steady_clock::now() - last_progress > grace) return false;
  }
  return true;
}

bool connection::all_busy() const {
  return followers_busy_.load(std::memory_order_relaxed) + 1 >= threads_max();
}

bool connection::must_queue() const {
  return options_.threads_max > 1 && (all_busy() || queued_.load(std::memory_order_relaxed) > 0);
}

void connection::queue(std::unique_ptr<transaction> t) {
  const lock l(guard_);
  queue_.push_back(std::move(t));
  queued_.store(queue_.size(), std::memory_order_relaxed);
  wake_one();
}

/// False when the leadership was taken away meanwhile.
bool connection::run_inline(std::unique_ptr<transaction> t) {
  const std::uint64_t token = calls_started_.load(std::memory_order_relaxed) + 1;
  calls_started_.store(token, std::memory_order_relaxed);
  // Either the supervisor sees the call before it goes to sleep, or this thread sees that it
  // sleeps.
  inline_call_.store(token);
  if (!watching_.load()) {
    const lock l(guard_);
    watching_.store(true);
    supervisor_wake_.notify_one();
  }
  run(std::move(t), token);
  std::uint64_t expected = token;
  return inline_call_.compare_exchange_strong(expected, 0);
}

/// A parsed line takes many times its length for as long as its calls run.
void connection::run(std::unique_ptr<transaction> t, std::uint64_t token) {
  const std::size_t bytes = t->bytes;
  session_.run(*t, token);
  answer(std::move(t));
  open_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

void connection::answer(std::unique_ptr<transaction> t) {
  if (const std::string_view line = t->answer.end(); !line.empty()) out_.send(line);
  session_.finish(std::move(t));
}

// --- the pool ----------------------------------------------------------------------------------

void connection::may_block(std::uint64_t token) {
  if (token == 0 || inline_call_.load(std::memory_order_relaxed) != token) return;
  const lock l(guard_);
  pass_leadership(token);
}

void connection::only_waits(std::uint64_t token) {
  const lock l(guard_);
  const bool leads = token != 0 && inline_call_.load(std::memory_order_relaxed) == token;
  const bool has_room = !only_waiting && waiting_ < waiting_max;
  if (has_room) ++waiting_;
  if (leads && !pass_leadership(token)) {
    if (has_room) --waiting_;
    return;
  }
  only_waiting = only_waiting || has_room;
  if (!queue_.empty()) wake_one();
}

bool connection::pass_leadership(std::uint64_t token) {
  if (idle_threads_ == 0 && threads_.size() >= threads_max()) return false;
  if (!inline_call_.compare_exchange_strong(token, 0)) return false;
  followers_busy_.fetch_add(1, std::memory_order_relaxed);
  leader_wanted_ = true;
  wake_one();
  return true;
}

void connection::end_following() {
  if (std::exchange(only_waiting, false)) waiting_.fetch_sub(1, std::memory_order_relaxed);
  followers_busy_.fetch_sub(1, std::memory_order_relaxed);
}

void connection::wake_one() {
  if (idle_threads_ > 0) {
    --idle_threads_;
    ++wake_calls_;
    pool_wake_.notify_one();
  } else if (threads_.size() < threads_max()) {
    // Without a thread the next call that ends takes over; nothing is lost but time.
    (void)add_thread();
  }
}

bool connection::add_thread() {
  std::thread t;
  if (!start_thread(t, [self = shared_from_this()] { self->work_until_finished(); })) return false;
  threads_.push_back(std::move(t));
  return true;
}

void connection::work_until_finished() {
  lock l(guard_);
  while (!finished_) {
    if (leader_wanted_) {
      leader_wanted_ = false;
      l.unlock();
      const bool ended = lead();
      l.lock();
      if (ended)
        input_done_ = true;
      else
        end_following();
      if (input_done_) supervisor_wake_.notify_one();
    } else if (!queue_.empty() && !all_busy()) {
      std::unique_ptr<transaction> t = std::move(queue_.front());
      queue_.pop_front();
      queued_.store(queue_.size(), std::memory_order_relaxed);
      followers_busy_.fetch_add(1, std::memory_order_relaxed);
      l.unlock();
      while (out_.congested() && !ending_.load())
        out_.wait_for_room(stall_look);
      run(std::move(t), 0);
      l.lock();
      end_following();
      if (input_done_) supervisor_wake_.notify_one();
    } else {
      ++idle_threads_;
      pool_wake_.wait(l, [&] { return wake_calls_ > 0 || finished_; });
      if (wake_calls_ > 0) --wake_calls_;
    }
  }
}

// --- the supervisor ----------------------------------------------------------------------------

result<serve_outcome> connection::supervise() {
  first_calls_ = next_calls();
  lock l(guard_);
  leader_wanted_ = first_calls_ != nullptr;
  input_done_ = !leader_wanted_;
  if (leader_wanted_ && !add_thread()) return error{error_code::too_many, EAGAIN, "thread"};
  watch(l);
  end_calls(l);
  serve_outcome outcome{.reason = reason_, .calls_abandoned = 0};
  outcome.calls_abandoned = stop_threads(l);
  return outcome;
}

void connection::watch(lock& l) {
  std::uint64_t seen_call = 0;
  std::uint64_t seen_started = 0;
  unsigned quiet_looks = 0;
  while (!input_done_) {
    if (!watching_.load()) {
      supervisor_wake_.wait(l, [&] { return input_done_ || watching_.load(); });
      quiet_looks = 0;
      continue;
    }
    if (supervisor_wake_.wait_for(l, look, [&] { return input_done_; })) return;
    const std::uint64_t running = inline_call_.load();
    const std::uint64_t started = calls_started_.load(std::memory_order_relaxed);
    if (running != 0 && running == seen_call) pass_leadership(running);
    quiet_looks = running == 0 && started == seen_started ? quiet_looks + 1 : 0;
    seen_call = running;
    seen_started = started;
    if (quiet_looks < quiet_looks_max) continue;
    watching_.store(false);
    if (inline_call_.load() != 0) watching_.store(true);
  }
}

void connection::end_calls(lock& l) {
  const auto begin = steady_clock::now();
  if (reason_ == end_reason::input_ended)
    supervisor_wake_.wait_until(l, begin + grace, [&] { return idle(); });
  l.unlock();
  ending_.store(true);
  for (const std::string& line : session_.end())
    out_.send(line);
  l.lock();
  supervisor_wake_.wait_until(l, begin + patience, [&] { return idle(); });
  l.unlock();
  tasks_left_ = session_.wait_for_tasks(begin + patience);
  const auto spent = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
  if (!out_.flush(std::max(milliseconds(10), patience - spent)))
    reason_ = end_reason::output_closed;
  out_.abandon();
  l.lock();
}

/// Ends all threads; returns how many calls had to be left behind.
std::size_t connection::stop_threads(lock& l) {
  finished_ = true;
  pool_wake_.notify_all();
  const std::size_t calls_left = followers_busy_.load() + queue_.size();
  std::vector<std::thread> threads = std::move(threads_);
  threads_.clear();
  l.unlock();
  for (std::thread& t : threads) {
    if (calls_left == 0)
      t.join();
    else
      t.detach(); // each keeps this object alive
  }
  l.lock();
  return calls_left + tasks_left_;
}

} // namespace paddock::mcp
