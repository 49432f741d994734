// SPDX-License-Identifier: MIT

// Load: many clients' calls on one adapter, each compared with what that client knows.
// PADDOCK_LOAD_SECONDS makes the everyday number of calls a campaign.

#include "support/load/load_driver.hpp"
#include "support/process/command_fixture.hpp"

#include <paddock/mcp/stdio_transport.hpp>
#include <paddock/mcp/workspace_tools.hpp>

namespace paddock {
namespace {

using namespace std::chrono_literals;

constexpr unsigned clients = 64;
constexpr std::uint64_t calls_everyday = 6'000;
constexpr std::uint64_t calls_to_warm_up = 3'000;

class load : public testing::Test {
protected:
  void SetUp() override {
    std::string text;
    for (std::size_t n = 0; n < test::shared_lines; ++n)
      text += test::shared_line(n);
    tree.file(test::shared_name, text);
    std::printf("[ seed     ] %llu\n", static_cast<unsigned long long>(seed));
  }
  static auto calls(const test::load_driver& driver, std::uint64_t more) {
    return [&driver, end = driver.done().calls + more] { return driver.done().calls < end; };
  }
  static void print(const test::load_driver& driver, std::chrono::duration<double> spent) {
    const auto& done = driver.done();
    const auto& times = driver.times();
    std::printf("[ load     ] %llu calls of %u clients, %llu cancelled (%llu too late); %.0f "
                "calls/s; latency p50 %zu us, p99 %zu us, max %llu us\n",
                static_cast<unsigned long long>(done.calls), clients,
                static_cast<unsigned long long>(done.cancelled),
                static_cast<unsigned long long>(done.answered_nonetheless),
                static_cast<double>(done.calls) / spent.count(), times.percentile_us(50),
                times.percentile_us(99), static_cast<unsigned long long>(times.max_us()));
  }
  [[nodiscard]] std::size_t leftovers() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree.path()))
      if (entry.path().filename().string().starts_with(".paddock-")) ++count;
    return count;
  }

  const std::uint64_t seed = test::number_from_environment("PADDOCK_TEST_SEED", 7);
  test::temp_tree tree;
};

#ifdef PADDOCK_TEST_ADAPTER
struct footprint {
  std::size_t resident_kib;
  std::size_t descriptors;
  std::size_t threads;
};

/// Of a program that has nothing to do.
footprint measure(const test::adapter_program& adapter) {
  EXPECT_TRUE(test::eventually([&] { return adapter.view().children() == 0; }))
      << "a cancelled command still runs";
  const footprint f{adapter.view().resident_kib(), adapter.view().descriptors(),
                    adapter.view().threads()};
  std::printf("[ resident ] %zu KiB, %zu descriptors, %zu threads\n", f.resident_kib, f.descriptors,
              f.threads);
  std::fflush(stdout);
  return f;
}

TEST_F(load, of_many_clients_on_one_adapter) {
  const auto seconds = test::number_from_environment("PADDOCK_LOAD_SECONDS", 0);
  test::adapter_program adapter(tree.path());
  test::load_driver driver(adapter.peer, clients, seed);
  const auto began = test::load_driver::clock::now();
  driver.run(calls(driver, calls_to_warm_up));
  const footprint warm = measure(adapter);
  footprint halfway = warm;
  if (seconds == 0) driver.run(calls(driver, calls_everyday));
  constexpr unsigned samples = 10;
  for (unsigned i = 1; seconds > 0 && i <= samples && !HasFailure(); ++i) {
    const auto end = began + seconds * i * 1000ms / samples;
    driver.run([&] { return test::load_driver::clock::now() < end; });
    const footprint sample = measure(adapter);
    if (i == samples / 2) halfway = sample;
  }
  print(driver, test::load_driver::clock::now() - began);
  const footprint now = measure(adapter);
  EXPECT_LE(now.descriptors, warm.descriptors);
  if (!test::instrumented) {
    EXPECT_LE(now.resident_kib, 48U * 1024);
    EXPECT_LE(now.resident_kib, halfway.resident_kib * 5 / 4 + 4U * 1024) << "it keeps growing";
  }
  EXPECT_GT(driver.done().cancelled, driver.done().answered_nonetheless);
  adapter.peer.close_input();
  driver.finish();
  EXPECT_EQ(0, adapter.exit_code());
  EXPECT_EQ(0U, leftovers());
}
#endif

/// The same in this process, where sanitizers see the server's threads.
TEST_F(load, of_many_clients_on_a_server_of_this_process) {
  mcp::workspace_options options{.confinement = confinement_policy::best_effort()};
  options.exec_helper = PADDOCK_TEST_HELPER;
  auto opened = root::open(tree.path());
  ASSERT_TRUE(opened);
  auto tools =
      mcp::workspace_tools(std::make_shared<const root>(*std::move(opened)), std::move(options));
  ASSERT_TRUE(tools);
  const mcp::server server({}, *std::move(tools));
  test::pipe_ends to = test::make_pipe();
  test::pipe_ends from = test::make_pipe();
  std::optional<mcp::serve_outcome> outcome;
  test::line_peer peer(std::move(to.write), std::move(from.read));
  std::thread serving([&] {
    if (const auto served = mcp::serve(server, to.read.get(), from.write.get())) outcome = *served;
    from.write.reset();
  });
  test::load_driver driver(peer, clients, seed);
  const auto began = test::load_driver::clock::now();
  driver.run(calls(driver, calls_everyday));
  print(driver, test::load_driver::clock::now() - began);
  peer.close_input();
  driver.finish();
  serving.join();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(mcp::end_reason::input_ended, outcome->reason);
  EXPECT_EQ(0U, outcome->calls_abandoned);
  EXPECT_EQ(0U, leftovers());
}

/// The model must notice when something is wrong, or the load proves nothing.
TEST_F(load, notices_a_changed_file) {
  test::load_client client(0, seed);
  const test::load_call first = client.next();
  ASSERT_EQ("writeTextFile", first.tool);
  mcp::json_document document;
  std::string echo = first.arguments;
  echo.insert(echo.find("c0/f"), "/w/");
  const auto right = document.parse(echo);
  ASSERT_TRUE(right);
  EXPECT_EQ("", first.verdict({.value = *right, .failed = false}));
  EXPECT_NE("", first.verdict({.value = *right, .failed = true}));
  mcp::json_document other;
  const auto wrong = other.parse(R"({"path":"/w/c0/f","text":"lost"})");
  EXPECT_NE("", first.verdict({.value = *wrong, .failed = false}));
  std::set<std::string> seen;
  for (int i = 0; i < 1'000 && seen.size() < 3; ++i) {
    const test::load_call call = client.next();
    if (!call.verdict ||
        (call.tool != "readTextFile" && call.tool != "todo" && call.tool != "exec"))
      continue;
    const auto empty = other.parse(R"({"content":"","output":"","todos":[]})");
    if (call.arguments.find("shared") != std::string::npos) continue;
    if (call.arguments.find("\"c0/") == std::string::npos && call.tool == "readTextFile") continue;
    EXPECT_NE("", call.verdict({.value = *empty, .failed = false})) << call.tool << call.arguments;
    seen.insert(call.tool);
  }
  EXPECT_EQ(3U, seen.size());
}

} // namespace
} // namespace paddock
