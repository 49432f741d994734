// SPDX-License-Identifier: MIT

// What a confined command cannot do: every attempt of support/process/escape_probe.cpp, as root and
// as an ordinary user, on machines that offer everything or lack something. The first column of the
// table is the negative control: without confinement the attempt works.

#include "exec/protocol/enforcement.hpp"
#include "support/campaign.hpp"
#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"
#include "support/process/told.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/exec/process.hpp>

#include <grp.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>

namespace paddock::test {
namespace {

constexpr unsigned nobody = 65534;
constexpr int unreachable = 77;

enum class who { root, ordinary };

/// How the attempts are run, and whom those against another process meet.
enum class manner {
  command,  ///< a bystander
  process,  ///< the process that started them
  terminal, ///< another process of the same table
};

/// One machine and policy of the escape matrix.
struct column {
  const char* name;
  machine kind;
  confinement_policy policy;
};

confinement_policy tracing() {
  confinement_policy policy;
  policy.tracing = true;
  return policy;
}

std::vector<column> columns() {
  return {{"host", machine::whole, confinement_policy::host()},
          {"default", machine::whole, {}},
          {"without namespaces", machine::without_namespaces, confinement_policy::best_effort()},
          {"without Landlock and seccomp", machine::without_landlock_and_seccomp,
           confinement_policy::best_effort()},
          {"tracing", machine::whole, tracing()}};
}

/// The column without namespaces alone, on another kernel.
std::vector<column> with_the_first_landlock() {
  std::vector<column> all = columns();
  for (column& each : all)
    if (each.kind == machine::without_namespaces)
      each.kind = machine::without_namespaces_on_linux_5_13;
    else
      each.name = nullptr; // left out
  return all;
}

/// '+': it works; '-': it is denied. One character per column.
struct row {
  const char* attempt;
  const char* as_root;
  const char* as_ordinary;
};

// clang-format off
// E14 (sockets by io_uring) is in E13: there is no ring. E27, E28 and E34 need bounds, see below.
// E29 to E33 are in command_test.cpp and command_kill_test.cpp, E35 and E36 in command_test.cpp, E37
// in environment_test.cpp.
constexpr row rows[] = {
    {"E01-read",          "+----", "+----"},
    {"E02-create",        "+----", "+----"},
    {"E02-truncate",      "+----", "+----"},
    {"E02-rename",        "+----", "+----"},
    {"E02-unlink",        "+----", "+----"},
    {"E02-move-in",       "+----", "+----"},
    {"E03-hard-link",     "+----", "+----"},
    {"E04-symlink",       "+----", "+----"},
    {"E05-chmod",         "+----", "+----"},
    {"E05-chown",         "+----", "+----"},
    {"E05-fchmod",        "+----", "+----"},
    {"E05-flags",         "+----", "+----"},
    {"E05-futimens",      "+----", "+----"},
    {"E05-utime",         "+----", "+----"},
    {"E05-utimes",        "+----", "+----"},
    {"E05-xattr",         "+----", "+----"},
    {"E06-stat",          "+-+--", "+-+--"},
    {"E07-device",        "+----", "-----"},
    {"E08-tcp",           "+----", "+----"},
    {"E09-fast-open",     "+----", "+----"},
    {"E10-udp",           "+----", "+----"},
    {"E10-netlink",       "+--+-", "+--+-"},
    {"E10-netlink-change", "+----", "-----"},
    {"E10-network-of-another", "+----", "-----"},
    {"E10-vsock",         "+--+-", "+--+-"},
    {"E10-packet",        "+----", "-----"},
    {"E10-raw",           "+----", "-----"},
    {"E11-abstract",      "+----", "+----"},
    {"E12-pathname",      "+----", "+----"},
    {"E13-io-uring",      "+--+-", "+--+-"},
    {"E15-signal",        "+----", "+----"},
    {"E15-pidfd",         "+----", "+----"},
    {"E16-memory",        "+----", "+----"},
    {"E16-ptrace",        "+----", "+----"},
    {"E16-descriptor",    "+----", "+----"},
    {"E16-memory-of-init", "+----", "-----"},
    {"E16-ptrace-init",   "+----", "-----"},
    {"E17-environ",       "+----", "+----"},
    {"E18-memory",        "+----", "+----"},
    {"E18-root",          "+----", "+----"},
    {"E19-cmdline",       "+----", "+----"},
    {"E20-affinity",      "+----", "+----"},
    {"E20-prlimit",       "+----", "+----"},
    {"E20-priority",      "+----", "+----"},
    {"E21-read",          "+-+--", "+-+--"},
    {"E21-write",         "+-+--", "+-+--"},
    {"E21-rename",        "+-+--", "+-+--"},
    {"E22-inherited",     "-----", "-----"},
    {"E23-kmsg",          "+----", "-----"},
    {"E23-terminal",      "-----", "-----"}, // no session but its own
    {"E24-unshare",       "+--+-", "+--+-"},
    {"E25-chroot",        "+----", "-----"},
    {"E26-memfd",         "+++++", "+++++"},
    {"E38-injection",     "-----", "-----"},
    {"E39-listener",      "-----", "-----"},
    {"E40-message-queue", "+-+--", "+-+--"},
    {"E40-semaphore",     "+-+--", "+-+--"},
    {"E40-shared-memory", "+-+--", "+-+--"},
    {"E41-chmod",         "+--+-", "+--+-"},
    {"E41-chmod-group",   "+--+-", "+--+-"},
    {"E41-fchmod",        "+--+-", "+--+-"},
    {"E41-fchmodat",      "+--+-", "+--+-"},
    {"E41-fchmodat2",     "+--+-", "+--+-"},
    {"E41-open",          "+--+-", "+--+-"},
    {"E41-creat",         "+--+-", "+--+-"},
    {"E41-temporary",     "+--+-", "+--+-"},
    {"E41-openat2",       "+--+-", "+--+-"},
    {"E41-mknod",         "+--+-", "+--+-"},
    {"E41-mkdir",         "-----", "-----"}, // the kernel drops the bits itself
    {"E42-chmod",         "+++++", "+++++"},
    {"E42-pipe",          "+++++", "+++++"},
    {"E43-node",          "+--+-", "+--+-"},
    {"E43-whiteout",      "+--+-", "+--+-"},
    {"E44-lease",         "+--+-", "+--+-"},
    {"E44-delegation",    "+--+-", "+--+-"},
    {"E45-snapshot",      "+--+-", "+--+-"},
    {"E45-snapshot-v2",   "+--+-", "+--+-"},
    {"E45-remove-subvolume", "+--+-", "+--+-"},
    {"E45-snapshot-bcachefs", "+--+-", "+--+-"},
    {"E45-clone-file",    "+++++", "+++++"}, // a copy of what may be read
    {"E46-terminals",     "+----", "+----"},
    {"E46-terminal-of-another", "+----", "+----"},
    {"X-own-threads",     "++-++", "++-++"}, // not to be told from others by a filter alone
    {"X-loopback",        "++-++", "++-++"}, // of the commands, and of nobody else
    {"X-proc-net",        "+----", "+----"},
    {"X-proc-sys",        "+----", "-----"},
    {"X-new-protected",   "+++++", "+++++"}, // it is moved aside afterwards
    {"X-trace-own",       "+--++", "+--++"}, // without Landlock and seccomp nothing denies it
    {"X-workspace",       "+++++", "+++++"},
};
// clang-format on

/// The row of what a terminal of its own makes different.
const char* in_own_terminal(std::string_view attempt, const char* otherwise) {
  if (attempt == "E23-terminal") return "+++++";
  if (attempt == "E38-injection") return "?--?-"; // into its own, where the kernel knows that
  return otherwise;
}

void become_ordinary() {
  if (::geteuid() != 0) return;
  if (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0) std::abort();
  ::prctl(PR_SET_DUMPABLE, 1); // as a process that had never been root
}

bool programs_are_reachable() {
  return ::access(PADDOCK_TEST_HELPER, X_OK) == 0 && ::access(PADDOCK_TEST_PROBE, X_OK) == 0;
}

int listen_at(const std::string& name) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd, 64) != 0)
    std::abort();
  return fd;
}

