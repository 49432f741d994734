// SPDX-License-Identifier: MIT
#include "change/change_record.hpp"

#include "change/bytes.hpp"
#include "file/leftover.hpp"

#include <paddock/base/limits.hpp>

#include <utility>

namespace paddock {
namespace {

constexpr std::string_view magic = "paddock changes ";
constexpr std::string_view version = "4";
constexpr std::uint8_t kinds = 4; ///< of entries, without none

enum class tag : std::uint8_t { plan = 'p', staged = 's', made = 'm', back = 'b' };

std::string section(tag what, std::string_view body) {
  std::string out;
  put_u8(out, static_cast<std::uint8_t>(what));
  put_u64(out, body.size());
  put_u64(out, record_sum(body));
  return out.append(body);
}

struct found_section {
  tag what;
  std::string_view body;
};

/// Taken off the bytes; nothing where there is no whole one.
std::optional<found_section> take_section(std::string_view& bytes) {
  byte_reader head(bytes);
  const auto what = static_cast<tag>(head.u8());
  const std::uint64_t size = head.u64();
  const std::uint64_t sum = head.u64();
  if (!head.is_good() || size > head.left()) return std::nullopt;
  const std::string_view body = bytes.substr(bytes.size() - head.left(), size);
  if (record_sum(body) != sum) return std::nullopt;
  bytes.remove_prefix(bytes.size() - head.left() + size);
  return found_section{what, body};
}

void put_stamp(std::string& to, const entry_stamp& stamp) {
  put_u8(to, stamp.kind ? static_cast<std::uint8_t>(1 + static_cast<unsigned>(*stamp.kind)) : 0);
  if (!stamp.exists()) return;
  put_number(to, stamp.mode);
  put_number(to, stamp.size);
  put_u64(to, static_cast<std::uint64_t>(stamp.modified_ns));
  put_number(to, stamp.inode);
  put_number(to, stamp.device);
}

entry_stamp read_stamp(byte_reader& in) {
  entry_stamp stamp;
  const std::uint8_t kind = in.u8();
  if (kind > kinds) in.fail();
  if (kind == 0 || !in.is_good()) return stamp;
  stamp.kind = static_cast<entry_kind>(kind - 1);
  stamp.mode = static_cast<std::uint16_t>(in.number());
  stamp.size = in.number();
  stamp.modified_ns = static_cast<std::int64_t>(in.u64());
  stamp.inode = in.number();
  stamp.device = in.number();
  return stamp;
}

/// Whether each component is a name.
bool is_plain_path(std::string_view path) {
  if (path.size() > path_bytes_max) return false;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (!component::from(path.substr(0, slash))) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
  return false;
}

std::string read_path(byte_reader& in) {
  std::string path(in.text());
  if (!is_plain_path(path)) in.fail();
  return path;
}

bool read_flag(byte_reader& in) {
  const std::uint8_t value = in.u8();
  if (value > 1) in.fail();
  return value == 1;
}

void put_directories(std::string& to, std::span<const known_directory> all) {
  put_number(to, all.size());
  for (const known_directory& each : all) {
    put_text(to, each.path);
    put_number(to, each.device);
    put_number(to, each.inode);
  }
}

std::vector<known_directory> read_directories(byte_reader& in) {
  std::vector<known_directory> all;
  for (std::uint64_t left = in.number(); left > 0 && in.is_good(); --left) {
    known_directory& each = all.emplace_back();
    each.path = in.text();
    if (!each.path.empty() && !is_plain_path(each.path)) in.fail();
    each.device = in.number();
    each.inode = in.number();
  }
  return all;
}

void put_step(std::string& to, const change_step& step) {
  put_text(to, step.path);
  put_stamp(to, step.present);
  put_stamp(to, step.wanted);
  put_u8(to, step.keeps_content ? 1 : 0);
  put_u64(to, step.content.high);
  put_u64(to, step.content.low);
  put_u8(to, step.has_wanted_attributes ? 1 : 0);
  put_text(to, step.taken_from);
  put_u8(to, !step.is_executable ? 0 : *step.is_executable ? 2 : 1);
  put_u8(to, step.is_above_rules ? 1 : 0);
  put_number(to, step.of);
}

change_step read_step(byte_reader& in) {
  change_step step;
  step.path = read_path(in);
  step.present = read_stamp(in);
  step.wanted = read_stamp(in);
  step.keeps_content = read_flag(in);
  step.content.high = in.u64();
  step.content.low = in.u64();
  step.has_wanted_attributes = read_flag(in);
  step.taken_from = in.text();
  if (!step.taken_from.empty() && !is_plain_path(step.taken_from)) in.fail();
  const std::uint8_t execution = in.u8();
  if (execution > 2) in.fail();
  if (execution > 0) step.is_executable = execution == 2;
  step.is_above_rules = read_flag(in);
  step.of = in.number();
  return step;
}

std::optional<change_plan> parse_plan(std::string_view body) {
  byte_reader in(body);
  change_plan plan;
  for (bool* flag : {&plan.how.is_beside, &plan.how.keeps_directories, &plan.how.asks_rules,
                     &plan.how.is_durable})
    *flag = read_flag(in);
  plan.staging = in.text();
  if (!is_temporary_name(plan.staging)) in.fail();
  plan.directories = read_directories(in);
  for (std::uint64_t left = in.number(); left > 0 && in.is_good(); --left)
    plan.steps.push_back(read_step(in));
  for (std::uint64_t left = in.number(); left > 0 && in.is_good(); --left) {
    change_move& each = plan.moves.emplace_back();
    each.now = read_path(in);
    each.home = read_path(in);
    each.object = read_stamp(in);
    each.of = in.number();
  }
  if (!in.is_good() || !in.at_end()) return std::nullopt;
  return plan;
}

/// Whether it says what it may say.
bool take_in(const found_section& found, change_record& record) {
  byte_reader in(found.body);
  switch (found.what) {
  case tag::staged:
    record.staged.clear();
    for (std::uint64_t left = in.number(); left > 0 && in.is_good(); --left)
      record.staged.push_back(read_stamp(in));
    record.is_staged =
        in.is_good() && in.at_end() && record.staged.size() == record.plan.steps.size();
    return record.is_staged;
  case tag::made:
    record.made = read_directories(in);
    return in.is_good() && in.at_end();
  case tag::back:
    record.goes_back = true;
    return true;
  case tag::plan:
    break;
  }
  return false;
}

} // namespace

std::uint64_t record_sum(std::string_view bytes) noexcept {
  std::uint64_t sum = 0xCBF29CE484222325U;
  for (const char c : bytes)
    sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return sum;
}

std::string render(const change_plan& plan) {
  std::string body;
  for (const bool flag :
       {plan.how.is_beside, plan.how.keeps_directories, plan.how.asks_rules, plan.how.is_durable})
    put_u8(body, flag ? 1 : 0);
  put_text(body, plan.staging);
  put_directories(body, plan.directories);
  put_number(body, plan.steps.size());
  for (const change_step& each : plan.steps)
    put_step(body, each);
  put_number(body, plan.moves.size());
  for (const change_move& each : plan.moves) {
    put_text(body, each.now);
    put_text(body, each.home);
    put_stamp(body, each.object);
    put_number(body, each.of);
  }
  return std::string(magic).append(version).append("\n").append(section(tag::plan, body));
}

std::string render_staged(std::span<const entry_stamp> staged) {
  std::string body;
  put_number(body, staged.size());
  for (const entry_stamp& each : staged)
    put_stamp(body, each);
  return section(tag::staged, body);
}

std::string render_made(std::span<const known_directory> made) {
  std::string body;
  put_directories(body, made);
  return section(tag::made, body);
}

std::string render_way_back() {
  return section(tag::back, {});
}

result<std::optional<change_record>> parse_change_record(std::string_view bytes) {
  std::optional<change_record> none;
  const auto end = bytes.find('\n');
  if (!bytes.starts_with(magic) || end == bytes.npos) return none;
  const std::string_view told = bytes.substr(magic.size(), end - magic.size());
  if (told != version) return error{error_code::unsupported, 0, "change record"};
  const std::size_t all = bytes.size();
  bytes.remove_prefix(end + 1);
  const auto first = take_section(bytes);
  if (!first || first->what != tag::plan) return none;
  auto plan = parse_plan(first->body);
  if (!plan) return none;
  change_record record{.plan = *std::move(plan)};
  record.whole_bytes = all - bytes.size();
  for (auto found = take_section(bytes); found && take_in(*found, record);
       found = take_section(bytes))
    record.whole_bytes = all - bytes.size();
  return std::optional(std::move(record));
}

} // namespace paddock
