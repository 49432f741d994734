// SPDX-License-Identifier: MIT

// Drives file system servers of MCP through the same pipes with the same calls, and says how fast
// each is: calls per second, latency, processor time per call, start-up, memory. One JSON object on
// standard output.
//
//   paddock-peers paddock=COMMAND filesystem=COMMAND …   a server's dialect and its command line,
//                                                        in which {} stands for the workspace
//
// Dialects: `paddock` (readTextFile, …), `coding` (the same, but edits by editFile), `filesystem`
// (read_text_file, …, as the reference server for file systems has them), `echo` (a floor: sends
// lines as long as paddock's answers, and gets them back).

#include "../line_process.hpp"
#include "../scratch.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::bench {
namespace {

using clock = std::chrono::steady_clock;

double us_since(clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(clock::now() - begin).count();
}

/// One kind of call: what it is called in each dialect, and how much of it to do.
struct scenario {
  const char* name;
  const char* paddock; ///< method, or tool and arguments
  const char* filesystem;
  int calls;
  int in_flight;
  const char* coding = nullptr; ///< where it is another than that of paddock

  [[nodiscard]] const char* in(std::string_view dialect) const {
    if (dialect == "coding" && coding != nullptr) return coding;
    return dialect == "filesystem" ? filesystem : paddock;
  }
};

/// What is at two places changes places: each call finds something, and has something to write.
constexpr std::string_view exchange =
    R"("edits":[{"oldText":"FIRST","newText":"THIRD"},{"oldText":"SECOND","newText":"FIRST"},)"
    R"({"oldText":"THIRD","newText":"SECOND"}])";

// @ stands for the workspace, % for a text of 4 KB, & for the edits of `exchange`.
constexpr scenario scenarios[] = {
    {"ping", "ping", "ping", 4000, 1},
    {"tools_list", "tools/list", "tools/list", 1000, 1},
    {"read_4k", R"(readTextFile {"path":"small.txt"})", R"(read_text_file {"path":"@/small.txt"})",
     4000, 1},
    {"read_4k_32_in_flight", R"(readTextFile {"path":"small.txt"})",
     R"(read_text_file {"path":"@/small.txt"})", 12'000, 32},
    {"info", R"(getFileInfo {"path":"small.txt"})", R"(get_file_info {"path":"@/small.txt"})", 4000,
     1},
    {"list_1000_with_sizes", R"(listDirectory {"path":"many"})",
     R"(list_directory_with_sizes {"path":"@/many"})", 300, 1},
    {"write_4k", R"(writeTextFile {"path":"out.txt","text":"%"})",
     R"(write_file {"path":"@/out.txt","content":"%"})", 1000, 1},
    {"edit_1m", R"(editTextFile {"path":"large.txt","oldText":"NEEDLE","newText":"NEEDLE"})",
     R"(edit_file {"path":"@/large.txt","edits":[{"oldText":"NEEDLE","newText":"NEEDLE"}]})", 40,
     1},
    {"three_edits_1m", R"(editTextFile {"path":"large.txt","oldText":"NEEDLE","newText":"NEEDLE"})",
     R"(edit_file {"path":"@/large.txt",&})", 40, 1, R"(editFile {"path":"large.txt",&})"},
};

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

std::string request(const std::string& call, const std::string& workspace, int id) {
  std::string line = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")";
  const auto space = call.find(' ');
  if (space == std::string::npos) {
    line += call + R"(","params":{}})";
  } else {
    line += R"(tools/call","params":{"name":")" + call.substr(0, space) + R"(","arguments":)" +
            call.substr(space + 1) + "}}";
  }
  replace_all(line, "@", workspace);
  replace_all(line, "%", std::string(4000, 'x'));
  replace_all(line, "&", exchange);
  return line + '\n';
}

/// The id of a response: near its beginning or its end, depending on who wrote it. -1 for
/// notifications.
int id_of(std::string_view line) {
  constexpr std::string_view key = "\"id\":";
  auto at = line.substr(0, 40).find(key);
  if (at == std::string_view::npos) at = line.rfind(key);
  if (at == std::string_view::npos) return -1;
  int id = -1;
  std::from_chars(line.data() + at + key.size(), line.data() + line.size(), id);
  return id;
}

class server {
public:
  server(std::string dialect, const std::vector<std::string>& argv, std::string workspace)
      : dialect_(std::move(dialect)), workspace_(std::move(workspace)), process_(argv) {}

  void handshake() {
    if (dialect_ == "echo") return;
    process_.send(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"peers","version":"0"}}})"
        "\n");
    answer(0);
    process_.send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
                  "\n");
  }

  /// Waits for the response to `id`, or to any request when it is negative.
  std::string_view answer(int id) {
    for (;;) {
      const auto line = process_.receive();
      if (line.empty()) {
        std::fprintf(stderr, "peers: %s ended early\n", dialect_.c_str());
        std::exit(1);
      }
      if (dialect_ == "echo" || (id < 0 ? id_of(line) >= 0 : id_of(line) == id)) return line;
    }
  }

  /// The line for call number `id`; an echo gets as many bytes as paddock answered.
  [[nodiscard]] std::string line_for(const scenario& s, int id,
                                     const std::map<std::string, std::size_t>& bytes) const {
    if (dialect_ != "echo") return request(s.in(dialect_), workspace_, id);
    const auto known = bytes.find(s.name);
    std::string line = R"({"id":)" + std::to_string(id) + ",";
    line.resize(known == bytes.end() ? 64 : std::max(known->second, std::size_t{32}) - 1, 'x');
    return line + '\n';
  }

  line_process& process() { return process_; }
  [[nodiscard]] const std::string& dialect() const { return dialect_; }

