// SPDX-License-Identifier: MIT

// Mode, owner, times and attributes of files where a command has no mounts of its own: as outside
// of the fence in the workspace and the scratch directory, and nowhere else, whatever is tried.

#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"

#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <functional>

namespace paddock::test {
namespace {

constexpr unsigned nobody = 65534;

class AttributeBroker : public command_fixture, public testing::WithParamInterface<bool> {
protected:
  AttributeBroker() {
    tree_.directory("ws");
    tree_.directory("out");
    tree_.file("out/f", "outside");
    tree_.directory("ws/kept/.git/hooks");
    tree_.file("ws/kept/.git/HEAD", "ref: refs/heads/main\n");
    for (const char* each : {"", "/ws", "/out", "/out/f", "/ws/kept", "/ws/kept/.git",
                             "/ws/kept/.git/HEAD", "/ws/kept/.git/hooks"}) {
      const std::string path = tree_.path() + each;
      EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
      if (is_ordinary()) {
        EXPECT_EQ(::chown(path.c_str(), nobody, nobody), 0);
      }
    }
  }
  [[nodiscard]] static bool is_ordinary() { return GetParam(); }

  /// Runs it in a process of its own, which has no namespaces, or has them all and no fence. What
  /// it has written, and how it has ended.
  [[nodiscard]] std::string run_where(bool is_fenced, const std::string& script) const {
    int told[2];
    EXPECT_EQ(0, ::pipe2(told, O_CLOEXEC));
    const pid_t host = ::fork();
    if (host == 0) {
      if (is_ordinary() &&
          (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0))
        ::_exit(2);
      if (is_fenced) become(machine::without_namespaces);
      command asked = shell(script);
      const std::string workspace = tree_.path() + "/ws";
      asked.working_directory = ::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
      asked.confinement = is_fenced ? confinement_policy{} : confinement_policy::host();
      if (is_fenced) asked.confinement.protected_entries = demand::best_effort;
      if (is_fenced) asked.confinement.read_paths = {tree_.path() + "/out"};
      const auto ran = run(asked);
      const std::string text = ran ? ran->out.text() + ran->err.text() + " " +
                                         std::to_string(ran->exit_code.value_or(-1))
                                   : explain(ran.error());
      (void)!::write(told[1], text.data(), text.size());
      ::_exit(0);
    }
    ::close(told[1]);
    std::string text(4096, '\0');
    std::size_t size = 0;
    for (ssize_t n = 0; (n = ::read(told[0], text.data() + size, text.size() - size)) > 0;)
      size += static_cast<std::size_t>(n);
    ::close(told[0]);
    text.resize(size);
    EXPECT_EQ(host, ::waitpid(host, nullptr, 0));
    return text;
  }
  [[nodiscard]] std::string state_outside() const {
    struct stat s {};
    EXPECT_EQ(::stat((tree_.path() + "/out/f").c_str(), &s), 0);
    return std::to_string(s.st_mode) + ' ' + std::to_string(s.st_mtim.tv_sec) + '.' +
           std::to_string(s.st_mtim.tv_nsec) + ' ' + std::to_string(s.st_ctim.tv_sec) + '.' +
           std::to_string(s.st_ctim.tv_nsec);
  }
};

INSTANTIATE_TEST_SUITE_P(As, AttributeBroker, testing::Bool(), [](const auto& of) {
  return of.param ? std::string("ordinary") : std::string("root");
});

TEST_P(AttributeBroker, OrdinaryCallsDoWhatTheyDoOutside) {
  const char* const scripts[] = {
      "echo 1 > f; touch f && touch -d 2001-01-01 f && stat -c %Y f",
      "echo 1 > f; chmod 640 f; stat -c %a f; chmod 0 f; stat -c %a f; rm -f f",
      "echo 1 > f; touch -d 2001-01-01 f; chmod 751 f; rm -f g; cp -p f g; stat -c '%a %Y' g",
      "rm -rf d; mkdir d; echo 1 > d/f; touch -d 2001-01-01 d/f; chmod 751 d/f d; tar cf t d && "
      "rm -r d && tar xf t && stat -c '%a %n' d d/f && stat -c %Y d/f",
      "rm -f s; ln -s nowhere s && touch -h -d 2002-02-02 s && stat -c %Y s; chmod 600 s",
      "rm -rf d; mkdir -p d/e; cd d/e; echo 1 > ../f; chmod 604 ../f; stat -c %a ../f",
      "cd ${TMPDIR:-/tmp} && echo 1 > t$$ && chmod 604 t$$ && stat -c %a t$$; rm t$$",
      "chmod 600 missing; touch -c missing; chmod 600 ''",
      "rm -rf r; git init -q r && cd r && git config user.name a && git config user.email b && "
      "echo 1 > a && git add a && git commit -qm 1 && chmod 755 a && git status --short",
      "rm -rf v; python3 -m venv --without-pip v && v/bin/python -c 'print(1)'",
      "install -m 604 /dev/null i && stat -c %a i",
      R"py(rm -f p; python3 -c "
import os
f = os.open('p', os.O_RDWR | os.O_CREAT)
os.fchmod(f, 0o604); os.utime(f, (3, 4)); os.fchown(f, -1, -1)
os.chown('p', os.geteuid(), os.getegid()); os.lchown('p', -1, -1)
d = os.open('.', os.O_RDONLY)
os.chmod('p', 0o640, dir_fd=d); os.utime('p', ns=(5, 6), dir_fd=d)
os.setxattr('p', 'user.a', b'1'); os.setxattr(f, 'user.b', b'2', os.XATTR_CREATE)
os.removexattr('p', 'user.a')
s = os.stat('p')
print(oct(s.st_mode), s.st_atime_ns, s.st_mtime_ns, os.listxattr('p'), os.getxattr(f, 'user.b'))
for call in (lambda: os.chmod('', 0), lambda: os.utime('none'), lambda: os.fchmod(99, 0),
             lambda: os.setxattr('p', 'user.b', b'', os.XATTR_CREATE),
             lambda: os.removexattr('p', 'user.none')):
  try: call(); print('done')
  except OSError as e: print(e.errno)
")py",
  };
  for (const char* const script : scripts) {
    SCOPED_TRACE(script);
    EXPECT_EQ(run_where(true, script), run_where(false, script));
  }
}

TEST_P(AttributeBroker, NothingElseIsChanged) {
  const std::string outside = tree_.path() + "/out";
  const std::string before = state_outside();
  const std::string scripts[] = {
      "chmod 777 " + outside + "/f",
      "chmod 777 ../out/f",
      "touch ../out/f",
      "ln -sfn ../out/f l; chmod 777 l; touch l",
      "ln -sfn " + outside + " l; chmod 777 l/f; touch -h l/f",
      "cd ../out && chmod 777 f",
      "touch -d 2001-01-01 /proc/self/cwd/../out/f",
      "echo > f; chmod u+s f; test -u f",
      "echo > f; chmod g+s f; test -g f",
      R"py(echo > f; python3 -c "import os
f = os.open('../out/f', os.O_RDONLY)
os.chmod('/proc/self/fd/%d' % f, 0o777)")py",
      R"py(python3 -c "import os
os.fchmod(os.open('../out/f', os.O_RDONLY), 0o777)")py",
      R"py(echo > f; python3 -c "import os
os.chown('f', 1, 1)")py",
      R"py(echo > f; python3 -c "import os
os.setxattr('f', 'security.a', b'1')")py",
      "echo > .envrc; chmod 777 .envrc",
      "chmod 777 kept/.git/hooks",
      "cd kept/.git/hooks && chmod 777 .",
  };
  for (const std::string& script : scripts) {
    SCOPED_TRACE(script);
    const std::string said = run_where(true, script);
    EXPECT_FALSE(said.ends_with(" 0")) << said;
  }
  EXPECT_EQ(state_outside(), before);
}

/// What a path leads to is exchanged while the call waits for its answer.
TEST_P(AttributeBroker, AnExchangeAfterTheCallChangesNothingOutside) {
  const std::string before = state_outside();
  const std::string said = run_where(true, R"py(echo > f; python3 -c "
import ctypes, os, threading
libc = ctypes.CDLL(None)
buffer = ctypes.create_string_buffer(b'./f', 64)
over = False
def exchange():
  while not over:
    ctypes.memmove(buffer, b'../out/f\0', 9)
    ctypes.memmove(buffer, b'./f\0', 4)
def swap():
  while not over:
    os.symlink('../out/f', 'n'); os.rename('n', 'f')
    open('n', 'w').close(); os.rename('n', 'f')
threads = [threading.Thread(target=exchange), threading.Thread(target=swap)]
for each in threads: each.start()
done = sum(libc.chmod(buffer, 0o777) == 0 for i in range(3000))
over = True
for each in threads: each.join()
print('some' if 0 < done else 'none')
")py");
  EXPECT_EQ(said, "some\n 0");
  EXPECT_EQ(state_outside(), before);
}

} // namespace
} // namespace paddock::test
