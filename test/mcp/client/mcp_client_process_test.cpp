// SPDX-License-Identifier: MIT

// The client and the server's process: how it starts, what it gets, and that it ends. And our own
// adapter as a server.

#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"
#include "support/mcp/client_fixture.hpp"
#include "support/process/descriptors.hpp"

#include <paddock/mcp/client.hpp>

namespace paddock::mcp {
namespace {

using test::children;
using test::eventually;
using test::IsError;
using test::IsOk;
using test::mcp_client;
using test::open_descriptors;
using test::processes_with;
using test::text;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// --- the program --------------------------------------------------------------------------------

TEST_F(mcp_client, a_program_that_cannot_be_started_says_why) {
  const test::temp_tree tree;
  tree.file("data", "text");
  const auto connect_to = [&](std::vector<std::string> argv, std::vector<std::string> environment) {
    return client::connect(
        stdio_endpoint{.argv = std::move(argv), .environment = std::move(environment)}, quick());
  };
  EXPECT_THAT(connect_to({}, {}), IsError(error_code::invalid_argument));
  EXPECT_THAT(connect_to({"sh"}, {"novalue"}), IsError(error_code::invalid_argument));
  EXPECT_THAT(connect_to({"sh", std::string("a\0b", 3)}, {}),
              IsError(error_code::invalid_argument));
  EXPECT_THAT(connect_to({"no-such-program"}, {"PATH=/usr/bin"}),
              IsError(error_code::not_found, HasSubstr("no-such-program")));
  EXPECT_THAT(connect_to({"sh"}, {}), IsError(error_code::not_found)) << "this process's PATH";
  EXPECT_THAT(connect_to({tree / "absent"}, {}), IsError(error_code::not_found));
  EXPECT_THAT(connect_to({tree / "data"}, {}), IsError(error_code::permission_denied));
  EXPECT_THAT(client::connect(
                  stdio_endpoint{.argv = {"/bin/true"}, .working_directory = tree / "x"}, quick()),
              IsError(error_code::not_found));
  EXPECT_EQ(0U, children());
}

TEST_F(mcp_client, the_program_has_only_what_it_is_given) {
  const test::temp_tree tree;
  stdio_endpoint to = server("surroundings");
  to.environment = {"ONE=1", "TWO=2"};
  to.working_directory = tree.path();
  const int inheritable = ::dup(2); // without close-on-exec
  ::signal(SIGPIPE, SIG_IGN);
  auto c = client::connect(to, quick());
  ::signal(SIGPIPE, SIG_DFL);
  ::close(inheritable);
  ASSERT_THAT(c, IsOk());
  const auto reply = call(*c);
  ASSERT_THAT(reply, IsOk());
  EXPECT_THAT(reply->json, HasSubstr(text("fds:3 leader default ONE=1 TWO=2 cwd:" + tree.path())));
}

TEST_F(mcp_client, close_ends_the_group_of_a_deaf_server) {
  for (const char* mode : {"ignores_term", "has_child"}) {
    auto c = connect(mode);
    ASSERT_THAT(c, IsOk());
    ASSERT_THAT(call(*c), IsOk());
    EXPECT_THAT(processes_with(cookie_), SizeIs(mode == std::string("has_child") ? 2 : 1));
    c->close();
    c->close();
    EXPECT_TRUE(eventually([&] { return processes_with(cookie_).empty(); })) << mode;
    EXPECT_EQ(0U, children());
  }
}

TEST_F(mcp_client, close_ends_calls_in_flight) {
  auto c = connect("never_answers");
  ASSERT_THAT(c, IsOk());
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back(
        [&] { EXPECT_THAT(c->call_tool("t", "{}"), IsError(error_code::cancelled)); });
  c->close();
  for (auto& caller : callers)
    caller.join();
}

TEST_F(mcp_client, a_death_between_calls_is_noticed) {
  auto c = connect("");
  ASSERT_THAT(c, IsOk());
  for (const pid_t server : processes_with(cookie_))
    ::kill(server, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !c->connected(); }));
  EXPECT_THAT(call(*c), IsError(error_code::io, HasSubstr("signal 9")));
  c->close();
  EXPECT_THAT(lost_, ElementsAre(HasSubstr("signal 9")));
}

