// SPDX-License-Identifier: MIT

// Name and description of frontmatter blocks in memory: the scanner, libyaml's events behind the
// same interface, yaml-cpp where it is installed. The floor finds the closing fence and validates
// UTF-8, which nobody can leave out. The blocks are made here, like real ones in size and kinds;
// PADDOCK_SKILL_CORPUS names a directory of real SKILL.md files to take instead. All parsers must
// give the same texts before anything is timed.

#include <paddock/frontmatter/frontmatter_yaml.hpp>

#include <benchmark/benchmark.h>

#if PADDOCK_BENCH_YAML_CPP
#include <yaml-cpp/yaml.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::bench {
namespace {

namespace fm = paddock::frontmatter;

std::string words(std::mt19937_64& random, std::size_t bytes) {
  constexpr std::string_view vocabulary[] = {
      "use",   "this", "skill",  "when", "the",    "user",   "asks",   "for",  "a",     "review",
      "of",    "code", "tables", "and",  "charts", "in",     "PDF",    "or",   "files", "with",
      "large", "data", "(see",   "it)",  "—",      "schema", "design", "test", "plans", "API"};
  std::string text;
  while (text.size() < bytes)
    text.append(text.empty() ? "" : " ").append(vocabulary[random() % std::size(vocabulary)]);
  return text;
}

/// A file of a kind drawn with the frequencies of public skills; its block has 457 bytes on
/// average.
std::string make_file(std::mt19937_64& random) {
  const std::string text = words(random, 120 + random() % 300);
  std::string file = "---\nname: " + words(random, 4) + "-skill-" + std::to_string(random() % 1000);
  const std::size_t kind = random() % 100;
  if (kind < 52)
    file += "\ndescription: " + text;
  else if (kind < 76)
    file += "\ndescription: \"" + text + " \\\"quoted\\\" \\u2014 end\"";
  else if (kind < 85)
    file += "\ndescription: |\n  " + text + "\n  " + words(random, 60);
  else if (kind < 92)
    file += "\ndescription: '" + text + " it''s done\n  " + words(random, 60) + "'";
  else
    file += "\ndescription: >\n  " + text + "\n  " + words(random, 60);
  file += "\nversion: 1.0." + std::to_string(random() % 10) + "\nlicense: MIT\n";
  if (random() % 3 == 0) file += "metadata:\n  author: someone\n  category: tools\n";
  if (random() % 3 == 0) file += "allowed-tools: [Read, Write, Bash(git:*)]\n";
  if (random() % 4 == 0) file += "tags:\n  - one\n  - two words\n  - three\n";
  if (random() % 4 == 0) file += "# " + words(random, 60) + "\n";
  return file + "---\n\n# Title\n\n" + words(random, 400) + "\n";
}

struct sample {
  std::string file; ///< its first 4 KiB
  std::string_view block;
};

/// Files that the scanner proves, so that all parsers do the same work.
const std::vector<sample>& samples() {
  static const std::vector<sample> all = [] {
    std::vector<std::string> files;
    if (const char* corpus = std::getenv("PADDOCK_SKILL_CORPUS")) {
      for (const auto& e : std::filesystem::recursive_directory_iterator(corpus)) {
        if (e.path().filename() != "SKILL.md") continue;
        std::ifstream in(e.path(), std::ios::binary);
        files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
      }
    }
    std::mt19937_64 random(1);
    while (files.size() < 500)
      files.push_back(make_file(random));
    std::vector<sample> made;
    made.reserve(files.size());
    for (std::string& file : files) {
      file.resize(std::min(file.size(), fm::prefix_bytes));
      const auto found = fm::detail::find_block(file, false);
      if (fm::parse(file, fm::extent::prefix).from != fm::origin::fast) continue;
      made.push_back({std::move(file), {}});
      made.back().block = std::string_view(made.back().file).substr(found.begin, found.size);
    }
    return made;
  }();
  return all;
}

/// Both texts as they stand in the YAML.
using pair = std::pair<std::string, std::string>;

pair from_document(fm::document whole) {
  pair both;
  for (fm::entry& e : whole.entries) {
    if (e.key == "name") both.first = std::move(e.value);
    if (e.key == "description") both.second = std::move(e.value);
  }
  return both;
}

pair with_libyaml(const sample& s) {
  pair both = from_document(fm::libyaml()(s.block, 2));
  fm::detail::collapse(both.first);
  fm::detail::collapse(both.second);
  return both;
}

pair with_scanner(const sample& s) {
  fm::fields read = fm::parse(s.file, fm::extent::prefix);
  return {std::move(read.name), std::move(read.description)};
}

#if PADDOCK_BENCH_YAML_CPP
pair with_yaml_cpp(const sample& s) {
  const YAML::Node root = YAML::Load(std::string(s.block));
  pair both{root["name"].as<std::string>(), root["description"].as<std::string>()};
  fm::detail::collapse(both.first);
  fm::detail::collapse(both.second);
  return both;
}
#endif

void run(benchmark::State& state, pair (*read)(const sample&)) {
  std::size_t bytes = 0;
  for (const sample& s : samples()) {
    bytes += s.block.size();
    if (read(s) != with_scanner(s)) return state.SkipWithError("a parser disagrees");
  }
  for (auto _ : state)
    for (const sample& s : samples())
      benchmark::DoNotOptimize(read(s));
  const auto blocks = static_cast<double>(samples().size());
  state.counters["blocks"] = blocks;
  state.counters["bytes_per_block"] = static_cast<double>(bytes) / blocks;
  state.counters["per_block"] = benchmark::Counter(
      blocks, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void scanner(benchmark::State& state) {
  run(state, with_scanner);
}
BENCHMARK(scanner)->Name("frontmatter/scanner")->Unit(benchmark::kMicrosecond);

void libyaml_events(benchmark::State& state) {
  if (fm::libyaml() == nullptr) return state.SkipWithError("built without libyaml");
  run(state, with_libyaml);
}
BENCHMARK(libyaml_events)->Name("frontmatter/libyaml")->Unit(benchmark::kMicrosecond);

#if PADDOCK_BENCH_YAML_CPP
void yaml_cpp(benchmark::State& state) {
  run(state, with_yaml_cpp);
}
BENCHMARK(yaml_cpp)->Name("frontmatter/yaml_cpp")->Unit(benchmark::kMicrosecond);
#endif

void floor_fence_and_utf8(benchmark::State& state) {
  for (auto _ : state)
    for (const sample& s : samples()) {
      const auto found = fm::detail::find_block(s.file, false);
      benchmark::DoNotOptimize(
          detail::is_valid_utf8(std::string_view(s.file).substr(found.begin, found.size)));
    }
  state.counters["per_block"] = benchmark::Counter(static_cast<double>(samples().size()),
                                                   benchmark::Counter::kIsIterationInvariantRate |
                                                       benchmark::Counter::kInvert);
}
BENCHMARK(floor_fence_and_utf8)->Name("floor/fence_and_UTF-8")->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace paddock::bench
