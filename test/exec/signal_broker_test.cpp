// SPDX-License-Identifier: MIT

// Signals of a command without a PID namespace, where Landlock does not judge them: as outside of
// the fence among its own processes, and to nobody else, whatever is tried.

#include "support/process/broker_fixture.hpp"

#include <linux/sched.h>
#include <sys/syscall.h>

namespace paddock::test {
namespace {

/// Somebody else's process of the same user, which leads a group.
class victim {
public:
  explicit victim(void (*become)(), pid_t number = 0) {
    clone_args how{};
    how.exit_signal = SIGCHLD;
    if (number != 0) how.set_tid = reinterpret_cast<std::uint64_t>(&number), how.set_tid_size = 1;
    int ready[2];
    EXPECT_EQ(0, ::pipe2(ready, O_CLOEXEC));
    id_ = static_cast<pid_t>(::syscall(SYS_clone3, &how, sizeof how));
    if (id_ == 0) {
      become();
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::setsid();
      (void)!::write(ready[1], "", 1);
      for (;;)
        ::pause();
    }
    char byte = 0;
    if (id_ > 0) {
      EXPECT_EQ(1, ::read(ready[0], &byte, 1));
    }
    ::close(ready[0]);
    ::close(ready[1]);
  }
  victim(const victim&) = delete;
  victim& operator=(const victim&) = delete;
  ~victim() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  [[nodiscard]] pid_t id() const { return id_; }
  [[nodiscard]] bool is_unharmed() const {
    int status = 0;
    return ::waitpid(id_, &status, WNOHANG | WUNTRACED) == 0;
  }

private:
  pid_t id_ = -1;
};

class SignalBroker : public broker_fixture {};

INSTANTIATE_TEST_SUITE_P(As, SignalBroker,
                         testing::Values(fenced_as{}, fenced_as{.landlock = 1},
                                         fenced_as{.ordinary = true, .landlock = 5}),
                         name_of);

TEST_P(SignalBroker, OwnProcessesGetTheirSignals) {
  const char* const scripts[] = {
      "exec 2>&-; sleep 100 & kill $!; wait $!; echo $?", // a shell may say "Terminated"
      "exec 2>&-; trap 'echo got' TERM; kill $$; echo after; sh -c 'kill -ABRT $$'; echo $?",
      "timeout 0.01 sleep 100; echo $?; timeout -k 1 100 true; echo $?",
      "exec 2>&-; kill -0 $$; echo $?; true & wait; kill -0 $! || echo gone; kill -99 $$ || echo "
      "none",
      // an orphan, in a session of its own
      ("exec 2>&-; (setsid sh -c 'echo $$ > p; exec sleep 100' &); until test -s p; do :; done; "
       "kill $(cat "
       "p); "
       "while kill -0 $(cat p); do :; done; rm p; echo gone"),
      R"py(exec python3 -c "
import ctypes, os, signal, threading, time
libc = ctypes.CDLL(None, use_errno=True)
got = []
signal.signal(signal.SIGUSR1, lambda *a: got.append(1))
def until(n):
  while len(got) < n: time.sleep(0)
os.kill(os.getpid(), signal.SIGUSR1); until(1)
signal.raise_signal(signal.SIGUSR1); until(2)
signal.pthread_kill(threading.get_ident(), signal.SIGUSR1); until(3)
signal.pidfd_send_signal(os.pidfd_open(os.getpid()), signal.SIGUSR1); until(4)
libc.sigqueue(os.getpid(), int(signal.SIGUSR1), None); until(5)
tid = threading.get_native_id()
tkill = 200 if os.uname().machine == 'x86_64' else 130
t = threading.Thread(target=lambda: libc.syscall(tkill, tid, int(signal.SIGUSR1))); t.start(); until(6); t.join()
def child():
  r, w = os.pipe()
  pid = os.fork()
  if pid == 0:
    os.setpgid(0, 0); os.write(w, b'x'); signal.pause(); os._exit(9)
  os.read(r, 1)
  return pid
def ended(pid): print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
def member():
  r, w = os.pipe()
  pid = os.fork()
  if pid == 0:
    signal.signal(signal.SIGUSR1, signal.SIG_DFL); os.write(w, b'x'); signal.pause(); os._exit(9)
  os.read(r, 1)
  return pid
p = member(); os.kill(0, signal.SIGUSR1); until(7); ended(p)
p = member(); os.kill(-os.getpgrp(), signal.SIGUSR1); until(8); ended(p)
p = child(); os.kill(p, 15); ended(p)
p = child(); os.killpg(p, 1); ended(p)
p = child(); os.kill(p, signal.SIGSTOP); os.waitpid(p, os.WUNTRACED); os.kill(p, signal.SIGCONT)
os.waitpid(p, os.WCONTINUED); os.kill(p, 9); ended(p)
p = child(); signal.pidfd_send_signal(os.pidfd_open(p), 12); ended(p)
p = child(); print(libc.sigqueue(p, 15, None)); ended(p)
p, q = child(), child(); print(libc.kill(-1, 15)); ended(p); ended(q)
for call in (lambda: os.kill(-2**31, 0), lambda: os.kill(p, 0), lambda: os.killpg(p, 0), lambda: os.kill(os.getpid(), 77),
             lambda: signal.pidfd_send_signal(0, 15), lambda: signal.pidfd_send_signal(999, 15)):
  try: call(); print('done')
  except OSError as e: print(e.errno)
")py",
  };
  for (const char* const script : scripts) {
    SCOPED_TRACE(script);
    // kill(-1) without a fence would end what is nobody's business here.
    const bool is_for_all = std::string_view(script).find("kill(-1") != std::string_view::npos;
    const std::string fenced = run_where(true, script);
    if (!is_for_all) {
      EXPECT_EQ(fenced, run_where(false, script));
    } else {
      EXPECT_EQ(fenced, "-10\n-10\n-15\n-1\n-9\n-12\n0\n-15\n0\n-15\n-15\n3\n3\n3\n22\n9\n9\n 0");
    }
  }
}

TEST_P(SignalBroker, TheReportNamesWhatHolds) {
  const std::string said = run_where(true, "true", [](const command_outcome& ran) {
    const auto& kill = ran.confinement.of(confinement_layer::kill);
    const auto& files = ran.confinement.of(confinement_layer::file_system);
    return kill.mechanism + kill.missing + "; " + files.mechanism + "; " + files.missing;
  });
  const char* const kill =
      GetParam().landlock == 0 ? "Landlock and subreaper" : "broker of signals and subreaper";
  EXPECT_TRUE(said.starts_with(kill)) << said;
  EXPECT_THAT(said, testing::HasSubstr("; Landlock, filter of attribute calls, broker of "
                                       "attributes; names and attributes of files outside can be "
                                       "seen (mount namespace"));
}

TEST_P(SignalBroker, NothingRunsWhereNobodyCanAnswerAndLandlockJudgesTooLittle) {
  has_listener_ = true;
  const std::string said = run_where(true, "touch f; touch f; echo ran");
  if (GetParam().landlock == 0) {
    EXPECT_THAT(said, testing::HasSubstr("ran"));
    EXPECT_THAT(said, testing::HasSubstr("Operation not permitted"));
  } else {
    EXPECT_THAT(said, testing::HasSubstr("no other program listens"));
    EXPECT_THAT(said,
                testing::HasSubstr("broker of signals and subreaper: Device or resource busy"));
    EXPECT_EQ(said.find("file_system") != std::string::npos, GetParam().landlock < 3) << said;
  }
}

TEST_P(SignalBroker, NobodyElseGetsOne) {
  const victim other(become_user);
  const std::string id = std::to_string(other.id());
  const std::string python =
      "python3 -c \"\nimport ctypes, os, signal\nlibc = ctypes.CDLL(None, use_errno=True)\n"
      "tkill, tgkill, queue = " +
      std::to_string(SYS_tkill) + ", " + std::to_string(SYS_tgkill) + ", " +
      std::to_string(SYS_rt_tgsigqueueinfo) + "\nv = " + id +
      "\ndef must(r):\n  if r == -1: raise OSError(ctypes.get_errno(), '')\n";
  const std::string scripts[] = {
      "kill " + id,
      "kill -0 " + id,
      "kill -STOP " + id,
      "kill -- -" + id,
      "kill -9 $PPID",
      python + "signal.pidfd_send_signal(os.pidfd_open(v), 15)\"",
      python + "must(libc.sigqueue(v, 15, None))\"",
      python + "must(libc.syscall(tgkill, v, v, 15))\"",
      python + "must(libc.syscall(tkill, v, 15))\"",
      python + "b = ctypes.create_string_buffer(128); must(libc.syscall(queue, v, v, 15, b))\"",
  };
  for (const std::string& script : scripts) {
    SCOPED_TRACE(script);
    const std::string said = run_where(true, script);
    EXPECT_FALSE(said.ends_with(" 0")) << said;
    EXPECT_TRUE(other.is_unharmed());
  }
}

/// A newer Landlock lets the owner be named, and keeps the signal.
TEST_P(SignalBroker, NoDescriptorSendsOne) {
  const victim other(become_user);
  const std::string said = run_where(true, R"py(python3 -c "
import fcntl, os, signal, socket, struct
v = )py" + std::to_string(other.id()) + R"py(
ways = [lambda f: fcntl.fcntl(f, fcntl.F_SETOWN, v), lambda f: fcntl.fcntl(f, fcntl.F_SETOWN, -v),
        lambda f: fcntl.fcntl(f, 15, struct.pack('ii', 1, v)),
        lambda f: fcntl.ioctl(f, 0x8901, struct.pack('i', v)),
        lambda f: fcntl.ioctl(f, 0x8902, struct.pack('i', v))]
for way in ways:
  a, b = socket.socketpair()
  try: way(a)
  except OSError: pass
  fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
  fcntl.fcntl(a, 10, 9)
  b.send(b'x')
print('done')
")py");
  EXPECT_EQ(said, "done\n 0");
  EXPECT_TRUE(other.is_unharmed());
}

/// Neither the supervisor nor the command's parent, nor who runs them.
TEST_P(SignalBroker, NoOtherProcessCanBeNamed) {
  const std::string said = run_where(true, R"py(exec python3 -c "
import os
def reaches(p):
  try: os.kill(p, 0)
  except OSError: return False
  return True
me = os.getpid()
print([p - me for p in range(max(1, me - 2000), me + 100) if reaches(p)])
os.kill(-1, 9) # nobody is left but itself
")py");
  EXPECT_TRUE(said == "[0]\n 0" || said.starts_with("[0]\nTraceback")) << said;
}

/// A number of a process is one of another while the call waits for its answer.
TEST_P(SignalBroker, AnExchangeAfterTheCallHarmsNobody) {
  const victim other(become_user);
  const std::string said = run_where(true, R"py(python3 -c "
import ctypes, os, signal, threading
libc = ctypes.CDLL(None, use_errno=True) # lets other threads run meanwhile
child = os.fork()
if child == 0:
  signal.signal(15, signal.SIG_IGN)
  while True: signal.pause()
own, other, fd = os.pidfd_open(child), os.pidfd_open()py" +
                                               std::to_string(other.id()) + R"py(), 100
over = False
os.dup2(own, fd)
def exchange():
  while not over: libc.dup2(other, fd); libc.dup2(own, fd)
t = threading.Thread(target=exchange); t.start()
answers = [libc.syscall(424, fd, 15, None, 0) for i in range(1000)]
while len(set(answers)) < 2: answers.append(libc.syscall(424, fd, 15, None, 0))
over = True; t.join(); os.kill(child, 9)
print(sorted(set(answers)))
")py");
  EXPECT_EQ(said, "[-1, 0]\n 0"); // each of the two was met
  EXPECT_TRUE(other.is_unharmed());
}

/// Its number was a child's of the command.
TEST_P(SignalBroker, ANumberThatWasGivenAnewHarmsNobody) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes a right to choose a number";
  const std::string workspace = tree_.path() + "/ws/";
  for (const char* name : {"number", "go"}) {
    ASSERT_EQ(::mkfifo((workspace + name).c_str(), 0666), 0);
    ASSERT_EQ(::chmod((workspace + name).c_str(), 0666), 0);
  }
  const pid_t outside = ::fork();
  if (outside == 0) {
    int number = 0;
    std::ifstream(workspace + "number") >> number;
    const victim other(become_user, number);
    const bool made = other.id() == number;
    std::ofstream(workspace + "go") << (made ? "made" : "none") << std::endl;
    std::string answer;
    std::ifstream(workspace + "number") >> answer;
    ::_exit(!made ? 2 : other.is_unharmed() ? 0 : 1);
  }
  const std::string said = run_where(true, R"(sh -c 'exit 0' & wait; echo $! > number; read a < go
kill -9 $! 2>&- && echo reached; echo over > number; echo $a)");
  int status = -1;
  ASSERT_EQ(outside, ::waitpid(outside, &status, 0));
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no number can be chosen here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(said, "made\n 0");
}

/// Each process of a chain is followed up to the command, while its time limit waits.
TEST_P(SignalBroker, OneCallToManyDeepProcessesIsBounded) {
  if (GetParam().landlock == 0) GTEST_SKIP() << "the kernel's own call";
  const std::string said = run_where(true, R"py(python3 -c "
import os, signal
r, w = os.pipe()
if os.fork() == 0:
  for i in range(450):
    if os.fork(): signal.pause()
  os.write(w, b'x'); signal.pause()
os.read(r, 1)
try: os.kill(-1, 0)
except OSError as e: print(e.errno)
")py");
  EXPECT_EQ(said, std::to_string(EAGAIN) + "\n 0");
}

TEST_P(SignalBroker, NothingOutlivesTheCommand) {
  const std::string said = run_where(
      true, "for i in 1 2 3; do (setsid sh -c 'trap : TERM HUP; while :; do sleep 100; done' " +
                cookie_ + " &) ; done; echo started");
  EXPECT_EQ(said, "started\n 0");
  EXPECT_EQ(processes_with(cookie_), std::vector<pid_t>{});
}

} // namespace
} // namespace paddock::test
