// SPDX-License-Identifier: MIT

// The loopback that the commands of a workspace have to themselves. What a command cannot reach by
// it is in confinement_test.cpp.

#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"
#include "support/process/told.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <sys/prctl.h>

namespace paddock::test {
namespace {

class Loopback : public command_fixture {
protected:
  Loopback() : first_(make_workspace("first")), second_(make_workspace("second")) {}

  [[nodiscard]] file_descriptor make_workspace(const std::string& name) const {
    tree_.directory(name);
    return file_descriptor(::open((tree_ / name).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  /// test/support/process/command_child.cpp, confined.
  [[nodiscard]] static command confined(const file_descriptor& workspace,
                                        std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), PADDOCK_TEST_CHILD);
    return {.argv = std::move(arguments),
            .environment = {"PATH=/usr/bin:/bin"},
            .working_directory = workspace.get(),
            .confinement = {.read_paths = {PADDOCK_TEST_CHILD}},
            .helper = PADDOCK_TEST_HELPER};
  }

  [[nodiscard]] static network_reach reach_of(const confinement_policy& policy) {
    const auto report = probe_confinement(policy, PADDOCK_TEST_HELPER);
    return report ? report->reach : network_reach::none;
  }

  file_descriptor first_;
  file_descriptor second_;
};

/// A command that listens for as long as this lives.
class server {
public:
  explicit server(command asked) : asked_(std::move(asked)) {
    asked_.on_output = [this](output_stream, std::string_view bytes) {
      const std::lock_guard guard(lock_);
      said_ += bytes;
      changed_.notify_all();
    };
    thread_ = std::thread([this] {
      (void)run(asked_, &stop_).has_value();
      const std::lock_guard guard(lock_);
      over_ = true;
      changed_.notify_all();
    });
  }
  ~server() {
    stop_.request();
    thread_.join();
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Empty when it has ended without saying one.
  std::string port() {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return over_ || said_.find('\n') != std::string::npos; });
    return said_.substr(0, said_.find('\n'));
  }

private:
  command asked_;
  cancellation stop_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::string said_;
  bool over_ = false;
  std::thread thread_;
};

TEST_F(Loopback, IsSharedByTheCommandsOfAWorkspaceAndByNobodyElse) {
  if (reach_of({}) != network_reach::loopback) GTEST_SKIP() << "no loopback here";
  server running(confined(first_, {"serve", cookie_}));
  const std::string port = running.port();
  ASSERT_NE(port, "");
  const auto inside = run(confined(first_, {"fetch", cookie_, port}));
  ASSERT_THAT(inside, IsOk());
  EXPECT_EQ(inside->out.text(), "served") << inside->err.text();
  const auto beside = run(confined(second_, {"fetch", cookie_, port}));
  ASSERT_THAT(beside, IsOk());
  EXPECT_EQ(beside->exit_code, 1);
  const auto outside = run(make({PADDOCK_TEST_CHILD, "fetch", cookie_, port}));
  ASSERT_THAT(outside, IsOk());
  EXPECT_EQ(outside->exit_code, 1);
}

/// The control of what the others do not reach.
TEST_F(Loopback, WithoutALayerEveryCommandReachesTheOther) {
  command asked = confined(first_, {"serve", cookie_});
  asked.confinement = confinement_policy::host();
  server running(asked);
  command other = confined(second_, {"fetch", cookie_, running.port()});
  other.confinement = confinement_policy::host();
  const auto r = run(other);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->out.text(), "served");
  EXPECT_EQ(r->confinement.reach, network_reach::host_network);
}

TEST_F(Loopback, IsAsThePolicySays) {
  if (reach_of({}) != network_reach::loopback) GTEST_SKIP() << "no loopback here";
  confinement_policy without_privileges;
  without_privileges.privileges = demand::off;
  confinement_policy layer_off;
  layer_off.network = demand::off;
  const struct {
    const char* name;
    confinement_policy policy;
    network_reach reach;
    bool applied;
    bool explained;
  } cases[] = {
      {"default", {}, network_reach::loopback, true, false},
      {"none", {.reach = network_reach::none}, network_reach::none, true, false},
      {"host network",
       {.reach = network_reach::host_network},
       network_reach::host_network,
       false,
       false},
      {"layer off", layer_off, network_reach::host_network, false, false},
      {"host", confinement_policy::host(), network_reach::host_network, false, false},
      {"with rights over it", without_privileges, network_reach::none, true, true},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto report = probe_confinement(c.policy, PADDOCK_TEST_HELPER);
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(wire_name(report->reach), wire_name(c.reach));
    EXPECT_EQ(report->of(confinement_layer::network).applied, c.applied);
    EXPECT_EQ(!report->no_loopback.empty(), c.explained) << report->no_loopback;
  }
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST_F(Loopback, OfManyWorkspacesFewAreKept) {
  if (reach_of({}) != network_reach::loopback) GTEST_SKIP() << "no loopback here";
  constexpr std::size_t kept_max = 16;
  server running(confined(first_, {"serve", cookie_}));
  const std::string port = running.port();
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 40; ++i) {
    const auto workspace = make_workspace("w" + std::to_string(i));
    const auto r = run(confined(workspace, {"fetch", cookie_, port}));
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->exit_code, 1);
  }
  EXPECT_LE(open_descriptors(), before + 2 * kept_max);
  // What a command uses stays.
  const auto r = run(confined(first_, {"fetch", cookie_, port}));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->out.text(), "served");
}

TEST_F(Loopback, WhereItCannotBeHadTheReportSaysWhyAndNothingIsReached) {
  confinement_policy policy = confinement_policy::best_effort();
  policy.read_paths = {PADDOCK_TEST_CHILD};
  // In a process of its own: its filter stays.
  const std::string text = told_by([&]() -> std::string {
    become(machine::without_namespaces);
    command asked = confined(first_, {"serve", cookie_});
    asked.confinement = policy;
    const auto r = run(asked);
    if (!r) return "not run";
    return std::string(wire_name(r->confinement.reach)) + " " +
           std::to_string(r->exit_code.value_or(-1)) + " " + r->confinement.no_loopback;
  });
  EXPECT_THAT(text, testing::StartsWith("none 1 loopback of its own: "));
  EXPECT_THAT(text, testing::HasSubstr("namespaces"));
}

} // namespace
} // namespace paddock::test
