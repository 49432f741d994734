// SPDX-License-Identifier: MIT
#include "mcp/tools/process_socket.hpp"

#include "base/start_thread.hpp"
#include "file/directory_stream.hpp"
#include "sys/cancellation.hpp"
#include "sys/socket.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/excerpt.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <span>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::string_view socket_suffix = ".socket";
constexpr std::uint64_t socket_page_bytes = 64 * 1024;
constexpr std::size_t question_bytes_max = 4096;
constexpr std::size_t answer_bytes_max = std::size_t{16} * 1024 * 1024;
constexpr std::int64_t question_ms_max = 1'000; ///< who connects has something to ask
constexpr std::int64_t answer_ms_max = 60'000;  ///< stopping takes the grace
constexpr std::int64_t grace_ms_max = 30'000;
constexpr unsigned others = 077;
/// As many requests run on threads of their own; further ones on the thread that accepts them.
constexpr std::size_t answers_at_once = 8;

result<void> wait_for(int fd, short what, std::int64_t until_ms, int over = -1) {
  for (;;) {
    pollfd events[] = {{fd, what, 0}, {over, POLLIN, 0}};
    const std::int64_t left_ms = until_ms - sys::monotonic_ms();
    if (left_ms <= 0) return error{error_code::timed_out, 0, "process_socket"};
    PADDOCK_CHECK(sys::poll(events, left_ms));
    if (events[1].revents != 0) return error{error_code::cancelled, 0, "process_socket"};
    if (events[0].revents != 0) return {};
  }
}

/// Up to the end of the line, or of what is sent.
result<std::string> receive_line(int fd, std::size_t bytes_max, std::int64_t until_ms,
                                 int over = -1) {
  std::string all;
  char block[4096];
  while (all.find('\n') == std::string::npos) {
    PADDOCK_CHECK(wait_for(fd, POLLIN, until_ms, over));
    const auto size = sys::read(fd, block);
    if (!size && size.error().os_errno == EAGAIN) continue;
    if (!size) return size.error();
    if (*size == 0) break;
    all.append(block, *size);
    if (all.size() > bytes_max) return error{error_code::too_large, 0, "process_socket"};
  }
  return all;
}

result<void> send_all(int fd, std::string_view bytes, std::int64_t until_ms, int over = -1) {
  while (!bytes.empty()) {
    const auto sent = sys::send_nowait(fd, bytes);
    if (sent) {
      bytes.remove_prefix(*sent);
      continue;
    }
    if (sent.error().os_errno != EAGAIN) return sent.error();
    PADDOCK_CHECK(wait_for(fd, POLLOUT, until_ms, over));
  }
  return {};
}

/// Of this user, and closed to all others.
result<void> make_private_directory(const std::string& path) {
  const auto made = sys::mkdirat(AT_FDCWD, path.c_str(), 0700);
  if (!made && made.error().code != error_code::already_exists) return made.error();
  PADDOCK_TRY(const auto status, sys::status_at(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW));
  if (status.uid != sys::effective_uid() || (status.mode & others) != 0 ||
      status.kind != entry_kind::directory)
    return error{error_code::permission_denied, 0, "process_socket"};
  return {};
}

std::string socket_refusal(std::string_view why) {
  json_writer out;
  out.begin_object().member("error", why).end_object();
  return std::string(out.str());
}

void write_end(json_writer& out, const process_status& status) {
  out.member("state", status.running() ? "running" : "exited");
  if (status.running()) return;
  if (status.outcome->exit_code) out.key("exitCode").integer(*status.outcome->exit_code);
  if (status.outcome->signal) out.key("signal").integer(*status.outcome->signal);
}

std::string page_from(const process& from, std::uint64_t offset) {
  const auto page =
      from.read({.from = offset, .bytes_max = socket_page_bytes, .cursor = process_cursor::stays});
  if (!page) return socket_refusal("it has not written that much");
  json_writer out;
  out.begin_object().member("output", page->bytes);
  out.key("from").unsigned_integer(page->from);
  out.key("next").unsigned_integer(page->next);
  out.key("dropped").unsigned_integer(page->dropped);
  out.key("end").unsigned_integer(page->status.output_bytes);
  write_end(out, page->status);
  out.end_object();
  return std::string(out.str());
}

} // namespace

result<std::unique_ptr<process_socket>> process_socket::open(const std::string& directory,
                                                             std::string workspace,
                                                             const process_table& table) {
  // What others put states of programs in may not be there yet.
  (void)sys::mkdirat(AT_FDCWD, directory.substr(0, directory.rfind('/')).c_str(), 0700).has_value();
  PADDOCK_CHECK(make_private_directory(directory));
  std::string path =
      directory + "/" + std::to_string(sys::process_id()) + std::string(socket_suffix);
  // Of an earlier process of this number.
  (void)sys::unlinkat(AT_FDCWD, path.c_str(), 0).has_value();
  PADDOCK_TRY(file_descriptor listening, sys::listen_unix(path));
  std::unique_ptr<process_socket> made(
      new process_socket(std::move(path), std::move(workspace), table, std::move(listening)));
  if (!start_thread(made->thread_, [socket = made.get()] { socket->serve(); }))
    return error{error_code::too_many, 0, "thread"};
  return made;
}

process_socket::process_socket(std::string path, std::string workspace, const process_table& table,
                               file_descriptor listening)
    : path_(std::move(path)), workspace_(std::move(workspace)), table_(table),
      listening_(std::move(listening)), answers_(answers_at_once) {}

