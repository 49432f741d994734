// SPDX-License-Identifier: MIT
#pragma once

// Many clients' calls over one connection, told apart by their ids; each client has one call open
// at a time. Every line that comes back must be the one answer to an open call, or the only one to
// a call that was cancelled.

#include "support/load/line_peer.hpp"
#include "support/load/load_client.hpp"

#include <deque>
#include <unordered_map>

namespace paddock::test {

/// Microseconds, counted one by one up to a second.
class latencies {
public:
  void add(std::chrono::steady_clock::duration d) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(d).count();
    ++counts_[std::min(static_cast<std::size_t>(us), counts_.size() - 1)];
    max_us_ = std::max(max_us_, static_cast<std::uint64_t>(us));
    ++total_;
  }
  [[nodiscard]] std::size_t percentile_us(double percent) const {
    const auto wanted = static_cast<std::uint64_t>(static_cast<double>(total_) * percent / 100);
    std::uint64_t seen = 0;
    for (std::size_t us = 0; us < counts_.size(); ++us)
      if ((seen += counts_[us]) > wanted) return us;
    return max_us_;
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t max_us() const { return max_us_; }

private:
  std::vector<std::uint32_t> counts_ = std::vector<std::uint32_t>(1'000'000);
  std::uint64_t total_ = 0;
  std::uint64_t max_us_ = 0;
};

class load_driver {
public:
  using clock = std::chrono::steady_clock;

  load_driver(line_peer& peer, unsigned clients, std::uint64_t seed) : peer_(peer), random_(seed) {
    for (unsigned n = 0; n < clients; ++n)
      clients_.push_back({.model = load_client(n, seed), .id = {}});
  }

  struct totals {
    std::uint64_t calls = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t answered_nonetheless = 0; ///< the cancellation came too late
  };
  [[nodiscard]] const totals& done() const { return totals_; }
  [[nodiscard]] const latencies& times() const { return times_; }

  /// Starts calls as long as `more` says so, then waits for the answers of all.
  template <class More> void run(More more) {
    while (!testing::Test::HasFailure()) {
      bool open = false;
      const bool go_on = more();
      for (std::size_t n = 0; n < clients_.size(); ++n) {
        if (clients_[n].id.empty() && go_on) start(n);
        open = open || !clients_[n].id.empty();
      }
      send_due_cancellations(go_on);
      if (!open && !go_on && late_.empty() && peer_.unsent() == 0) break;
      if (!peer_.pump()) FAIL() << "nothing moves; " << opened();
      while (const auto line = peer_.take())
        answer(*line);
      if (peer_.ended()) FAIL() << "the server ended; " << opened();
    }
  }

  /// Until the server ends, which has been asked to: only calls that were cancelled too late may
  /// still be answered.
  void finish() {
    while (const auto line = peer_.receive())
      if (!testing::Test::HasFailure()) answer(*line);
  }

private:
  struct slot {
    load_client model;
    std::string id; ///< of the open call, or empty
    load_call call;
    clock::time_point began;
  };
  struct late_cancellation {
    std::size_t client;
    std::string id;
    unsigned lines_to_wait;
  };

  void start(std::size_t n) {
    slot& s = clients_[n];
    s.call = s.model.next();
    s.id = s.model.next_id(static_cast<unsigned>(clients_.size()), static_cast<unsigned>(n));
    s.began = clock::now();
    open_.emplace(s.id, n);
    peer_.put(call_line(s.model.speaks(), s.id, s.call.tool, s.call.arguments));
    ++totals_.calls;
    if (s.call.cancel)
      late_.push_back({n, s.id, static_cast<unsigned>(random_() % 32)});
    else if (random_() % 64 == 0) // of a call that never was, or is over
      peer_.put(cancel_line(s.model.speaks(), random_() % 2 == 0 ? "\"nobody\"" : last_id_));
  }

  void send_due_cancellations(bool waiting_allowed) {
    for (std::size_t i = late_.size(); i > 0; --i) {
      late_cancellation late = late_.front();
      late_.pop_front();
      if (waiting_allowed && late.lines_to_wait > 0) {
        --late.lines_to_wait;
        late_.push_back(std::move(late));
        continue;
      }
      slot& s = clients_[late.client];
      peer_.put(cancel_line(s.model.speaks(), late.id)); // perhaps it is over
      if (s.id != late.id) continue;
      ++totals_.cancelled;
      open_.erase(late.id);
      given_up_.emplace(late.id, s.call.must_not_end);
      s.id.clear();
    }
  }

  void answer(std::string_view line) {
    const auto parsed = document_.parse(line);
    if (!parsed) FAIL() << "not JSON: " << line;
    const mcp::json_view message = *parsed;
    const std::string id = message["id"].text();
    if (const auto cancelled = given_up_.find(id); cancelled != given_up_.end()) {
      if (cancelled->second && line.find("too_many") == line.npos)
        FAIL() << "a command that never ends was answered: " << line;
      ++totals_.answered_nonetheless;
      given_up_.erase(cancelled);
      return;
    }
    const auto found = open_.find(id);
    if (found == open_.end()) FAIL() << "nobody asked: " << line;
    slot& s = clients_[found->second];
    times_.add(clock::now() - s.began);
    open_.erase(found);
    last_id_ = std::exchange(s.id, {});
    if (const std::string wrong = verdict(s, message); !wrong.empty())
      FAIL() << s.call.tool << s.call.arguments << " of " << s.model.name() << ": " << wrong
             << "\nanswer: " << line;
  }

  std::string verdict(const slot& s, mcp::json_view message) {
    const mcp::json_view result = message["result"];
    const bool modern = s.model.speaks() == era::modern;
    if (message["jsonrpc"].string() != "2.0" || !result.exists()) return "not a result";
    if (result["resultType"].exists() != modern || result["_meta"].exists() != modern)
      return "the result of another era";
    tool_reply reply{.value = result["structuredContent"],
                     .failed = result["isError"].boolean().value_or(true)};
    std::string text;
    result["content"].for_each_element(
        [&](mcp::json_view block) { text += block["text"].string().value_or("(none)"); });
    if (const auto shown = text_.parse(text); !shown)
      return "the text is not JSON";
    else if (reply.failed)
      reply.value = *shown;
    else if (shown->text() != reply.value.text())
      return "text and structured content differ";
    return s.call.verdict ? s.call.verdict(reply) : std::string();
  }

  std::string opened() const {
    std::string all = "open:";
    for (const auto& [id, n] : open_)
      all += " " + id + " (" + clients_[n].call.tool + ")";
    return all;
  }

  line_peer& peer_;
  std::mt19937_64 random_;
  std::vector<slot> clients_;
  std::unordered_map<std::string, std::size_t> open_;
  std::unordered_map<std::string, bool> given_up_; ///< cancelled ids; whether no answer may come
  std::deque<late_cancellation> late_;
  std::string last_id_ = "0";
  mcp::json_document document_;
  mcp::json_document text_;
  latencies times_;
  totals totals_;
};

} // namespace paddock::test
