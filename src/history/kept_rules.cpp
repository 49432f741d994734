// SPDX-License-Identifier: MIT
#include "history/kept_rules.hpp"

#include "history/content_sum.hpp"
#include "sys/process.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/protected_names.hpp>

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace paddock::history {
namespace {

constexpr std::uint64_t rules_bytes_max = std::uint64_t{1} << 20U;
constexpr std::string_view hidden_word = "hidden ", read_only_word = "read-only ",
                           past_word = "past ", sum_word = "sum ";

using rule_list = std::vector<protected_name>;

struct kept_rule {
  protected_name what;
  std::uint32_t ended_day = 0; ///< since 1970; 0: in force
};
using kept_rules = std::vector<kept_rule>;

std::string rendered(const kept_rules& rules) {
  std::string text;
  for (const auto& [what, ended_day] : rules) {
    if (ended_day != 0) text.append(past_word).append(std::to_string(ended_day)) += ' ';
    text.append(what.mode == protection::hidden ? hidden_word : read_only_word).append(what.name) +=
        '\0';
  }
  return text;
}

std::string sum_line(std::string_view rules) {
  return std::string(sum_word) + std::to_string(sum_of(rules)) + '\0';
}

/// Without the sum at the end, which earlier versions did not write; nothing: it is wrong.
std::optional<std::string_view> without_sum(std::string_view text, bool has_sum) {
  const std::size_t last = text.size() < 2 ? 0 : text.rfind('\0', text.size() - 2) + 1;
  if (!has_sum && !text.substr(last).starts_with(sum_word)) return text;
  if (text.substr(last) != sum_line(text.substr(0, last))) return std::nullopt;
  return text.substr(0, last);
}

/// Nothing: it is none.
std::optional<kept_rule> parsed_line(std::string_view line) {
  kept_rule rule;
  if (line.starts_with(past_word)) {
    line.remove_prefix(past_word.size());
    const auto [end, failed] =
        std::from_chars(line.data(), line.data() + line.size(), rule.ended_day);
    if (failed != std::errc() || end == line.data() + line.size() || *end != ' ')
      return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  }
  const bool is_hidden = line.starts_with(hidden_word);
  if (!is_hidden && !line.starts_with(read_only_word)) return std::nullopt;
  rule.what = {.name = std::string(line.substr((is_hidden ? hidden_word : read_only_word).size())),
               .mode = is_hidden ? protection::hidden : protection::read_only,
               .asked = true};
  if (!is_valid(rule.what)) return std::nullopt;
  return rule;
}

/// Nothing where none were written.
result<std::optional<kept_rules>> read_rules(int store, const char* file, bool has_sum) {
  kept_rules rules;
  const auto bytes = read_store_file(store, file, rules_bytes_max);
  if (!bytes && bytes.error().code == error_code::not_found) return std::optional<kept_rules>();
  if (!bytes) return bytes.error();
  const auto checked = without_sum(*bytes, has_sum);
  if (!checked) return error{error_code::io, 0, "history rules"};
  for (std::string_view text = *checked; !text.empty();) {
    const auto end = text.find('\0');
    auto rule = end != text.npos ? parsed_line(text.substr(0, end)) : std::nullopt;
    if (!rule) return error{error_code::io, 0, "history rules"};
    rules.push_back(*std::move(rule));
    text.remove_prefix(end + 1);
  }
  return std::optional(std::move(rules));
}

detailed_error without_rules(const error& why, int store) {
  const std::string file = sys::name_of(store) + '/' + rules_name;
  return {why, "which names the servers of this workspace protect is not known, since " + file +
                   " is missing, damaged or cannot be used; end these servers, remove " + file +
                   " and " + file + ".ended, and start them again"};
}

/// Whether there was anything to add.
bool add_rule(const protected_name& rule, rule_list& to) {
  const auto known = std::ranges::find(to, rule.name, &protected_name::name);
  if (known != to.end() && (known->mode == rule.mode || known->mode == protection::hidden))
    return false;
  protect(to, rule);
  return true;
}

rule_list in_force(const kept_rules& kept) {
  rule_list rules;
  for (const auto& [what, ended_day] : kept)
    if (ended_day == 0) (void)add_rule(what, rules);
  return rules;
}

bool is_hidden_by(const rule_list& rules, const std::string& name) {
  const auto known = std::ranges::find(rules, name, &protected_name::name);
  return known != rules.end() && known->mode == protection::hidden;
}

struct known_rules {
  kept_rules of_last; ///< of servers that ended before the first one of now began
  kept_rules of_now;
  bool have_sums = false; ///< and were kept; else there may be none
};
/// Only a server, which writes its own, can do without lost ones.
result<known_rules> read_known(int store, session by) {
  constexpr int tries_max = 3; // a server that begins gives them another name
  known_rules known;
  known.have_sums = sys::entry_status_at(store, kept_rules_name).has_value();
  for (int tries = 0; tries < tries_max; ++tries) {
    PADDOCK_TRY(auto of_last, read_rules(store, ended_rules_name, known.have_sums));
    PADDOCK_TRY(auto of_now, read_rules(store, rules_name, known.have_sums));
    const bool are_lost = known.have_sums && !of_last && !of_now && by != session::serve;
    known.of_last = std::move(of_last).value_or(kept_rules());
    known.of_now = std::move(of_now).value_or(kept_rules());
    if (!are_lost) return known;
  }
  return error{error_code::io, 0, "history rules"};
}

std::uint32_t today() {
  constexpr std::int64_t day_ns = std::int64_t{24} * 3600 * 1'000'000'000;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(sys::file_clock_ns() / day_ns, 1));
}

/// Rules of ended servers become past. Past ones go by age, as checkpoints do; the usual ones need
/// no keeping.
kept_rules with_past(const known_rules& known, std::uint64_t age_days_max) {
  const std::uint32_t day = today();
  const rule_list usual = usual_protected_names();
  kept_rules all;
  for (const kept_rule& each : known.of_now)
    if (each.ended_day == 0) all.push_back(each);
  const auto add_past = [&](const kept_rule& rule, std::uint32_t ended_day) {
    const bool is_usual = std::ranges::any_of(usual, [&](const protected_name& each) {
      return each.name == rule.what.name && each.mode == rule.what.mode;
    });
    if (is_usual || (day > ended_day && day - ended_day > age_days_max)) return;
    for (kept_rule& each : all)
      if (each.ended_day != 0 && each.what.name == rule.what.name &&
          each.what.mode == rule.what.mode) {
        each.ended_day = std::max(each.ended_day, ended_day);
        return;
      }
    all.push_back({rule.what, ended_day});
  };
  for (const kept_rule& each : known.of_last)
    add_past(each, each.ended_day == 0 ? day : each.ended_day);
  for (const kept_rule& each : known.of_now)
    if (each.ended_day != 0) add_past(each, each.ended_day);
  return all;
}

/// Writes the rules of a server that begins beside the others, and returns all in force then.
result<rule_list> put_rules(const rule_list& own, const known_rules& known, int store,
                            std::uint64_t age_days_max) {
  kept_rules all = with_past(known, age_days_max);
  rule_list now = in_force(all);
  for (const protected_name& each : own)
    if (add_rule(each, now)) all.push_back({each});
  const std::string text = rendered(all);
  const bool are_same = known.have_sums && known.of_now.empty() && !known.of_last.empty() &&
                        text == rendered(known.of_last);
  if (are_same) { // needs no room on a full disk
    PADDOCK_CHECK(sys::renameat2(store, ended_rules_name, store, rules_name, 0));
    return now;
  }
  if (!known.have_sums || known.of_now.empty() || text != rendered(known.of_now))
    PADDOCK_CHECK(write_store_file(store, rules_name, text + sum_line(text), true));
  (void)sys::unlinkat(store, ended_rules_name, 0); // what stays counts
  if (!known.have_sums)
    PADDOCK_CHECK(sys::openat(store, kept_rules_name, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
  return now;
}

} // namespace

result<ruled_workspace, detailed_error> under_kept_rules(std::shared_ptr<const root> workspace,
                                                         store_directory& store, session by,
                                                         std::uint64_t age_days_max) {
  PADDOCK_CHECK(store.lock());
  const int directory = store.descriptor();
  const auto known = read_known(directory, by);
  result<rule_list> kept = rule_list();
  if (known && by == session::serve)
    kept = put_rules(workspace->options().protected_names, *known, directory, age_days_max);
  store.unlock();
  if (!known) return without_rules(known.error(), directory);
  if (!kept)
    return detailed_error(kept.error(),
                          "the names that this server protects cannot be kept in its history");
  ruled_workspace made{std::move(workspace)};
  rule_list all = made.workspace->options().protected_names;
  bool is_any = false;
  const auto add = [&](protected_name rule) { is_any = add_rule(rule, all) || is_any; };
  std::ranges::for_each(*kept, add);
  for (const kept_rules* list : {&known->of_last, &known->of_now})
    for (const auto& [what, ended_day] : *list) {
      const bool is_last = ended_day == 0;
      if (by == session::serve) {
        if (list == &known->of_last && is_last && what.mode == protection::hidden &&
            !is_hidden_by(*kept, what.name))
          made.shown_anew.push_back(what);
      } else {
        add(is_last ? what : protected_name{.name = what.name, .asked = true});
      }
    }
  if (!is_any) return made;
  root_options how = made.workspace->options();
  how.resolver = made.workspace->resolver();
  how.protected_names = std::move(all);
  PADDOCK_TRY(auto stricter, root::open(made.workspace->path(), how));
  if (!stricter.status().same_object(made.workspace->status()))
    return detailed_error({error_code::root_gone, 0, "history store"});
  made.workspace = std::make_shared<const root>(std::move(stricter));
  return made;
}

result<std::vector<protected_name>, detailed_error>
rules_of(const root& workspace, std::string_view directory, past_rules past) {
  rule_list rules = usual_protected_names();
  const std::string path =
      std::string(directory) + '/' + name_of_store(workspace.path(), workspace.status());
  const auto store = sys::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const bool is_out_of_reach =
      !store && store.error().code == error_code::permission_denied &&
      !sys::status_at(AT_FDCWD, path.c_str()); // so no server of this user has one there
  if (is_out_of_reach || (!store && store.error().code == error_code::not_found)) return rules;
  if (!store) return store.error();
  PADDOCK_TRY(const auto status, sys::fstat(store->get()));
  if (status.uid != sys::effective_uid() || (status.mode & 077U) != 0)
    return detailed_error({error_code::denied_by_policy, 0, "history rules"});
  const auto known = read_known(store->get(), session::look);
  if (!known) return without_rules(known.error(), store->get());
  for (const kept_rules* list : {&known->of_last, &known->of_now})
    for (const auto& [what, ended_day] : *list)
      if (ended_day == 0 || past == past_rules::in_force) (void)add_rule(what, rules);
  return rules;
}

} // namespace paddock::history
