// SPDX-License-Identifier: MIT

// Changing texts by several edits, finding what an edit that fails may have meant, and saying what
// changed. Beside it the bare system calls that give the same file.
//
// Dead ends: a new text for each step costs sixteen times as much as changing the one that is there
// (3.6 ms for ten edits of a MiB), for the memory is given back in between and its pages come anew.
// A list of lines that grows costs more than to count them first.

#include "scratch.hpp"

#include <paddock/file/file.hpp>
#include <paddock/text/edit_steps.hpp>
#include <paddock/text/near_miss.hpp>
#include <paddock/text/unified_diff.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::bench {
namespace {

constexpr std::size_t mib = std::size_t{1024} * 1024;

/// Lines as programs have them: indented, of words that come again, some of them empty.
std::string code_of(std::size_t bytes) {
  constexpr std::string_view words[] = {"int",  "value", "=",   "return", "if",    "(",    ")",
                                        "{",    "}",     ";",   "for",    "const", "auto", "text",
                                        "size", "begin", "end", "+",      "data",  "->"};
  std::mt19937_64 random(1);
  std::string text;
  while (text.size() < bytes) {
    text.append(2 * (random() % 5), ' ');
    for (std::size_t n = random() % 8; n > 0; --n)
      text.append(words[random() % std::size(words)]).append(" ");
    if (random() % 3 == 0) text += "name_" + std::to_string(random() % 100'000);
    text += '\n';
  }
  return text;
}

/// The same few lines again and again, as generated programs have them.
std::string repetitive_code_of(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i)
    text +=
        "  {\n    call(argument);\n    return 0;\n  }\n  // case " + std::to_string(i % 50) + "\n";
  return text;
}

// --- several edits -------------------------------------------------------------------------------

void ten_edits(benchmark::State& state, std::string text) {
  const scratch s;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 20; ++i)
    names.push_back((i % 2 == 0 ? "NEEDLE_" : "needle_") + std::to_string(i / 2));
  for (std::size_t i = 0; i < 10; ++i)
    text.insert(text.size() / 11 * (i + 1), names[2 * i]);
  s.file("f", text);
  const root r = *root::open(s.path());
  std::vector<edit_step> steps, back;
  for (std::size_t i = 0; i < 10; ++i) {
    steps.push_back({.old_text = names[2 * i], .new_text = names[2 * i + 1]});
    back.push_back({.old_text = names[2 * i + 1], .new_text = names[2 * i]});
  }
  for (auto _ : state) {
    const auto content = read_file(r, "f");
    const auto edited = content ? apply_edits(content->bytes, steps) : edited_text{};
    if (!edited || !write_file(r, "f", edited->text)) state.SkipWithError("cannot edit");
    steps.swap(back);
  }
}
BENCHMARK_CAPTURE(ten_edits, prose, lines_of(mib))->Name("change/ten_edits_1MiB");
BENCHMARK_CAPTURE(ten_edits, code, code_of(mib))->Name("change/ten_edits_of_code_1MiB");

/// The same without the edits: what reading and writing cost, with all that is looked at.
void read_and_write(benchmark::State& state) {
  const scratch s;
  s.file("f", lines_of(mib));
  const root r = *root::open(s.path());
  for (auto _ : state) {
    const auto content = read_file(r, "f");
    if (!content || !write_file(r, "f", content->bytes)) state.SkipWithError("cannot write");
  }
}
BENCHMARK(read_and_write)->Name("change/no_edit_1MiB");

// --- an edit that fails --------------------------------------------------------------------------

struct failing {
  std::string content, old_text;
};

/// So many lines of `content` from its middle on, in each third of which a letter is another one.
std::string wrong_lines(const std::string& content, std::size_t count) {
  std::size_t at = content.find('\n', content.size() / 2) + 1;
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = content.find('\n', at) + 1;
    std::string line = content.substr(at, end - at);
    if (i % 3 == 0) line.insert(line.size() / 2, "#");
    out += line;
    at = end;
  }
  return out;
}

