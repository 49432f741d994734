// SPDX-License-Identifier: MIT

// An MCP server with every bad habit, for tests of the client: fault_server MODE [ANYTHING]...
// It answers the handshake and lists one tool, `t`, unless the mode says otherwise; the mode says
// what a call of the tool meets. Small and by hand, so that it shares nothing with the library.

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <string>

namespace {

std::string mode;

void put(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(1, text.data() + done, text.size() - done);
    if (n <= 0) ::_exit(3);
    done += static_cast<std::size_t>(n);
  }
}

[[noreturn]] void hang() {
  for (;;)
    ::pause();
}

/// The text behind `"key":` up to the next comma or brace, quotes left out.
std::string value(const std::string& line, const std::string& key) {
  const auto begin = line.find("\"" + key + "\":");
  if (begin == std::string::npos) return "";
  std::string text = line.substr(begin + key.size() + 3);
  text = text.substr(0, text.find_first_of(",}"));
  if (!text.empty() && text.front() == '"') text = text.substr(1, text.find('"', 1) - 1);
  return text;
}

void answer(const std::string& id, const std::string& result) {
  put(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}\n");
}
void say(const std::string& id, const std::string& text) {
  answer(id, R"({"content":[{"type":"text","text":")" + text + R"("}],"isError":false})");
}
void refuse(const std::string& id, const std::string& code, const std::string& data = "{}") {
  put(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" + code +
      R"(,"message":"no","data":)" + data + "}}\n");
}

std::string next_line() {
  std::string line;
  if (!std::getline(std::cin, line)) {
    if (mode == "ignores_term") hang();
    std::exit(0);
  }
  return line;
}

/// What the program was given, as text without quotes.
std::string surroundings() {
  std::string text = "fds:";
  int open = 0;
  for (int fd = 0; fd < 256; ++fd)
    if (::fcntl(fd, F_GETFD) >= 0) ++open;
  text += std::to_string(open);
  text += ::getsid(0) == ::getpid() && ::getpgrp() == ::getpid() ? " leader" : " follower";
  sigset_t blocked;
  ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
  for (int number = 1; number < 32; ++number)
    if (::sigismember(&blocked, number) == 1) text += " blocked:" + std::to_string(number);
  struct sigaction pipe{};
  ::sigaction(SIGPIPE, nullptr, &pipe);
  text += pipe.sa_handler == SIG_DFL ? " default" : " ignored";
  for (char** variable = ::environ; *variable != nullptr; ++variable)
    text += std::string(" ") + *variable;
  char where[4096];
  if (::getcwd(where, sizeof where) != nullptr) text += std::string(" cwd:") + where;
  return text;
}

/// A process that holds all pipes and leaves the group if it is to be a daemon.
void leave_child(bool daemon) {
  if (::fork() != 0) return;
  if (daemon) ::setsid();
  ::signal(SIGTERM, SIG_IGN);
  hang();
}

std::string held; ///< id of a call that was not answered

void wrong_ids(const std::string& id) {
  say(std::to_string(std::stol(id) + 1000), "not asked for");
  say("\"" + id + "\"", "of another type");
  say("null", "nobody's");
  put(R"({"jsonrpc":"2.0","result":{}})"
      "\n");
}

void ask_and_tell(const std::string& id) {
  put(R"({"jsonrpc":"2.0","id":"p","method":"ping"})"
      "\n");
  const std::string pong = next_line();
  put(R"({"jsonrpc":"2.0","id":7,"method":"roots/list"})"
      "\n");
  const std::string roots = next_line();
  const bool good = pong == R"({"jsonrpc":"2.0","id":"p","result":{}})" &&
                    roots.find("-32601") != std::string::npos &&
                    roots.find("\"id\":7") != std::string::npos;
  say(id, good ? "answered" : "not answered");
}

void progress(const std::string& line, int steps) {
  const std::string token = value(line, "progressToken");
  for (int i = 1; steps == 0 || i <= steps; ++i) {
    put(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + token +
        R"(,"progress":)" + std::to_string(i) + R"(,"total":3,"message":"step"}})" + "\n");
    ::poll(nullptr, 0, 10);
  }
}

using act = std::function<void(const std::string& id, const std::string& line)>;