process_socket::~process_socket() {
  over_.request();
  if (thread_.joinable()) thread_.join();
  answers_.wait_until(std::chrono::steady_clock::time_point::max());
  (void)sys::unlinkat(AT_FDCWD, path_.c_str(), 0).has_value();
}

void process_socket::begin_answer(file_descriptor connection) {
  const auto held = std::make_shared<const file_descriptor>(std::move(connection));
  const auto give = [this, held](const task_runner::settling&) {
    sys::block_signals();
    answer_one(held->get());
  };
  if (!answers_.start(give)) give({});
}

void process_socket::serve() {
  sys::block_signals();
  const auto over = cancellation_watch::descriptor(over_);
  if (!over) return;
  while (!over_.requested()) {
    pollfd events[] = {{listening_.get(), POLLIN, 0}, {*over, POLLIN, 0}};
    if (!sys::poll(events, -1)) return;
    if (over_.requested() || events[0].revents == 0) continue;
    auto connection = sys::accept4(listening_.get());
    if (!connection) {
      // Without descriptors there is nothing to do but to wait for some.
      pollfd last[] = {{*over, POLLIN, 0}};
      if (connection.error().os_errno != EAGAIN) (void)sys::poll(last, question_ms_max).has_value();
      continue;
    }
    const auto user = sys::peer_user(connection->get());
    if (user && *user == sys::effective_uid()) begin_answer(std::move(*connection));
  }
}

void process_socket::answer_one(int connection) {
  const auto over = cancellation_watch::descriptor(over_);
  if (!over) return;
  const auto question =
      receive_line(connection, question_bytes_max, sys::monotonic_ms() + question_ms_max, *over);
  if (!question) return;
  (void)send_all(connection, answer_to(*question) + "\n", sys::monotonic_ms() + question_ms_max,
                 *over)
      .has_value();
}

std::string process_socket::answer_to(std::string_view question) {
  json_document document;
  const auto asked = document.parse(question);
  if (!asked) return socket_refusal("the question is no JSON");
  const json_view& q = *asked;
  if (q["list"].boolean()) return list();
  const auto read = q["read"].string(), stop = q["stop"].string();
  const auto found = table_.find(read.value_or(stop.value_or("")));
  if (!found) return socket_refusal("there is no such process any more");
  if (read) return page_from(*found, static_cast<std::uint64_t>(q["from"].integer().value_or(0)));
  const std::int64_t grace_ms = q["graceMs"].integer().value_or(0);
  const process_status status =
      found->stop(std::clamp<std::int64_t>(grace_ms, 0, grace_ms_max), &over_);
  json_writer out;
  out.begin_object();
  write_end(out, status);
  out.end_object();
  return std::string(out.str());
}

std::string process_socket::list() const {
  json_writer out;
  out.begin_object().key("server").integer(sys::process_id());
  out.member("workspace", workspace_).key("processes").begin_array();
  for (const process& each : table_.list()) {
    const std::string line = command_text(each);
    const process_status status = each.status();
    out.begin_object()
        .member("process", each.id())
        .member("command", detail::excerpt(encode_name(line), echo_characters_max));
    out.key("startedUnixMs").integer(each.started_unix_ms());
    out.key("bytes").unsigned_integer(status.output_bytes);
    write_end(out, status);
    out.end_object();
  }
  out.end_array().end_object();
  return std::string(out.str());
}

std::string command_text(const process& of) {
  const std::vector<std::string>& argv = of.argv();
  const bool is_script = argv.size() > 3 && argv[1] == "-c" && argv[0] == argv[3];
  std::string line = is_script ? argv[2] : argv[0];
  for (const std::string& word : std::span(argv).subspan(is_script ? 4 : 1))
    line.append(" ").append(word);
  return line;
}

result<std::string> ask_process_socket(const std::string& path, std::string_view question) {
  PADDOCK_TRY(const file_descriptor fd, sys::open_unix(path));
  const std::int64_t until_ms = sys::monotonic_ms() + answer_ms_max;
  PADDOCK_CHECK(send_all(fd.get(), std::string(question) + "\n", until_ms));
  PADDOCK_TRY(std::string answer, receive_line(fd.get(), answer_bytes_max, until_ms));
  if (answer.empty()) return error{error_code::not_found, 0, "process_socket"};
  return answer;
}

std::vector<std::string> process_sockets_in(const std::string& directory) {
  std::vector<std::string> all;
  const auto opened = sys::openat(AT_FDCWD, directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!opened) return all;
  std::vector<std::string> left_behind;
  const auto look = [&](std::string_view name, unsigned char) {
    if (!name.ends_with(socket_suffix)) return true;
    const std::string path = directory + "/" + std::string(name);
    name.remove_suffix(socket_suffix.size());
    // Both are asked: a server that starts has its number already, but does not listen yet.
    const auto answers = sys::connect_unix(path);
    const bool is_dead = !answers && answers.error().os_errno == ECONNREFUSED &&
                         !sys::status_at(AT_FDCWD, ("/proc/" + std::string(name)).c_str());
    (is_dead ? left_behind : all).push_back(path);
    return true;
  };
  (void)for_each_entry(opened->get(), look).has_value();
  for (const std::string& path : left_behind)
    (void)sys::unlinkat(AT_FDCWD, path.c_str(), 0).has_value();
  std::ranges::sort(all);
  return all;
}

} // namespace paddock::mcp
