// SPDX-License-Identifier: MIT

// How a session begins: with a look at what has changed since the last one, and a start to go back
// to.

#include "history/store_impl.hpp"
#include "path/name_rules.hpp"
#include "sys/spare_memory.hpp"

#include <algorithm>
#include <utility>

namespace paddock::history {

result<void> store::impl::settle(const work_bounds& bounds) {
  if (!others.cut_short.empty()) {
    const auto done = look_through(unannounced(), bounds);
    if (!done) return unless_full(done); // the marks are there still
  }
  forget_cut_short();
  return {};
}

std::string store::impl::end_moves() {
  owes_look = !after_moves;
  return owes_look ? std::string() : after_moves();
}

void store::impl::forget_cut_short() {
  if (owes_look || !std::ranges::all_of(others.cut_short, is_command))
    if (const std::string said = end_moves(); !said.empty())
      short_of.append(short_of.empty() ? "" : "; ").append(said);
  marks.remove_left(others);
  others.left.clear();
  others.cut_short.clear();
}

namespace {

/// What became of a hidden name was no agent's doing.
class hidden_until_now final : public others_changes {
public:
  explicit hidden_until_now(const name_rules& rules) : rules_(rules) {}
  [[nodiscard]] bool has(const std::string& path) const {
    return rules_.leads_through_hidden(path);
  }
  [[nodiscard]] bool has(const transition& step) const override { return has(step.path); }

private:
  const name_rules& rules_;
};

} // namespace

result<void> store::impl::begin(const work_bounds& bounds) {
  const bool is_new = checkpoints.empty();
  if (!is_new) PADDOCK_CHECK(recover());
  PADDOCK_TRY(const auto hidden, name_rules::make(shown_anew));
  const hidden_until_now unseen(hidden);
  scan_options how_to = scanning(bounds);
  if (is_new) // nobody asks whose that is: it is not held until all is met
    how_to.take = [&](std::vector<met_entry>&& met) {
      return take_as_known(std::move(met), bounds);
    };
  PADDOCK_TRY(auto found, scan(*workspace, index, how_to));
  if (is_new || log.has_gap() || !shown_anew.empty()) {
    (void)take_closed(found, {});
    // A record that is lost may have been the one that said that they are there: a restore must not
    // take them for new.
    std::vector<met_entry> known, unknown; // both by path, as before
    for (met_entry& each : found.met) {
      const bool is_known =
          !is_new && (index.find(each.path).exists() || !(log.has_gap() || unseen.has(each.path)));
      (is_known ? known : unknown).push_back(std::move(each));
    }
    found.met = std::move(known);
    PADDOCK_CHECK(take_as_known(std::move(unknown), bounds));
  }
  auto done = is_new
                  ? result<void>()
                  : absorb(std::move(found), unannounced(), bounds, whose::announced, 0, &unseen);
  // Where the disk is full, dropping checkpoints would not help: it makes a new journal first.
  if (!done && is_over_budget(done.error())) done = begin_when_full(bounds);
  if (done) forget_cut_short();
  PADDOCK_CHECK(unless_full(done));
  be_content();
  if (start == 0) PADDOCK_CHECK(make_start());
  is_started = true;
  if (const auto swept = sweep_out(sweep::if_needed, bounds); !swept) {
    if (is_ended(swept.error())) return swept.error();
    complain(swept.error());
  }
  sys::give_back_spare_memory();
  return {};
}

/// A server's is a new one; who looks sees what has changed since the last.
result<void> store::impl::make_start() {
  if (purpose == session::serve || checkpoints.empty()) {
    const auto made = mark("start", true);
    lacks_start = !made;
    if (made) {
      start = made->number;
      // Others may drop it where this fails, and nothing else is lost.
      if (purpose == session::serve) (void)marks.serve_from(start);
      return {};
    }
    if (checkpoints.empty()) return made.error();
    PADDOCK_CHECK(unless_full(made.error()));
  }
  const auto last = std::find_if(checkpoints.rbegin(), checkpoints.rend(),
                                 [](const placed_checkpoint& each) { return each.what.is_start; });
  start = last != checkpoints.rend() ? last->what.number : checkpoints.front().what.number;
  return {};
}

std::string store::impl::lost_past(std::string_view what) {
  if (!std::exchange(has_lost_past, false)) return {};
  return std::string(what) + ", because something cut or removed the journal of the history";
}

result<void> store::impl::begin_when_full(const work_bounds& bounds) {
  if (start == 0) PADDOCK_CHECK(make_start()); // what was there before it may go
  for (;;) {
    const std::size_t last = last_to_keep();
    PADDOCK_CHECK(sweep_from((last + 1) / 2, bounds));
    const auto done = look_through(unannounced(), bounds);
    if (done || !is_over_budget(done.error()) || last == 0) return done;
  }
}

} // namespace paddock::history