/// A terminal of the machine, which lasts as long as this process.
std::string take_terminal() {
  const int ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ours < 0 || ::grantpt(ours) != 0 || ::unlockpt(ours) != 0) return "none";
  return ::ptsname(ours);
}

/// A socket of 127.0.0.1; port 0 stands for any that is free, and the one that it has is returned.
std::uint16_t take_port(int type, std::uint16_t port) {
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      (type == SOCK_STREAM && ::listen(fd, 64) != 0) ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    ::close(fd);
    return 0;
  }
  return ntohs(address.sin_port);
}

/// One that takes both TCP and UDP, until this process ends.
std::uint16_t take_port() {
  for (int attempt = 0; attempt < 100; ++attempt)
    if (const std::uint16_t port = take_port(SOCK_STREAM, 0); take_port(SOCK_DGRAM, port) == port)
      return port;
  std::abort();
}

class Confinement : public command_fixture {
protected:
  Confinement() {
    ::chmod(tree_.path().c_str(), 0755);
    tree_.directory("workspace");
    tree_.directory("outside");
    tree_.directory("visible");
    tree_.file("visible/file", "visible");
  }

  [[nodiscard]] static bool is_root() { return ::geteuid() == 0; }

  /// Runs `body` in a process of its own as somebody, on a machine that may lack something, and
  /// returns what it writes to the given descriptor, or nothing when it could not run.
  std::optional<std::string> in_process(who user, machine kind,
                                        const std::function<void(int)>& body) const {
    const unsigned owner = user == who::ordinary ? nobody : 0;
    for (const char* name : {"workspace", "outside", "visible"}) {
      if (is_root()) {
        EXPECT_EQ(0, ::chown((tree_ / name).c_str(), owner, owner));
      }
    }
    int status = 0;
    std::string all = told_through(
        [&](int out) {
          if (user == who::ordinary) become_ordinary();
          if (!programs_are_reachable()) ::_exit(unreachable);
          become(kind);
          body(out);
        },
        &status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == unreachable) return std::nullopt;
    EXPECT_EQ(status, 0);
    return all;
  }

