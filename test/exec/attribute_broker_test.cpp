// SPDX-License-Identifier: MIT

// Mode, owner, times and attributes of files where a command has no mounts of its own: as outside
// of the fence in the workspace and the scratch directory, and nowhere else, whatever is tried.

#include "support/process/broker_fixture.hpp"

namespace paddock::test {
namespace {

class AttributeBroker : public broker_fixture {
protected:
  void SetUp() override {
    broker_fixture::SetUp();
    tree_.directory("out");
    tree_.file("out/f", "outside");
    tree_.directory("ws/kept/.git/hooks");
    tree_.file("ws/kept/.git/HEAD", "ref: refs/heads/main\n");
    for (const char* each : {"/out", "/out/f", "/ws/kept", "/ws/kept/.git", "/ws/kept/.git/HEAD",
                             "/ws/kept/.git/hooks"})
      give_away(each);
  }
  [[nodiscard]] std::string state_outside() const {
    struct stat s{};
    EXPECT_EQ(::stat((tree_.path() + "/out/f").c_str(), &s), 0);
    return std::to_string(s.st_mode) + ' ' + std::to_string(s.st_size) + ' ' +
           std::to_string(s.st_mtim.tv_sec) + '.' + std::to_string(s.st_mtim.tv_nsec) + ' ' +
           std::to_string(s.st_ctim.tv_sec) + '.' + std::to_string(s.st_ctim.tv_nsec);
  }
};

// Before the third version of Landlock sizes are among what it does not judge.
INSTANTIATE_TEST_SUITE_P(As, AttributeBroker,
                         testing::Values(fenced_as{}, fenced_as{.ordinary = true},
                                         fenced_as{.landlock = 1},
                                         fenced_as{.ordinary = true, .landlock = 2}),
                         name_of);

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
      "cd ../shared && echo 1 > f && chmod 640 f && touch -d 2001-01-01 f && stat -c '%a %Y' f",
      "rm -rf r; git init -q r && cd r && git config user.name a && git config user.email b && "
      "echo 1 > a && git add a && git commit -qm 1 && chmod 755 a && git status --short",
      "rm -rf v; python3 -m venv --without-pip v && v/bin/python -c 'print(1)'",
      "install -m 604 /dev/null i && stat -c %a i",
      "echo 123 > f; truncate -s 2 f; stat -c %s f; echo 1 > f; echo 12 >> f; cat f",
      R"py(echo 123 > f; python3 -c "
import os
os.truncate('f', 2); print(os.stat('f').st_size)
try: os.truncate('.', 2)
except OSError as e: print(e.errno)
")py",
      R"py(echo 123 > f; python3 -c "
import os, resource
resource.setrlimit(resource.RLIMIT_FSIZE, (9, 9))
for size in (9, 10, 1 << 40, 2):
  try: os.truncate('f', size)
  except OSError as e: print(e.errno)
  print(os.stat('f').st_size)
")py",
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
      "truncate -s 1 ../out/f",
      R"py(python3 -c "import os
os.truncate('../out/f', 1)")py",
      R"py(python3 -c "import os
os.open('../out/f', os.O_RDONLY | os.O_TRUNC)")py",
      R"py(python3 -c "import os
os.open('../out/f', 3 | os.O_TRUNC)")py",
      R"py(echo > f; ulimit -f 8; python3 -c "import os, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
os.truncate('f', 1 << 30)")py",
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

TEST_P(AttributeBroker, WithoutLandlockSizesAreNobodysBusiness) {
  has_all_of_landlock_ = true;
  const std::string script = R"py(python3 -c "import os
os.truncate('../out/f', 1); os.open('../out/f', os.O_RDONLY | os.O_TRUNC)
print(os.stat('../out/f').st_size)")py";
  EXPECT_EQ(run_where(true, script), run_where(false, script));
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