failing code_60_lines() {
  std::string content = code_of(mib);
  std::string old_text = wrong_lines(content, 60);
  return {std::move(content), std::move(old_text)};
}
failing code_one_line() {
  std::string content = code_of(mib);
  std::string old_text = wrong_lines(content, 1);
  return {std::move(content), std::move(old_text)};
}
failing code_indented() {
  failing out = code_60_lines();
  out.old_text = "\t" + out.content.substr(out.content.size() / 2, 2000);
  return out;
}
failing repetitive_60_lines() {
  std::string content = repetitive_code_of(mib);
  std::string old_text = wrong_lines(content, 60);
  return {std::move(content), std::move(old_text)};
}
failing repetitive_one_line() {
  return {repetitive_code_of(mib), "    call(argument, 1);\n"};
}
failing one_long_line() {
  std::string content = code_of(mib);
  for (char& c : content)
    if (c == '\n') c = ';';
  std::string old_text = content.substr(mib / 2, 200);
  old_text[100] = '#';
  return {std::move(content), std::move(old_text)};
}
failing one_letter() {
  return {std::string(mib, 'a'), std::string(1000, 'a') + "b"};
}
failing empty_lines() {
  return {std::string(mib, '\n'), "\n\nint main() {\n\n}\n"};
}

void failed_edit(benchmark::State& state, failing (*make)()) {
  const failing edit = make();
  const edit_step step{.old_text = edit.old_text, .new_text = "something else that is there"};
  for (auto _ : state) {
    if (apply_edits(edit.content, {&step, 1})) state.SkipWithError("it fits");
    benchmark::DoNotOptimize(nearest(edit.content, step.old_text, step.new_text));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(edit.content.size()));
}
BENCHMARK_CAPTURE(failed_edit, code60, code_60_lines)->Name("change/failed/code_60_lines");
BENCHMARK_CAPTURE(failed_edit, code1, code_one_line)->Name("change/failed/code_one_line");
BENCHMARK_CAPTURE(failed_edit, indented, code_indented)->Name("change/failed/code_indented");
BENCHMARK_CAPTURE(failed_edit, same60, repetitive_60_lines)
    ->Name("change/failed/repetitive_60_lines");
BENCHMARK_CAPTURE(failed_edit, same1, repetitive_one_line)
    ->Name("change/failed/repetitive_one_line");
BENCHMARK_CAPTURE(failed_edit, long_line, one_long_line)->Name("change/failed/one_long_line");
BENCHMARK_CAPTURE(failed_edit, letter, one_letter)->Name("change/failed/one_letter");
BENCHMARK_CAPTURE(failed_edit, empty, empty_lines)->Name("change/failed/empty_lines");

// --- what changed --------------------------------------------------------------------------------

void diff(benchmark::State& state) {
  std::string before, after;
  for (std::size_t i = 0; i < 100'000; ++i) {
    const std::string line = "line " + std::to_string(i * 7919 % 100'000) + " of a text\n";
    before += line;
    after += i % 1000 == 500 ? "another line\n" : line;
  }
  for (auto _ : state) {
    const auto found = unified_diff(before, after);
    if (found.hunks != 100) state.SkipWithError("another number of hunks");
  }
}
BENCHMARK(diff)->Name("change/diff_100000_lines");

void diff_random(benchmark::State& state) {
  std::mt19937_64 random(1);
  const auto text = [&] {
    std::string out;
    for (std::size_t i = 0; i < 20'000; ++i)
      out += std::to_string(random() % 5000) + "\n";
    return out;
  };
  const std::string before = text(), after = text();
  for (auto _ : state)
    benchmark::DoNotOptimize(unified_diff(before, after).hunks);
}
BENCHMARK(diff_random)->Name("change/diff_20000_random_lines");

} // namespace
} // namespace paddock::bench