TEST_F(mcp_client, refuses_arguments_that_are_no_object) {
  auto c = connect("");
  ASSERT_THAT(c, IsOk());
  for (const char* arguments : {"[]", "{", "1", "{}{}", "\xff", "{\"a\":\n}"})
    EXPECT_THAT(c->call_tool("t", arguments), IsError(error_code::invalid_argument)) << arguments;
  EXPECT_THAT(c->call_tool("t", "{\"a\":\r\n1}"), IsOk());
  EXPECT_THAT(c->call_tool("\n\"", ""), IsOk());
  EXPECT_THAT(c->request("tools/list", "{\"_meta\":{\"x/y\":1}}"), IsOk());
  EXPECT_THAT(c->request("tools/list", "[]"), IsError(error_code::invalid_argument));
}

TEST_F(mcp_client, leaves_nothing_behind) {
  const auto before = open_descriptors();
  for (int round = 0; round < 1000; ++round) {
    auto c = connect("");
    ASSERT_THAT(c, IsOk()) << "in round " << round;
  }
  EXPECT_EQ(before, open_descriptors());
  EXPECT_EQ(0U, children());
  EXPECT_THAT(processes_with(cookie_), SizeIs(0));
}

// --- supervised ---------------------------------------------------------------------------------

class mcp_client_supervised : public mcp_client {
protected:
  [[nodiscard]] result<client, detailed_error> connect_supervised(std::vector<std::string> argv) {
    stdio_endpoint to = server("");
    to.argv = std::move(argv);
    to.working_directory = tree_.path();
    to.helper = PADDOCK_TEST_HELPER;
    return client::connect(to, quick());
  }
  [[nodiscard]] std::vector<std::string> fault(const std::string& mode) const {
    return server(mode).argv;
  }
  test::temp_tree tree_;
};

TEST_F(mcp_client_supervised, is_as_without_the_helper) {
  auto c = connect_supervised(fault("surroundings"));
  ASSERT_THAT(c, IsOk());
  const auto reply = call(*c);
  ASSERT_THAT(reply, IsOk());
  EXPECT_THAT(reply->json,
              AllOf(HasSubstr("fds:3 leader default"), HasSubstr("cwd:" + tree_.path())));
}

TEST_F(mcp_client_supervised, ends_with_everything_it_started) {
  for (const char* mode : {"ignores_term", "has_child", "leaves_daemon"}) {
    {
      auto c = connect_supervised(fault(mode));
      ASSERT_THAT(c, IsOk()) << mode;
      (void)call(*c).has_value();
    }
    EXPECT_TRUE(eventually([&] { return processes_with(cookie_).empty(); })) << mode;
    EXPECT_EQ(0U, children());
  }
}

TEST_F(mcp_client_supervised, says_how_it_ended) {
  auto c = connect_supervised(fault("exits_within_a_line"));
  ASSERT_THAT(c, IsOk());
  EXPECT_THAT(call(*c), IsError(error_code::io, HasSubstr("exited with status 7")));
}

TEST_F(mcp_client_supervised, that_cannot_be_started_says_why) {
  tree_.file("data", "text");
  EXPECT_THAT(connect_supervised({"no-such-program"}),
              IsError(error_code::not_found, HasSubstr("no-such-program")));
  EXPECT_THAT(connect_supervised({tree_ / "absent"}), IsError(error_code::not_found));
  EXPECT_THAT(connect_supervised({tree_ / "data"}), IsError(error_code::permission_denied));
  EXPECT_EQ(0U, children());
}

// --- confined -----------------------------------------------------------------------------------

class mcp_client_confined : public mcp_client {
protected:
  [[nodiscard]] stdio_endpoint confined(const std::string& mode) const {
    stdio_endpoint to = server(mode);
    to.working_directory = tree_.path();
    to.helper = PADDOCK_TEST_HELPER;
    to.confinement = confinement_policy::best_effort();
    to.confinement->read_paths = {PADDOCK_TEST_FAULT_SERVER};
    return to;
  }
  test::temp_tree tree_;
};

TEST_F(mcp_client_confined, works_and_takes_daemons_with_it) {
  {
    auto c = client::connect(confined("surroundings"), quick());
    ASSERT_THAT(c, IsOk());
    const auto reply = call(*c);
    ASSERT_THAT(reply, IsOk());
    EXPECT_THAT(reply->json,
                AllOf(HasSubstr("fds:3 leader default"), HasSubstr("cwd:" + tree_.path())));
  }
  {
    auto c = client::connect(confined("leaves_daemon"), quick());
    ASSERT_THAT(c, IsOk());
    EXPECT_THAT(call(*c), IsError(error_code::io, HasSubstr("exited with status 0")));
  }
  auto c = client::connect(confined("ignores_term"), quick());
  ASSERT_THAT(c, IsOk());
  c->close();
  EXPECT_TRUE(eventually([&] { return processes_with(cookie_).empty(); }));
  EXPECT_EQ(0U, children());
}