const std::map<std::string, act>& calls() {
  static const std::map<std::string, act> table = {
      {"crashes", [](auto&, auto&) { ::raise(SIGKILL); }},
      {"exits_within_a_line",
       [](auto& id, auto&) {
         put(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"con)");
         ::_exit(7);
       }},
      {"floods_garbage",
       [](auto&, auto&) {
         for (;;)
           put("this is not JSON, and there is no end of it\n");
       }},
      {"floods_notifications",
       [](auto&, auto&) {
         for (;;)
           put(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})"
               "\n");
       }},
      {"floods_requests",
       [](auto&, auto&) {
         for (;;)
           put(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
               "\n");
       }},
      {"garbage_first",
       [](auto& id, auto&) {
         put("Server listening on stdio\n\n   \n{\"half\": \n[1,2]\n\"text\"\n{}\n\xff\xfe\n");
         say(id, "after garbage");
       }},
      {"never_answers", [](auto&, auto&) {}},
      {"answers_twice",
       [](auto& id, auto&) {
         say(id, "first");
         say(id, "second");
       }},
      {"answers_late",
       [](auto& id, auto&) {
         if (held.empty()) {
           held = id;
           return;
         }
         say(held, "late");
         say(id, "in time");
       }},
      {"wrong_ids", [](auto& id, auto&) { wrong_ids(id); }},
      {"closes_stdout",
       [](auto&, auto&) {
         ::close(1);
         hang();
       }},
      {"closes_stdin",
       [](auto& id, auto&) {
         ::close(0);
         say(id, "the last answer");
         hang();
       }},
      {"endless_line",
       [](auto&, auto&) {
         for (;;)
           put(std::string(65536, 'x'));
       }},
      {"huge_stderr",
       [](auto& id, auto&) {
         const std::string line = std::string(20'000, 'e') + "\n";
         for (int i = 0; i < 500; ++i)
           (void)!::write(2, line.data(), line.size());
         say(id, "told");
       }},
      {"sends_requests", [](auto& id, auto&) { ask_and_tell(id); }},
      {"progress_forever", [](auto&, auto& line) { progress(line, 0); }},
      {"progress",
       [](auto& id, auto& line) {
         progress(line, 3);
         say(id, "done");
       }},
      {"leaves_daemon",
       [](auto&, auto&) {
         leave_child(true);
         ::_exit(0);
       }},
      {"has_child",
       [](auto& id, auto&) {
         leave_child(false);
         say(id, "child");
       }},
      {"surroundings", [](auto& id, auto&) { say(id, surroundings()); }},
      {"result_is_text", [](auto& id, auto&) { answer(id, R"("text")"); }},
      {"needs_input", [](auto& id, auto&) { answer(id, R"({"resultType":"input_required"})"); }},
      {"unknown_kind", [](auto& id, auto&) { answer(id, R"({"resultType":"riddle"})"); }},
      {"refuses", [](auto& id, auto&) { refuse(id, "-32602"); }},
      {"stops_reading", [](auto&, auto&) { hang(); }},
      {"changes_tools",
       [](auto& id, auto&) {
         put(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"
             "\n");
         say(id, "changed");
       }},
      {"cancelled",
       [](auto&, auto&) {
         const std::string line = next_line();
         const std::string next = next_line();
         say(value(next, "id"), value(line, "method") + " " + value(line, "requestId"));
       }},
  };
  return table;
}

bool is_modern() {
  return mode == "modern" || mode == "needs_input" || mode == "unknown_kind" ||
         mode == "exits_on_initialize";
}

void discover(const std::string& id) {
  if (mode == "exits_on_discover") ::_exit(1);
  if (mode == "silent_on_discover") return;
  if (mode == "other_version") return refuse(id, "-32022", R"({"supported":["2099-01-01"]})");
  if (!is_modern()) return refuse(id, "-32601");
  answer(id, R"({"resultType":"complete","supportedVersions":["2026-07-28"],)"
             R"("capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private",)"
             R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fault","version":"1"}}})");
}

void initialize(const std::string& id) {
  if (mode == "exits_on_initialize" || mode == "other_version") ::_exit(1);
  std::string revision = "2024-11-05";
  if (mode == "unknown_revision") revision = "1999-12-31";
  if (mode.starts_with("revision:")) revision = mode.substr(9);
  answer(id, R"({"protocolVersion":")" + revision +
                 R"(","capabilities":{"tools":{}},"serverInfo":{"name":"fault","version":"1"}})");
}

void list(const std::string& id, const std::string& line) {
  static int page = 0;
  const std::string tool = R"({"name":"t","description":"d","inputSchema":{"type":"object"}})";
  if (mode == "no_tools") return refuse(id, "-32601");
  if (mode == "tools_are_no_list") return answer(id, R"({"tools":{}})");
  if (mode == "odd_tools")
    return answer(id, R"({"tools":[1,{"name":"x"},{"inputSchema":{}},)" + tool + "," + tool + "]}");
  if (mode == "pages" || mode == "endless_pages") {
    const bool first = line.find("\"cursor\"") == std::string::npos;
    const bool last = !first && mode == "pages";
    return answer(id, R"({"tools":[{"name":"t)" + std::to_string(page++) +
                          R"(","inputSchema":{"type":"object"}}])" +
                          (last ? "" : R"(,"nextCursor":"")") + "}");
  }
  answer(id, R"({"tools":[)" + tool + "]}");
}

} // namespace

int main(int argc, char** argv) {
  mode = argc > 1 ? argv[1] : "";
  if (mode == "ignores_term" || mode == "has_child") ::signal(SIGTERM, SIG_IGN);
  if (mode == "exits_at_once") return 5;
  const auto call = calls().find(mode);
  for (;;) {
    const std::string line = next_line();
    const std::string id = value(line, "id");
    const std::string method = value(line, "method");
    if (method == "server/discover")
      discover(id);
    else if (method == "initialize")
      initialize(id);
    else if (method == "tools/list")
      list(id, line);
    else if (method == "tools/call" && call != calls().end())
      call->second(id, line);
    else if (method == "tools/call")
      say(id, "pong");
  }
}