  /// What the attempts find outside, and in the workspace; made again for each.
  void set_up(const char* attempt) const {
    for (const char* name : {"workspace", "outside", "visible"})
      for (const auto& entry : std::filesystem::directory_iterator(tree_ / name)) {
        std::error_code ignored;
        if (!entry.is_socket()) std::filesystem::remove_all(entry, ignored);
      }
    tree_.file("outside/secret", "secret");
    tree_.file("outside/victim", "victim");
    tree_.file("visible/file", "visible");
    if (std::string_view(attempt) == "X-new-protected") return;
    ::mkdir((tree_ / "workspace/.perstack").c_str(), 0755);
    tree_.file("workspace/.perstack/secret", "secret");
  }

  [[nodiscard]] command probe(const char* attempt, pid_t bystander,
                              const confinement_policy& policy) const {
    command asked{
        .argv = {PADDOCK_TEST_PROBE, attempt, tree_ / "outside", std::to_string(bystander)},
        .environment = {"PATH=/usr/bin:/bin", "HOME=" + tree_ / "home",
                        "PADDOCK_TEST_PORT=" + std::to_string(port_),
                        "PADDOCK_TEST_TERMINAL=" + terminal_,
                        "PADDOCK_TEST_TERMINALS=" + std::to_string(device_of(terminal_))},
        .working_directory =
            ::open((tree_ / "workspace").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC),
        .confinement = policy,
        .helper = PADDOCK_TEST_HELPER};
    asked.confinement.read_paths = {PADDOCK_TEST_PROBE, tree_ / "visible/file"};
    return asked;
  }

  [[nodiscard]] static std::uint64_t device_of(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_dev : 0;
  }

