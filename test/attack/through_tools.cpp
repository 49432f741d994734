// SPDX-License-Identifier: MIT

#include "performers.hpp"
#include "support/mcp/tool_client.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/mcp/server.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/lexical_path.hpp>

namespace paddock::test::corpus {
namespace {

std::string_view tool_of(action what) {
  switch (what) {
  case action::read:
  case action::read_part:
    return "readTextFile";
  case action::write:
    return "writeTextFile";
  case action::append:
    return "appendTextFile";
  case action::edit:
    return "editTextFile";
  case action::inspect:
    return "getFileInfo";
  case action::list:
    return "listDirectory";
  case action::make_directory:
    return "createDirectory";
  case action::remove_file:
    return "deleteFile";
  case action::remove_directory:
  case action::remove_tree:
    return "deleteDirectory";
  case action::move:
    return "moveFile";
  case action::enter:
    break;
  }
  return "exec";
}

std::string change_of(const request& asked) {
  mcp::json_writer out;
  out.begin_object();
  if (asked.what == action::edit) {
    out.member("path", encode_name(asked.path)).key("edits").begin_array().begin_object();
    out.member("oldText", inside_mark).member("newText", "changed");
    return out.end_object().end_array().end_object().take();
  }
  out.key("changes").begin_array().begin_object().member("path", encode_name(asked.path));
  if (asked.what == action::write) out.member("text", asked.other);
  if (asked.what == action::remove_file) out.key("delete").boolean(true);
  if (asked.what == action::move) out.member("moveTo", encode_name(asked.other));
  return out.end_object().end_array().end_object().take();
}

std::string arguments_of(const request& asked) {
  mcp::json_writer out;
  out.begin_object();
  if (asked.what == action::move) {
    out.member("source", encode_name(asked.path)).member("destination", encode_name(asked.other));
  } else if (asked.what == action::enter) {
    out.member("command", "pwd").key("args").begin_array().end_array();
    out.key("env").begin_object().end_object();
    out.key("stdout").boolean(true).key("stderr").boolean(true);
    out.member("cwd", encode_name(asked.path));
  } else {
    out.member("path", encode_name(asked.path));
  }
  if (asked.what == action::write || asked.what == action::append) out.member("text", asked.other);
  if (asked.what == action::edit) out.member("oldText", inside_mark).member("newText", "changed");
  if (asked.what == action::remove_tree) out.key("recursive").boolean(true);
  if (asked.what == action::read_part)
    out.key("from").integer(*asked.lines.from).key("to").integer(*asked.lines.to);
  return out.end_object().take();
}

/// The same as a patch, which changes nothing: what it would do is told.
std::string patch_of(const request& asked) {
  const std::string name = encode_name(asked.path);
  mcp::json_writer out;
  out.begin_object().member("patch",
                            "--- a/" + name + "\n+++ b/" + name +
                                "\n@@ -1 +1 @@\n-inside\n\\ No newline at end of file\n+changed\n");
  out.member("diff", "full").key("dryRun").boolean(true);
  return out.end_object().take();
}

std::string call_of(const request& asked, mcp::toolset tools) {
  if (tools != mcp::toolset::coding || !changes_a_file(asked.what))
    return tool_call_line(tool_of(asked.what), arguments_of(asked));
  return tool_call_line(asked.what == action::edit ? "editFile" : "applyChanges", change_of(asked));
}

std::optional<error_code> code_named(std::string_view name) {
#define X(code, wire, text, advice)                                                                \
  if (name == (wire)) return error_code::code;
  PADDOCK_ERROR_CODES(X)
#undef X
  ADD_FAILURE() << name << " is no error";
  return {};
}

std::string relative(const std::string& path, const std::string& workspace) {
  const std::string bytes = decode_name(path);
  if (bytes == workspace) return "";
  if (!bytes.starts_with('/')) return bytes; // of a brief result
  EXPECT_TRUE(bytes.starts_with(workspace + '/')) << bytes;
  return bytes.substr(std::min(bytes.size(), workspace.size() + 1));
}

/// As the library says it.
answer answer_of(const request& asked, const tool_reply& reply, const std::string& workspace) {
  answer a{.code = {}, .text = {}, .raw = reply.line};
  if (reply.failed) {
    a.code = code_named(reply.string("error"));
    EXPECT_FALSE(reply.string("message").empty());
    return a;
  }
  if (asked.what == action::read || asked.what == action::read_part)
    a.text = reply.string("content");
  else if (asked.what == action::list)
    reply["items"].for_each_element([&](mcp::json_view item) {
      a.text += decode_name(item["name"].string().value_or("")) + "\n";
    });
  else if (asked.what == action::enter)
    a.text = reply.string("output");
  else if (changes_a_file(asked.what) && reply["files"].exists())
    reply["files"].for_each_element([&](mcp::json_view file) {
      a.text = relative(std::string(file["path"].string().value_or("")), workspace);
    });
  else
    a.text = relative(reply.string(asked.what == action::inspect ? "absolutePath"
                                   : asked.what == action::move  ? "destination"
                                                                 : "path"),
                      workspace);
  return a;
}

class adapter final : public performer {
public:
  adapter(workspaces of, mcp::toolset tools) : of_(std::move(of)), tools_(tools) {
    // Held for as long as the process lives, so it is there before descriptors are counted.
    EXPECT_TRUE(load_command_helper(PADDOCK_TEST_HELPER));
  }

