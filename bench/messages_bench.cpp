// SPDX-License-Identifier: MIT

// The messages of every tool, without a process: a whole call in memory (the line in, the
// operation, the line out), and of the same two lines what is JSON alone: parsing them, and writing
// the answer again from what has been parsed. The floor copies the bytes of both lines.

#include "scratch.hpp"

#include <paddock/mcp/json.hpp>
#include <paddock/mcp/server.hpp>
#include <paddock/mcp/workspace_tools.hpp>

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <string_view>

namespace paddock::bench {
namespace {

struct message {
  const char* tool;
  const char* arguments;
};

/// Calls that can be made again and again. `exec` is a process, see command_bench.cpp; what removes
/// something is sent to a place where nothing is, so that its answer is a failure.
constexpr message messages[] = {
    {"appendTextFile", R"({"path":"log.txt","text":"one more line\\n"})"},
    {"attemptCompletion", "{}"},
    {"clearTodo", "{}"},
    {"createDirectory", R"({"path":"made/below"})"},
    {"deleteDirectory", R"({"path":"nothing/here"})"},
    {"deleteFile", R"({"path":"nothing.txt"})"},
    {"editTextFile", R"({"path":"edit.txt","oldText":"brown","newText":"brown"})"},
    {"getFileInfo", R"({"path":"small.txt"})"},
    {"healthCheck", "{}"},
    {"listDirectory", R"({"path":"many"})"},
    {"moveFile", R"({"source":"nothing.txt","destination":"nowhere.txt"})"},
    {"readImageFile", R"({"path":"image.png"})"},
    {"readPdfFile", R"({"path":"paper.pdf"})"},
    {"readTextFile", R"({"path":"small.txt"})"},
    {"todo", "{}"},
    {"writeTextFile", R"({"path":"out.txt","text":"the quick brown fox"})"},
};

class workspace {
public:
  workspace() {
    s_.file("small.txt", lines_of(4096));
    s_.file("edit.txt", lines_of(4096));
    s_.file("log.txt", "");
    s_.file("paper.pdf", "%PDF-1.7\n" + lines_of(4096));
    s_.file("image.png",
            std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) + std::string(4000, '\1'));
    for (int i = 0; i < 100; ++i)
      s_.file("many/file-" + std::to_string(i) + ".txt", "x");
    server_ = std::make_unique<mcp::server>(
        mcp::server_options{},
        *mcp::workspace_tools(std::make_shared<const root>(*root::open(s_.path())), {}));
  }
  std::string call(const std::string& line) {
    auto answers = server_->handle_line(line);
    return answers.size() == 1 ? std::move(answers[0]) : "";
  }

private:
  scratch s_;
  std::unique_ptr<mcp::server> server_;
};

std::string request(const message& m) {
  return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" +
         std::string(m.tool) + R"(","arguments":)" + m.arguments + "}}";
}

void whole_call(benchmark::State& state, const message& m) {
  workspace w;
  const std::string line = request(m);
  if (w.call(line).find("\"result\"") == std::string::npos) state.SkipWithError("no result");
  for (auto _ : state)
    benchmark::DoNotOptimize(w.call(line));
}

void write(mcp::json_writer& out, mcp::json_view value) {
  switch (value.kind()) {
  case mcp::json_kind::object:
    out.begin_object();
    value.for_each_member([&](std::string_view name, mcp::json_view member) {
      out.key(name);
      write(out, member);
    });
    out.end_object();
    return;
  case mcp::json_kind::array:
    out.begin_array();
    value.for_each_element([&](mcp::json_view element) { write(out, element); });
    out.end_array();
    return;
  case mcp::json_kind::string:
    out.string(*value.string());
    return;
  case mcp::json_kind::boolean:
    out.boolean(*value.boolean());
    return;
  case mcp::json_kind::integer:
    out.integer(*value.integer());
    return;
  case mcp::json_kind::number:
    out.number(*value.number());
    return;
  case mcp::json_kind::null:
  case mcp::json_kind::missing:
    out.null();
    return;
  }
}

/// The answer as it would be parsed by whoever asked, with room behind it.
struct padded_line {
  explicit padded_line(const std::string& text)
      : bytes(text + std::string(mcp::json_padding, '\0')), size(text.size()) {}
  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
  std::string bytes;
  std::size_t size;
};

void parse(benchmark::State& state, const message& m) {
  workspace w;
  const padded_line asked(request(m));
  const padded_line answer(w.call(request(m)));
  mcp::json_document document;
  for (auto _ : state)
    for (const auto* line : {&asked, &answer})
      if (!document.parse_padded(line->view())) state.SkipWithError("not parsed");
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(asked.size + answer.size));
}

void write_answer(benchmark::State& state, const message& m) {
  workspace w;
  const std::string answer = w.call(request(m));
  mcp::json_document document;
  const auto parsed = document.parse(answer);
  mcp::json_writer out;
  if (parsed) write(out, *parsed);
  if (!parsed || out.str().size() + 1 < answer.size()) state.SkipWithError("not the same");
  for (auto _ : state) {
    out.clear();
    write(out, *parsed);
    benchmark::DoNotOptimize(out.str().data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(answer.size()));
}

void copy_both(benchmark::State& state, const message& m) {
  workspace w;
  const std::string asked = request(m);
  const std::string answer = w.call(asked);
  std::string out;
  for (auto _ : state) {
    out.assign(asked).append(answer);
    benchmark::DoNotOptimize(out.data());
  }
}

/// One of each for every tool. Called before the benchmarks are run.
[[maybe_unused]] const bool registered = [] {
  for (const message& m : messages) {
    const std::string tool = m.tool;
    benchmark::RegisterBenchmark(("call/" + tool).c_str(), whole_call, m);
    benchmark::RegisterBenchmark(("json/parse/" + tool).c_str(), parse, m);
    benchmark::RegisterBenchmark(("json/write/" + tool).c_str(), write_answer, m);
    benchmark::RegisterBenchmark(("floor/copy_messages/" + tool).c_str(), copy_both, m);
  }
  return true;
}();

} // namespace
} // namespace paddock::bench
