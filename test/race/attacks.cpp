// SPDX-License-Identifier: MIT
#include "attacks.hpp"

#include "support/files/skill_fixture.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::test {
namespace {

using reach = attack::reach;

constexpr attack attack_table[] = {
    {"directory_with_link", "ws/d", "ws/x", "ws/d", "d", reach::outside},
    {"directory_with_link_dotdot", "ws/d", "ws/x", "ws/d", "d/../d/../d", reach::outside},
    {"parent_with_link", "ws/p", "ws/px", "ws/p/q/d", "p/q/d", reach::outside},
    {"link_with_link", "ws/l", "ws/x", "ws/d", "l", reach::outside},
    {"victim_with_link", "ws/d/f.txt", "ws/d/fx", "ws/d", "d", reach::outside},
    {"way_with_outside", "ws/p/way", "out/way", "ws/p/q/d", "p/way/../q/d", reach::outside},
    {"deep_way_with_outside", "ws/p/way", "out/way", "ws/p/q/d", "p/way/in/../../q/d",
     reach::outside},
    {"directory_with_file", "ws/d", "ws/file", "ws/d", "d", reach::inside},
    {"directory_with_dangling_link", "ws/d", "ws/gone", "ws/d", "d", reach::inside},
    {"directory_with_link_to_file", "ws/d", "ws/lf", "ws/d", "d", reach::inside},
    {"directory_with_equivalent_link", "ws/d", "ws/same", "ws/d", "d", reach::same_place},
    {"link_with_equivalent_link", "ws/l", "ws/m", "ws/d", "l", reach::same_place},
    // What must not be seen or entered under any name, and what must not be waited for.
    {"directory_with_hidden_one", "ws/d", "ws/.perstack", "ws/d", "d", reach::hidden},
    {"victim_with_fifo", "ws/d/f.txt", "ws/fifo", "ws/d", "d", reach::inside},
    {"directory_with_device", "ws/d", "ws/device", "ws/d", "d", reach::inside},
    // The root is held by descriptor: it stays what it was, whatever its name leads to.
    {"root_with_outside", "ws", "out", "ws/d", "d", reach::same_place},
    {"root_with_outside_dotdot", "ws", "out", "ws/d", "d/../d/../d", reach::same_place},
};

} // namespace

std::span<const attack> attacks() {
  return attack_table;
}

void build_for_attacks(const canary_tree& canary) {
  const auto& t = canary.tree();
  for (const char* name : {"ws/d/skills/s", "ws/p/q/d/skills/s", "ws/p/way/in", "out/way/in"})
    t.directory(name);
  t.file("ws/file", "INSIDE");
  t.directory("folder/more");
  t.file("folder/SKILL.md", skill_md("imported", "INSIDE, imported"));
  t.file("folder/more/file", "INSIDE");
  const std::string mark(outside_mark);
  for (const char* directory :
       {"out/", "out/d/", "out/q/d/", "out/p/q/d/", "d/", "ws/.perstack/"}) {
    const std::string at = directory;
    t.directory(at + "sub/deep");
    t.file(at + "sub/deep/secret", mark);
    t.file(at + victim_name, mark + " in out");
    t.file(at + marker_name, mark + " in out");
    for (const char* id : {"s", "imported"}) {
      t.directory(at + "skills/" + id);
      t.file(at + "skills/" + id + "/SKILL.md", skill_md(id, mark));
    }
  }
  for (const char* directory : {"ws/d/", "ws/p/q/d/"}) {
    const std::string at = directory;
    t.file(at + marker_name, "INSIDE");
    t.file(at + "skills/s/SKILL.md", skill_md("s", "INSIDE"));
    t.link(at + "fx", "../../out/f.txt");
  }
  t.link("ws/x", "../out");
  t.link("ws/px", "../out");
  t.link("ws/l", "d");
  t.link("ws/m", "p/../d");
  t.link("ws/same", "same"); // at the name d it leads to the directory, which is then named same
  t.link("ws/lf", "file");
  t.link("ws/gone", "../out/not-there");
  EXPECT_EQ(0, ::mkfifo((t / "ws/fifo").c_str(), 0666));
  // The null of overlay file systems is one that every user may make.
  const std::string device = t / "ws/device";
  EXPECT_TRUE(::mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 5)) == 0 ||
              ::mknod(device.c_str(), S_IFCHR | 0666, makedev(0, 0)) == 0);
}