private:
  std::string dialect_;
  std::string workspace_;
  line_process process_;
};

struct measured {
  double calls_per_s = 0;
  double p50_us = 0;
  double p99_us = 0;
  double cpu_us = 0;
  std::size_t answer_bytes = 0;
};

measured run(server& s, const scenario& what, std::map<std::string, std::size_t>& bytes) {
  const int warm_up = what.calls / 10 + 1;
  std::vector<clock::time_point> sent(static_cast<std::size_t>(what.calls + warm_up) + 1);
  std::vector<double> latency_us;
  latency_us.reserve(sent.size());
  measured m;
  int next = 1;
  int answered = 0;
  clock::time_point begin;
  double cpu_before = 0;
  const auto send_one = [&] {
    const auto line = s.line_for(what, next, bytes);
    sent[static_cast<std::size_t>(next)] = clock::now();
    s.process().send(line);
    ++next;
  };
  const int total = what.calls + warm_up;
  while (answered < total) {
    if (answered == warm_up) {
      begin = clock::now();
      cpu_before = s.process().cpu_us();
      latency_us.clear();
    }
    while (next <= total && next - 1 - answered < what.in_flight)
      send_one();
    const auto line = s.answer(-1);
    latency_us.push_back(us_since(sent.at(static_cast<std::size_t>(id_of(line)))));
    m.answer_bytes = line.size();
    if (s.dialect() != "echo" && (line.find("\"isError\":true") != std::string_view::npos ||
                                  line.find("\"error\":{") != std::string_view::npos)) {
      std::fprintf(stderr, "peers: %s cannot do %s: %.300s\n", s.dialect().c_str(), what.name,
                   std::string(line).c_str());
      std::exit(1);
    }
    ++answered;
  }
  const double us = us_since(begin);
  std::ranges::sort(latency_us);
  m.calls_per_s = what.calls * 1e6 / us;
  m.p50_us = latency_us[latency_us.size() / 2];
  m.p99_us = latency_us[latency_us.size() * 99 / 100];
  m.cpu_us = (s.process().cpu_us() - cpu_before) / what.calls;
  return m;
}

std::vector<std::string> words(std::string command, const std::string& workspace) {
  replace_all(command, "{}", workspace);
  std::istringstream in(command);
  std::vector<std::string> argv;
  for (std::string word; in >> word;)
    argv.push_back(word);
  return argv;
}

/// Start to the answer to tools/list; the median of several.
double cold_start_us(const std::string& dialect, const std::vector<std::string>& argv,
                     const std::string& workspace) {
  std::vector<double> all;
  for (int i = 0; i < 9; ++i) {
    const auto begin = clock::now();
    server s(dialect, argv, workspace);
    s.handshake();
    s.process().send(request("tools/list", workspace, 1));
    s.answer(1);
    all.push_back(us_since(begin));
  }
  std::ranges::sort(all);
  return all[all.size() / 2];
}

void measure(const std::string& dialect, const std::string& command, const scratch& workspace,
             std::map<std::string, std::size_t>& bytes) {
  const auto argv = words(command, workspace.path());
  std::printf("{\"dialect\":\"%s\",\"cold_start_us\":%.0f", dialect.c_str(),
              cold_start_us(dialect, argv, workspace.path()));
  server s(dialect, argv, workspace.path());
  s.handshake();
  s.process().send(request("tools/list", workspace.path(), 1));
  s.answer(1);
  std::printf(",\"rss_idle_kib\":%.0f", s.process().memory_kib("VmRSS"));
  for (const auto& what : scenarios) {
    const auto m = run(s, what, bytes);
    if (dialect == "paddock") bytes[what.name] = m.answer_bytes;
    std::printf(",\n  \"%s\":{\"calls_per_s\":%.0f,\"p50_us\":%.1f,\"p99_us\":%.1f,"
                "\"cpu_us\":%.1f,\"answer_bytes\":%zu}",
                what.name, m.calls_per_s, m.p50_us, m.p99_us, m.cpu_us, m.answer_bytes);
  }
  std::printf(",\n  \"rss_after_kib\":%.0f,\"rss_peak_kib\":%.0f}", s.process().memory_kib("VmRSS"),
              s.process().memory_kib("VmHWM"));
}

void fill(const scratch& workspace) {
  workspace.file("small.txt", lines_of(4096));
  std::string large = lines_of(1 << 20);
  large.replace(large.size() / 2, 6, "NEEDLE");
  large.replace(large.size() / 3, 5, "FIRST");
  large.replace(large.size() / 3 * 2, 6, "SECOND");
  workspace.file("large.txt", large);
  for (int i = 0; i < 1000; ++i)
    workspace.file("many/file-" + std::to_string(i) + ".txt", "x");
}

} // namespace
} // namespace paddock::bench

int main(int argc, char** argv) {
  using namespace paddock::bench;
  ::signal(SIGPIPE, SIG_IGN);
  const scratch workspace;
  fill(workspace);
  std::map<std::string, std::size_t> bytes;
  std::printf("[");
  for (int i = 1; i < argc; ++i) {
    const std::string peer = argv[i];
    const auto equals = peer.find('=');
    const std::string dialect = peer.substr(0, equals);
    if (equals == std::string::npos || (dialect != "paddock" && dialect != "coding" &&
                                        dialect != "filesystem" && dialect != "echo")) {
      std::fprintf(stderr, "usage: paddock-peers DIALECT=COMMAND…, DIALECT being paddock, "
                           "coding, filesystem or echo\n");
      return 2;
    }
    if (i > 1) std::printf(",\n");
    measure(dialect, peer.substr(equals + 1), workspace, bytes);
    std::fflush(stdout);
  }
  std::printf("]\n");
  return 0;
}