TEST_F(mcp_client_confined, bounds_the_server) {
  stdio_endpoint to = confined("huge_stderr");
  to.confinement = confinement_policy::host();
  to.confinement->limits = demand::required;
  to.confinement->bounds.memory_bytes = 64 * 1024; // not enough to start with
  EXPECT_THAT(client::connect(to, quick()), IsError(error_code::io));
  to.confinement->bounds.memory_bytes = std::uint64_t{1} << 30U;
  EXPECT_THAT(client::connect(to, quick()), IsOk());
}

TEST_F(mcp_client_confined, says_why_the_program_was_not_run) {
  stdio_endpoint to = confined("");
  to.argv.front() = tree_ / "absent";
  EXPECT_THAT(client::connect(to, quick()), IsError(error_code::not_found));
  to = confined("");
  to.helper = tree_ / "absent";
  EXPECT_THAT(client::connect(to, quick()), IsError(error_code::unsupported));
  to = confined("");
  to.confinement->read_paths = {"relative"};
  EXPECT_THAT(client::connect(to, quick()), IsError(error_code::invalid_argument));
  EXPECT_EQ(0U, children());
}

/// As a command is refused there.
TEST_F(mcp_client_confined, is_not_started_in_a_directory_of_the_system) {
  stdio_endpoint to = confined("surroundings");
  to.confinement->file_system = demand::required;
  const auto elsewhere = client::connect(to, quick()); // the control
  if (!elsewhere) {
    EXPECT_THAT(explain(elsewhere.error()), Not(HasSubstr("belongs to the system")));
  }
  for (const char* directory : {"/proc", "/", "/sys/kernel"}) {
    to.working_directory = directory;
    EXPECT_THAT(client::connect(to, quick()),
                IsError(error_code::confinement_unavailable, HasSubstr("belongs to the system")))
        << directory;
  }
}

// --- our own adapter ----------------------------------------------------------------------------

#ifdef PADDOCK_TEST_ADAPTER

class mcp_client_adapter : public mcp_client, public testing::WithParamInterface<protocol_choice> {
protected:
  [[nodiscard]] result<client, detailed_error> connect_adapter() {
    client_options options = quick();
    options.protocol = GetParam();
    return client::connect(
        stdio_endpoint{.argv = {PADDOCK_TEST_ADAPTER, "--workspace", tree_.path()},
                       .environment = {"PATH=/usr/bin:/bin"}},
        options);
  }
  test::temp_tree tree_;
};

TEST_P(mcp_client_adapter, speaks_its_revision) {
  auto c = connect_adapter();
  ASSERT_THAT(c, IsOk());
  EXPECT_EQ(GetParam() == protocol_choice::legacy ? "2025-11-25" : "2026-07-28",
            c->server().revision);
  EXPECT_THAT(*c->tools(), SizeIs(17));
  tree_.file("a", "one\n");
  const auto reply = c->call_tool("readTextFile", R"({"path":"a"})");
  ASSERT_THAT(reply, IsOk());
  EXPECT_THAT(reply->json, AllOf(HasSubstr("structuredContent"), HasSubstr("one\\n")));
  const auto failed = c->call_tool("readTextFile", R"({"path":"../b"})");
  ASSERT_THAT(failed, IsOk());
  EXPECT_TRUE(failed->failed);
  EXPECT_THAT(c->call_tool("unknown", "{}"), IsError(error_code::invalid_argument));
}

TEST_P(mcp_client_adapter, keeps_64_calls_in_flight) {
  auto c = connect_adapter();
  ASSERT_THAT(c, IsOk());
  std::vector<std::thread> callers;
  for (int i = 0; i < 64; ++i) {
    const std::string name = "f" + std::to_string(i);
    tree_.file(name, "content of " + name + ".");
    callers.emplace_back([&c, name] {
      for (int round = 0; round < 20; ++round) {
        const auto reply = c->call_tool("readTextFile", R"({"path":")" + name + R"("})");
        ASSERT_THAT(reply, IsOk());
        EXPECT_THAT(reply->json, HasSubstr("content of " + name + "."));
      }
    });
  }
  for (auto& caller : callers)
    caller.join();
}

const char* name_of_choice(const testing::TestParamInfo<protocol_choice>& choice) {
  constexpr const char* names[] = {"automatic", "modern", "legacy"};
  return names[static_cast<std::size_t>(choice.param)];
}

INSTANTIATE_TEST_SUITE_P(all, mcp_client_adapter,
                         testing::Values(protocol_choice::automatic, protocol_choice::modern,
                                         protocol_choice::legacy),
                         name_of_choice);

#endif

} // namespace
} // namespace paddock::mcp