  /// How it ended; nothing: it did not start.
  static std::optional<int> exit_code_of(const command& asked, process_table& table, manner how) {
    if (how == manner::command) {
      const auto r = run(asked);
      return r ? std::optional(r->exit_code.value_or(-1)) : std::nullopt;
    }
    const auto made = table.start(asked, how == manner::terminal ? process_streams::terminal
                                                                 : process_streams::pipes);
    if (!made) return std::nullopt;
    while (made->status().running())
      if (!made->read({.wait_ms = 60'000, .wait = process_wait::end})) return std::nullopt;
    return made->status().outcome->exit_code.value_or(-1);
  }

  /// The number outside of another process that the table runs.
  [[nodiscard]] pid_t another_of(process_table& table, const confinement_policy& policy) const {
    command asked = shell("echo up; sleep 1000; :");
    asked.confinement = policy;
    asked.working_directory =
        ::open((tree_ / "workspace").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    asked.timeout_ms = no_deadline_ms;
    const auto made = table.start(asked, process_streams::terminal);
    ::close(asked.working_directory);
    if (!made) return 0;
    (void)made->read({.wait_ms = 60'000});
    const auto all = processes_with(cookie_);
    return all.empty() ? 0 : std::ranges::max(all); // the shell, behind its supervisor
  }

  /// One character per attempt.
  void attempt_all(const std::vector<const char*>& attempts, const confinement_policy& policy,
                   int out, manner how = manner::command) {
    process_table table;
    pid_t bystander = ::getpid();
    if (how == manner::command) bystander = ::fork();
    if (bystander == 0)
      for (;;)
        ::pause();
    ::dup2(::open("/dev/null", O_RDONLY), 9);
    ::dup2(listen_at(std::string(1, '\0') + tree_ / "outside"), 8);
    if (how == manner::terminal) bystander = another_of(table, policy);
    const int memory = ::shmget(bystander, 1, IPC_CREAT | 0600);
    const int queue = ::msgget(bystander, IPC_CREAT | 0600);
    const int semaphore = ::semget(bystander, 1, IPC_CREAT | 0600);
    listen_at(tree_ / "outside/socket");
    port_ = take_port();
    terminal_ = take_terminal();
    for (const char* attempt : attempts) {
      set_up(attempt);
      const auto asked = probe(attempt, bystander, policy);
      const auto code = exit_code_of(asked, table, how);
      ::close(asked.working_directory);
      char mark = '?';
      if (!code)
        mark = 'E';
      else if (*code == 0)
        mark = '+';
      else if (*code == 1)
        mark = '-';
      (void)!::write(out, &mark, 1);
    }
    ::shmctl(memory, IPC_RMID, nullptr);
    ::msgctl(queue, IPC_RMID, nullptr);
    ::semctl(semaphore, 0, IPC_RMID);
    if (how == manner::command) {
      ::kill(bystander, SIGKILL);
      ::waitpid(bystander, nullptr, 0);
    }
    ::unlink((tree_ / "outside/socket").c_str());
  }

  void use_everyday_tools(int out) const;

  std::uint16_t port_ = 0; ///< of somebody outside
  std::string terminal_;   ///< another's

  /// Every row by a command; processes try a sample of them.
  void expect_matrix(who user, manner how = manner::command,
                     const std::vector<column>& machines = columns()) {
    std::vector<const row*> tried;
    for (std::size_t i = 0; i < std::size(rows); ++i)
      if (how == manner::command || i % test::campaign_step() == 0) tried.push_back(&rows[i]);
    std::vector<const char*> attempts;
    for (const row* each : tried)
      attempts.push_back(each->attempt);
    std::size_t index = 0;
    for (const column& each : machines) {
      if (each.name == nullptr) {
        ++index;
        continue;
      }
      SCOPED_TRACE(each.name);
      const auto marks = in_process(user, each.kind,
                                    [&](int out) { attempt_all(attempts, each.policy, out, how); });
      if (!marks) GTEST_SKIP() << "the build directory is private";
      ASSERT_EQ(marks->size(), attempts.size());
      for (std::size_t i = 0; i < attempts.size(); ++i) {
        const char* expected = user == who::root ? tried[i]->as_root : tried[i]->as_ordinary;
        if (how == manner::terminal) expected = in_own_terminal(attempts[i], expected);
        if (expected[index] == '?') continue;
        EXPECT_EQ((*marks)[i], expected[index]) << attempts[i];
      }
      ++index;
    }
  }

  /// Whether this machine has all that the default policy wants.
  [[nodiscard]] static bool is_complete() {
    const auto report = probe_confinement({}, PADDOCK_TEST_HELPER);
    return report && report->complete();
  }
};

TEST_F(Confinement, HoldsAsRoot) {
  if (!is_root()) GTEST_SKIP() << "not root";
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  expect_matrix(who::root);
}

TEST_F(Confinement, HoldsAsAnOrdinaryUser) {
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  expect_matrix(who::ordinary);
}

/// The rest is the broker's: the same as without namespaces on this kernel.
TEST_F(Confinement, HoldsWithTheFirstLandlockAsRoot) {
  if (!is_root()) GTEST_SKIP() << "not root";
  if (!is_complete() || !can_imitate_older_landlock) GTEST_SKIP() << "a layer is unavailable";
  expect_matrix(who::root, manner::command, with_the_first_landlock());
}

TEST_F(Confinement, HoldsWithTheFirstLandlockAsAnOrdinaryUser) {
  if (!is_complete() || !can_imitate_older_landlock) GTEST_SKIP() << "a layer is unavailable";
  expect_matrix(who::ordinary, manner::command, with_the_first_landlock());
}

TEST_F(Confinement, HoldsForProcessesAsRoot) {
  if (!is_root()) GTEST_SKIP() << "not root";
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  for (const manner how : {manner::process, manner::terminal})
    expect_matrix(who::root, how);
}

TEST_F(Confinement, HoldsForProcessesAsAnOrdinaryUser) {
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  for (const manner how : {manner::process, manner::terminal})
    expect_matrix(who::ordinary, how);
}

TEST_F(Confinement, EachLayerIsWhatHoldsItsRow) {
  const struct {
    const char* attempt;
    std::vector<confinement_layer> off;
    // An ordinary user has these layers by a user namespace, which alone holds the row, too.
    std::vector<confinement_layer> off_without_privileges = {};
  } cases[] = {
      {"E01-read", {confinement_layer::file_system}},
      {"E02-create", {confinement_layer::file_system}},
      {"E10-udp", {confinement_layer::network}},
      {"E15-signal", {confinement_layer::kill}},
      {"E21-read", {confinement_layer::protected_entries}},
      {"E05-chmod", {confinement_layer::file_system}},
      {"E06-stat", {confinement_layer::file_system}},
      {"E08-tcp", {confinement_layer::network}},
      {"E12-pathname", {confinement_layer::network, confinement_layer::file_system}},
      {"E16-ptrace",
       {confinement_layer::kill, confinement_layer::file_system, confinement_layer::network,
        confinement_layer::ipc, confinement_layer::privileges,
        confinement_layer::protected_entries}}, // whose mounts are locked by a user namespace
      {"E20-affinity",
       {confinement_layer::kill, confinement_layer::network, confinement_layer::privileges},
       {confinement_layer::file_system, confinement_layer::ipc,
        confinement_layer::protected_entries}},
      {"E24-unshare", {confinement_layer::privileges, confinement_layer::network}},
      {"E40-message-queue", {confinement_layer::ipc}},
      {"E40-semaphore", {confinement_layer::ipc}},
      {"E40-shared-memory", {confinement_layer::ipc}},
      {"E13-io-uring", {confinement_layer::privileges, confinement_layer::network}},
  };
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  for (const auto& c : cases) {
    SCOPED_TRACE(c.attempt);
    confinement_policy policy;
    for (const confinement_layer layer : c.off)
      policy.wanted(layer) = demand::off;
    if (!is_root()) {
      for (const confinement_layer layer : c.off_without_privileges)
        policy.wanted(layer) = demand::off;
    }
    const auto marks = in_process(is_root() ? who::root : who::ordinary, machine::whole,
                                  [&](int out) { attempt_all({c.attempt}, policy, out); });
    EXPECT_EQ(marks, "+");
  }
}

TEST_F(Confinement, BoundsHold) {
  const struct {
    const char* attempt;
    resource_limits bounds;
    who user;
  } cases[] = {
      {"E27-processes", {.processes = 20}, who::ordinary}, // root has none
      {"E28-memory", {.memory_bytes = 64UL << 20}, who::ordinary},
      {"E34-file-size", {.file_size_bytes = 1UL << 20}, who::ordinary},
      {"E28-memory", {.memory_bytes = 64UL << 20}, who::root},
      {"E34-file-size", {.file_size_bytes = 1UL << 20}, who::root},
  };
  for (const auto& c : cases) {
    if (c.user == who::root && !is_root()) continue;
    SCOPED_TRACE(c.attempt);
    for (const demand wanted : {demand::best_effort, demand::off}) {
      confinement_policy policy;
      policy.bounds = c.bounds;
      policy.limits = wanted;
      const auto marks = in_process(c.user, machine::whole,
                                    [&](int out) { attempt_all({c.attempt}, policy, out); });
      if (!marks) GTEST_SKIP() << "the build directory is private";
      EXPECT_EQ(marks, wanted == demand::off ? "+" : "-");
    }
  }
}

TEST_F(Confinement, WhatLiesBehindAProtectedLinkIsHiddenToo) {
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  for (const char* target : {"outside", "workspace/elsewhere", "missing"}) {
    SCOPED_TRACE(target);
    std::filesystem::remove_all(tree_ / "workspace");
    tree_.directory("workspace/elsewhere");
    tree_.file("outside/secret", "secret");
    tree_.file("workspace/elsewhere/secret", "secret");
    tree_.link("workspace/.perstack", tree_ / target);
    auto asked = shell("cat .perstack/secret; ls .perstack/; rm -f .perstack; mv .perstack taken; "
                       "mkdir .perstack; readlink .perstack; ln -sfn / .perstack; true");
    asked.confinement = {};
    asked.confinement.protected_entries = demand::required;
    asked.workspace = ::open((tree_ / "workspace").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    asked.working_directory = asked.workspace;
    const auto r = run(asked);
    ::close(asked.workspace);
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->out.text(), "");
    EXPECT_EQ(std::filesystem::read_symlink(tree_ / "workspace/.perstack"), tree_ / target);
    EXPECT_FALSE(tree_.exists("workspace/taken"));
  }
}

TEST(ConfinementLayer, EachHasItsOwnNameAndAText) {
  std::set<std::string_view> names;
  for (const confinement_layer layer : confinement_layers) {
    EXPECT_TRUE(names.insert(wire_name(layer)).second) << wire_name(layer);
    EXPECT_FALSE(text(layer).empty()) << wire_name(layer);
  }
  const auto none = static_cast<confinement_layer>(255);
  EXPECT_EQ(wire_name(none), "unknown");
  EXPECT_EQ(text(none), "");
}

TEST(ConfinementLayer, WhatIsNotHeldIsInTheDocumentsInTheSameWords) {
  std::ifstream in(PADDOCK_TEST_PAGE);
  ASSERT_TRUE(in);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  int openings = 0;
  for (const confine::layer_rule& rule : confine::layer_rules) {
    if (rule.opening == nullptr) continue;
    EXPECT_THAT(page, testing::HasSubstr(rule.opening));
    ++openings;
  }
  EXPECT_GT(openings, 0);
}

TEST(ConfinementPolicy, NamesWhatIsRequiredAndMissing) {
  confinement_report report;
  EXPECT_TRUE(report.complete());
  EXPECT_TRUE(report.satisfied());
  EXPECT_EQ(report.unmet(), "");
  report.of(confinement_layer::network).wanted = demand::best_effort;
  report.of(confinement_layer::network).missing = "too old";
  EXPECT_FALSE(report.complete());
  EXPECT_TRUE(report.satisfied());
  EXPECT_EQ(report.unmet(), "");
  report.of(confinement_layer::ipc).wanted = demand::required;
  report.of(confinement_layer::ipc).missing = "no namespaces";
  EXPECT_FALSE(report.satisfied());
  EXPECT_EQ(report.unmet(), " ipc (no namespaces)");
  EXPECT_EQ(report.remedies(), "");
  EXPECT_EQ(shortfall(report.of(confinement_layer::ipc)), "missing: no namespaces");
  report.of(confinement_layer::network).remedy = "not asked for";
  report.of(confinement_layer::ipc).remedy = "allow them";
  EXPECT_EQ(report.remedies(), "allow them");
  EXPECT_EQ(shortfall(report.of(confinement_layer::ipc)), "missing: no namespaces; allow them");
  EXPECT_EQ(shortfall(report.of(confinement_layer::kill)), "");
  report.of(confinement_layer::ipc).applied = true;
  EXPECT_TRUE(report.satisfied());
}

TEST(ConfinementPolicy, DirectoriesOfTheSystemAreNoWorkspaces) {
  for (const char* path : {"/", "/dev", "/proc", "/proc/1", "/sys", "/sys/fs/cgroup"})
    EXPECT_TRUE(is_of_system(path)) << path;
  for (const char* path :
       {"", "/dev/shm", "/dev/shm/a", "/process", "/system", "/srv/proc", "/usr"})
    EXPECT_FALSE(is_of_system(path)) << path;
}

// --- what the caller is told --------------------------------------------------------------------

TEST_F(Confinement, RefusesWhenARequiredLayerIsMissing) {
  const struct {
    machine kind;
    confinement_layer layer;
    error_code code;
  } cases[] = {
      {machine::without_namespaces, confinement_layer::protected_entries,
       error_code::confinement_unavailable},
      {machine::without_namespaces, confinement_layer::ipc, error_code::confinement_unavailable},
      {machine::without_landlock_and_seccomp, confinement_layer::privileges,
       error_code::confinement_unavailable},
      {machine::without_mount_attributes, confinement_layer::protected_entries,
       error_code::confinement_unavailable},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(wire_name(c.layer));
    const auto told = in_process(who::ordinary, c.kind, [&](int out) {
      auto policy = confinement_policy::best_effort();
      policy.wanted(c.layer) = demand::required;
      auto asked = probe("X-workspace", 1, policy);
      const auto r = run(asked);
      const auto& row = (r ? r->confinement : r.error().confinement).of(c.layer);
      std::string text = r ? "ran" : std::string(wire_name(r.error().code));
      text += row.applied ? " applied" : " missing";
      text += row.missing.empty() ? " silent" : " told";
      text += ::access((tree_ / "workspace/written").c_str(), F_OK) == 0 ? " wrote" : " untouched";
      (void)!::write(out, text.data(), text.size());
    });
    if (!told) GTEST_SKIP() << "the build directory is private";
    EXPECT_EQ(*told, std::string(wire_name(c.code)) + " missing told untouched");
  }
}

TEST_F(Confinement, NamesTheRemedyOfTheCause) {
  const struct {
    machine kind;
    confinement_layer layer;
    const char* told;
    const char* untold;
  } cases[] = {
      {machine::without_namespaces, confinement_layer::ipc, "allow user namespaces", "kernel"},
      {machine::without_namespaces, confinement_layer::protected_entries, "allow user namespaces",
       "kernel"},
      {machine::without_landlock_and_seccomp, confinement_layer::privileges,
       "use a kernel with seccomp filters", "namespaces"},
      {machine::without_mount_attributes, confinement_layer::file_system,
       "use Linux 5.12 or later for a mount namespace", "security profile"},
      {machine::without_mount_attributes, confinement_layer::protected_entries,
       "use Linux 5.12 or later for a mount namespace", "security profile"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(wire_name(c.layer));
    const auto told = in_process(who::ordinary, c.kind, [&](int out) {
      const auto r = run(probe("E01-read", 1, confinement_policy::best_effort()));
      const std::string text = r ? r->confinement.of(c.layer).remedy : "failed";
      (void)!::write(out, text.data(), text.size());
    });
    if (!told) GTEST_SKIP() << "the build directory is private";
    EXPECT_THAT(*told, testing::HasSubstr(c.told));
    EXPECT_THAT(*told, testing::Not(testing::HasSubstr(c.untold)));
  }
}

TEST_F(Confinement, ASystemDirectoryIsNoWorkspace) {
  for (const char* path : {"/", "/proc", "/dev"}) {
    SCOPED_TRACE(path);
    auto asked = make({"true"});
    asked.confinement = {};
    const file_descriptor place(::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
    asked.working_directory = asked.workspace = place.get();
    const auto r = run(asked);
    ASSERT_THAT(r, IsError(error_code::confinement_unavailable));
    EXPECT_THAT(r.error().confinement.unmet(), testing::HasSubstr("belongs to the system"));
    EXPECT_THAT(r.error().confinement.remedies(), testing::HasSubstr("choose another workspace"));
    const auto tried = probe_confinement({}, PADDOCK_TEST_HELPER, place.get());
    ASSERT_THAT(tried, IsOk());
    EXPECT_EQ(tried->unmet(), r.error().confinement.unmet());
  }
}

TEST_F(Confinement, TheDefaultPolicyRunsWithoutNamespaces) {
  const auto told = in_process(who::ordinary, machine::without_namespaces, [&](int out) {
    const auto asked = probe("E01-read", 1, {});
    const auto r = run(asked);
    std::string text = r ? "" : std::string(wire_name(r.error().code));
    if (r)
      for (const layer_report& row : r->confinement.layers)
        text += std::string(wire_name(row.layer)) + (row.applied ? "+" : "-") +
                (row.missing.empty() ? " " : "! ");
    (void)!::write(out, text.data(), text.size());
  });
  if (!told) GTEST_SKIP() << "the build directory is private";
  if (told->find("confinement_unavailable") == 0) GTEST_SKIP() << "no Landlock";
  EXPECT_EQ(*told, "file_system+! network+ kill+ protected-! ipc-! privileges+ limits+ ");
}

TEST_F(Confinement, WithoutItsOwnProcessesAnOrdinaryCommandHasLandlockAlone) {
  // A /proc of its own needs a PID namespace, and a root directory needs a /proc.
  const auto told = in_process(who::ordinary, machine::whole, [&](int out) {
    confinement_policy policy;
    policy.kill = demand::off;
    const auto r = run(probe("E01-read", 1, policy));
    std::string text = r ? "" : std::string(wire_name(r.error().code));
    if (r) {
      const layer_report& files = r->confinement.of(confinement_layer::file_system);
      text = std::to_string(r->exit_code.value_or(-1)) + " " + files.mechanism +
             (files.missing.empty() ? "" : ", open: " + files.missing);
    }
    (void)!::write(out, text.data(), text.size());
  });
  if (!told) GTEST_SKIP() << "the build directory is private";
  if (*told == "confinement_unavailable") GTEST_SKIP() << "no Landlock";
  EXPECT_EQ(*told, "1 Landlock, filter of attribute calls, broker of attributes, open: names and "
                   "attributes of files outside can be seen (mount namespace: Operation not "
                   "permitted)");
}

TEST_F(Confinement, TheProbeFindsWhatIsThere) {
  const auto report = probe_confinement({}, PADDOCK_TEST_HELPER);
  ASSERT_THAT(report, IsOk());
  for (const layer_report& row : report->layers) {
    SCOPED_TRACE(wire_name(row.layer));
    EXPECT_EQ(row.applied, !row.mechanism.empty());
    EXPECT_TRUE(row.applied || !row.missing.empty());
  }
  const auto nothing = probe_confinement(confinement_policy::host(), PADDOCK_TEST_HELPER);
  ASSERT_THAT(nothing, IsOk());
  for (const layer_report& row : nothing->layers)
    EXPECT_FALSE(row.applied);
}

TEST_F(Confinement, RefusesAPolicyThatMakesNoSense) {
  for (const char* path : {"", "relative", "/", "/a/../b", "/a//b", "/a/"}) {
    SCOPED_TRACE(path);
    auto asked = make({"true"});
    asked.confinement = {};
    asked.confinement.write_paths = {path};
    const auto r = run(asked);
    ASSERT_THAT(r, IsError(error_code::invalid_argument));
    EXPECT_STREQ(r.error().operation, "policy");
  }
  auto endless = make({"true"});
  endless.confinement.read_paths.assign(150'000, "/usr/share/no-such-directory");
  EXPECT_THAT(run(endless), IsError(error_code::invalid_argument));
  for (const char* name : {"", ".", "..", "a/b"}) {
    SCOPED_TRACE(name);
    auto asked = make({"true"});
    asked.confinement.protected_names = {{name, protection::hidden}};
    EXPECT_THAT(run(asked), IsError(error_code::invalid_argument));
  }
}

TEST_F(Confinement, LeavesNothingInTheWorkspace) {
  auto asked = make({"true"});
  asked.confinement = confinement_policy::best_effort();
  ASSERT_THAT(run(asked), IsOk());
  EXPECT_FALSE(tree_.exists(".perstack"));
}

/// How system calls of this process are filtered.
std::string seccomp_lines() {
  std::ifstream status("/proc/self/status");
  std::string found;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Seccomp")) found += line + '\n';
  return found;
}

TEST_F(Confinement, NothingSticksToThisProcess) {
  const std::string filters = seccomp_lines();
  EXPECT_THAT(filters, testing::HasSubstr("Seccomp:"));
  auto asked = make({"true"});
  asked.confinement = confinement_policy::best_effort();
  ASSERT_THAT(run(asked), IsOk());
  tree_.file("outside/before", "x");
  EXPECT_GE(::socket(AF_INET, SOCK_DGRAM, 0), 0);
  EXPECT_EQ(seccomp_lines(), filters);
}

TEST_F(Confinement, ExtraPathsAreWhatTheyAreSaidToBe) {
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  tree_.directory("extra");
  tree_.file("extra/file", "extra");
  const struct {
    const char* name;
    bool read;
    bool write;
    int exit_code;
  } cases[] = {{"neither", false, false, 1}, {"read", true, false, 2}, {"write", false, true, 0}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string extra = tree_ / "extra";
    auto asked = shell("cat " + extra + "/file || exit 1; echo x > " + extra + "/new || exit 2");
    asked.confinement = {};
    asked.workspace = ::open((tree_ / "workspace").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    asked.working_directory = asked.workspace;
    if (c.read) asked.confinement.read_paths = {extra};
    if (c.write) asked.confinement.write_paths = {extra};
    const auto r = run(asked);
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->exit_code, c.exit_code) << r->err.text();
    ::close(asked.workspace);
  }
}

// --- everyday tools -----------------------------------------------------------------------------

/// Writes what went wrong.
void Confinement::use_everyday_tools(int out) const {
  const struct {
    const char* program;
    const char* script;
  } cases[] = {
      {"gcc", "echo 'int main(void){return 0;}' > a.c && gcc a.c -o a && ./a"},
      {"g++", "echo '#include <string>\nint main(){return 0;}' > b.cc && g++ b.cc -o b && ./b"},
      {"make", "printf 'all:\\n\\techo made > made\\n' > Makefile && make && cat made"},
      {"cmake", "mkdir -p c && echo 'cmake_minimum_required(VERSION 3.10)\nproject(x NONE)' > "
                "c/CMakeLists.txt && cmake -S c -B c/build"},
      {"git", "git init -q g && cd g && git -c user.name=x -c user.email=x@y commit -q "
              "--allow-empty -m m && git log --oneline"},
      {"python3", "python3 -c 'import subprocess; subprocess.run([\"true\"], check=True)'"},
      {"python3", "printf 'import multiprocessing as m\ndef f(x): return x*x\nif __name__ == "
                  "\"__main__\":\n  with m.Pool(2) as p: print(p.map(f, [1,2]))\n' > p.py && "
                  "python3 p.py"},
      {"node", "node -e 'console.log(require(\"os\").cpus().length > 0)'"},
      {"npm", "mkdir -p n && cd n && npm init -y >/dev/null && npm install --offline"},
      {"perl", "perl -e 'use POSIX; print getpid(), \"\\n\"'"},
      {"tar", "echo x > t && tar czf t.tgz t && tar xzf t.tgz"},
      {"sort", "seq 100000 | sort -R -S 64K | sort -n | tail -1"},
      {"bash", "bash -c 'cat <(echo substituted)'"},
      {"ps", "ps -e"},
      {"id", "id -un"},
  };
  for (const auto& c : cases) {
    auto asked = shell(c.script);
    asked.confinement = {};
    asked.environment = {std::string("PATH=") + std::getenv("PATH"),
                         std::string("HOME=") + (std::getenv("HOME") ? std::getenv("HOME") : "/")};
    auto look = asked;
    look.argv = {"sh", "-c", std::string("command -v ") + c.program};
    look.confinement = confinement_policy::host();
    const auto found = run(look);
    if (found && found->exit_code != 0) continue; // not installed
    const auto r = run(asked);
    std::string text;
    if (!r)
      text = std::string(c.program) + ": " + std::string(wire_name(r.error().code)) + "\n";
    else if (r->exit_code != 0)
      text = std::string(c.script) + "\n" + r->out.text() + r->err.text() + "\n";
    (void)!::write(out, text.data(), text.size());
  }
}

TEST_F(Confinement, EverydayToolsWorkAsRoot) {
  if (!is_root()) GTEST_SKIP() << "not root";
  EXPECT_EQ(in_process(who::root, machine::whole, [&](int out) { use_everyday_tools(out); }), "");
}

TEST_F(Confinement, EverydayToolsWorkAsAnOrdinaryUser) {
  if (is_root() && ::chown(tree_.path().c_str(), nobody, nobody) != 0) FAIL() << "cannot chown";
  const auto complaints =
      in_process(who::ordinary, machine::whole, [&](int out) { use_everyday_tools(out); });
  if (!complaints) GTEST_SKIP() << "the build directory is private";
  EXPECT_EQ(complaints, "");
}

/// What Landlock alone costs then: no program is told that it has changed an attribute when it has
/// not.
TEST_F(Confinement, WithLandlockAloneProgramsHearThatAttributesStayAsTheyAre) {
  const struct {
    const char* script;
    bool works;
  } cases[] = {
      {"echo x > a && cp a b && mv b c && ln -s c d && mkdir e && rm -r a c d e", true},
      {"echo x > a && cat a && echo y >> a && grep y a", true},
      {"echo x > a && tar cf t a && tar xOf t", true},
      {"echo x > a && touch a", false},
      {"echo x > a && chmod +x a", false},
      {"echo x > a && cp -p a b", false},
      {"echo x > a && tar cf t a && tar xf t", false}, // it is there, but for its time
      {"echo x > a && install -m 755 a b", false},
  };
  const auto answers = in_process(who::ordinary, machine::without_namespaces, [&](int out) {
    if (!is_listened_to()) return;
    for (const auto& c : cases) {
      auto asked = probe("", 1, {});
      asked.argv = {"sh", "-c", c.script};
      const auto r = run(asked);
      const char mark = !r ? 'E' : r->exit_code == 0 ? '+' : '-';
      (void)!::write(out, &mark, 1);
    }
  });
  if (!answers) GTEST_SKIP() << "the build directory is private";
  if (answers->starts_with('E')) GTEST_SKIP() << "no Landlock";
  std::string expected;
  for (const auto& c : cases)
    expected += c.works ? '+' : '-';
  EXPECT_EQ(*answers, expected);
}

/// With Landlock alone the scratch directory is one of /tmp, and the command shapes what is in it.
TEST_F(Confinement, WithLandlockAloneNothingOfTheScratchDirectoryStays) {
  constexpr const char* script =
      "cd $TMPDIR; pwd; d=$(printf 'a-name-of-some-length/%.0s' $(seq 100)); for i in 1 2 3; do "
      "mkdir -p $d && cd -P $d || exit 3; done; echo x > file; mkdir -m 0 closed; cd $TMPDIR; "
      "mkdir -p fixed/below && mkdir -m 500 fixed/readable && echo made";
  const auto told = in_process(who::ordinary, machine::without_namespaces, [&](int out) {
    auto asked = probe("", 1, {});
    asked.argv = {"sh", "-c", script};
    const auto r = run(asked);
    const std::string text = r ? r->out.text() : std::string(wire_name(r.error().code));
    (void)!::write(out, text.data(), text.size());
  });
  if (!told) GTEST_SKIP() << "the build directory is private";
  if (*told == "confinement_unavailable") GTEST_SKIP() << "no Landlock";
  ASSERT_THAT(*told, testing::MatchesRegex("/tmp/paddock-scratch-[0-9]+\nmade\n"));
  EXPECT_FALSE(std::filesystem::exists(told->substr(0, told->find('\n'))));
}

} // namespace
} // namespace paddock::test