  answer perform(const request& asked) override {
    mcp::server& server = server_on(asked.mounted);
    if (tools_ == mcp::toolset::coding) {
      const auto told = server.handle_line(tool_call_line("applyChanges", patch_of(asked)));
      for (const auto& mark : {outside_mark, reserved_mark})
        EXPECT_EQ(told.back().find(mark), std::string::npos) << told.back();
    }
    const auto lines = server.handle_line(call_of(asked, tools_));
    if (lines.empty()) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    return answer_of(asked, read_tool_reply(lines.back()), of_.whole->path());
  }

private:
  mcp::server& server_on(mounts mounted) {
    auto& server = servers_.at(mounted == mounts::enter ? 0 : 1);
    if (!server) {
      mcp::workspace_options options;
      options.exec_helper = PADDOCK_TEST_HELPER;
      options.tools = tools_;
      auto tools = mcp::workspace_tools(of_.on(mounted), std::move(options));
      server = std::make_unique<mcp::server>(mcp::server_options{}, *std::move(tools));
    }
    return *server;
  }

  workspaces of_;
  mcp::toolset tools_;
  std::array<std::unique_ptr<mcp::server>, 2> servers_;
};

class program final : public performer {
public:
  program(const std::string& workspace, resolver how) : workspace_(workspace) {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (::pipe(to.data()) != 0 || ::pipe(from.data()) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(to[0], STDIN_FILENO);
      ::dup2(from[1], STDOUT_FILENO);
      for (const int fd : {to[0], to[1], from[0], from[1]})
        ::close(fd);
      ::execl(PADDOCK_TEST_ADAPTER, PADDOCK_TEST_ADAPTER, "--workspace", workspace.c_str(),
              "--resolver", how == resolver::walker ? "walker" : "auto", nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    in_ = ::fdopen(to[1], "w");
    out_ = ::fdopen(from[0], "r");
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program() override {
    std::fclose(in_);
    std::fclose(out_);
    int status = -1;
    EXPECT_EQ(pid_, ::waitpid(pid_, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }

  answer perform(const request& asked) override {
    const std::string line = call_of(asked, mcp::toolset::base) + "\n";
    EXPECT_EQ(line.size(), std::fwrite(line.data(), 1, line.size(), in_));
    EXPECT_EQ(0, std::fflush(in_));
    char* read = nullptr;
    std::size_t room = 0;
    const auto size = ::getline(&read, &room, out_);
    std::string reply(read, size > 0 ? static_cast<std::size_t>(size - 1) : 0);
    std::free(read); // NOLINT: getline's
    return answer_of(asked, read_tool_reply(std::move(reply)), workspace_);
  }

private:
  std::string workspace_;
  pid_t pid_ = -1;
  FILE* in_ = nullptr;
  FILE* out_ = nullptr;
};

} // namespace

std::unique_ptr<performer> through_adapter(workspaces of, mcp::toolset tools) {
  return std::make_unique<adapter>(std::move(of), tools);
}

std::string program_is_lacking() {
  const bool is_there =
      ::access(PADDOCK_TEST_ADAPTER, X_OK) == 0 && ::access(PADDOCK_TEST_PROGRAM, X_OK) == 0;
  return is_there ? "" : "this user cannot reach the programs";
}

std::unique_ptr<performer> through_program(const std::string& workspace, resolver how) {
  return std::make_unique<program>(workspace, how);
}

} // namespace paddock::test::corpus