std::string describe_unmoved_outside(const canary_tree& canary) {
  const std::string all = describe_tree(canary.out());
  std::string kept;
  for (std::size_t at = 0; at < all.size();) {
    const auto end = all.find('\n', at) + 1;
    const std::string row = all.substr(at, end - at);
    const bool moving = row.find("/out/way") != std::string::npos;
    const bool top = row.starts_with(canary.out() + ' '); // its time changes with the exchange
    if (!moving && !top) kept += row;
    at = end;
  }
  for (const auto& entry : std::filesystem::directory_iterator(canary.tree().path()))
    if (entry.path() != canary.ws() && entry.path() != canary.out()) kept += entry.path();
  for (const char* other : {"ws-evil", "d", "ws/.perstack"})
    kept += describe_tree(canary.tree() / other);
  return kept;
}

// --- the attacker --------------------------------------------------------------------------------

attacker::attacker(attacker_kind kind, std::string a, std::string b) {
  void* memory = ::mmap(nullptr, sizeof(shared_state), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort(); // NOLINT: the macro casts
  shared_ = new (memory) shared_state;
  if (kind == attacker_kind::thread) {
    thread_ = std::thread(
        [this, a = std::move(a), b = std::move(b)] { work(*shared_, a.c_str(), b.c_str()); });
    return;
  }
  process_ = ::fork();
  if (process_ < 0) std::abort();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    work(*shared_, a.c_str(), b.c_str());
    ::_exit(0);
  }
}

attacker::~attacker() {
  shared_->done = true;
  if (thread_.joinable()) thread_.join();
  int status = 0;
  if (process_ > 0)
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
  EXPECT_EQ(status, 0) << "the attacker was stopped";
  ::munmap(shared_, sizeof(shared_state));
}

void attacker::work(shared_state& shared, const char* a, const char* b) {
  const auto exchange = [&] {
    return ::syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0;
  };
  bool odd = false;
  while (!shared.done.load(std::memory_order_relaxed)) {
    if (!exchange()) continue;
    odd = !odd;
    shared.swaps.fetch_add(1, std::memory_order_relaxed);
  }
  if (odd) exchange();
}

void attacker::wait_for_swaps(long count) const {
  while (swaps() < count)
    ::sched_yield();
}

void attacker::give_way() {
  if (swaps() == seen_) ::sched_yield();
  seen_ = swaps();
}

// --- the victims ---------------------------------------------------------------------------------

home::home(const std::string& path) : fd_(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  EXPECT_TRUE(fd_);
}

void home::write(const char* name, int flags) const {
  const file_descriptor file(
      ::openat(fd_.get(), name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0666));
  if (file) {
    EXPECT_EQ(6, ::write(file.get(), "INSIDE", 6));
  }
}

void home::prepare() const {
  write(victim_name, O_CREAT | O_TRUNC);
  ::mkdirat(fd_.get(), "sub", 0777);
  ::mkdirat(fd_.get(), "sub/deep", 0777);
  write("sub/deep/g", O_CREAT);
  if (!is_link(victim_name) && !is_link("fx")) { // an operation consumed it
    ::unlinkat(fd_.get(), "fx", 0);
    EXPECT_TRUE(::symlinkat("../../out/f.txt", fd_.get(), "fx") == 0 || errno == EEXIST);
  }
}

void home::clear(const char* name) const {
  ::unlinkat(fd_.get(), name, 0);
  ::unlinkat(fd_.get(), name, AT_REMOVEDIR);
}

void home::clear_tree(const char* name) const {
  std::error_code ignored; // it may not be there
  std::filesystem::remove_all("/proc/self/fd/" + std::to_string(fd_.get()) + '/' + name, ignored);
}

bool home::is_link(const char* name) const {
  char first = 0;
  return ::readlinkat(fd_.get(), name, &first, 1) >= 0;
}

} // namespace paddock::test
