// SPDX-License-Identifier: MIT
#include "exec/helper/process_tree.hpp"

#include "exec/helper/policy/directory_entries.hpp"
#include "exec/helper/policy/text.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace paddock::exec {
namespace {

// A stopped tree needs two passes; each generation of processes that is started meanwhile needs one
// more.
constexpr int freeze_passes_max = 64;

/// The state and the parent from /proc/PID/stat: "PID (NAME) STATE PARENT …", where NAME may
/// contain anything.
bool read_stat(int proc, const char* id, process& found) {
  char path[32];
  if (!text_writer(path).add(id).add("/stat").complete()) return false;
  const int fd = ::openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[512];
  const ssize_t n = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (n <= 0) return false;
  text[n] = '\0';
  const char* end_of_name = std::strrchr(text, ')');
  if (end_of_name == nullptr || end_of_name[1] != ' ' || end_of_name[2] == '\0' ||
      end_of_name[3] != ' ')
    return false;
  const char* parent = end_of_name + 4;
  unsigned long numbers[2];
  if (!read_number(id, numbers[0]) || !read_number(parent, numbers[1])) return false;
  found.id = static_cast<pid_t>(numbers[0]);
  found.state = end_of_name[2];
  found.parent = static_cast<pid_t>(numbers[1]);
  found.descendant = false;
  return true;
}

bool is_dead(const process& p) {
  return p.state == 'Z' || p.state == 'X';
}

/// Whether it will not start another process: stopped, dead, or asleep in the kernel (where a
/// process that waits for a stopped vfork child stays for good; any other one stops as soon as it
/// wakes).
bool is_still(const process& p) {
  return p.state == 'T' || p.state == 't' || p.state == 'D' || is_dead(p);
}

} // namespace

bool process_tree::append(process found) {
  if (size_ == capacity_) {
    const std::size_t wanted = capacity_ == 0 ? 1024 : capacity_ * 2;
    void* larger = capacity_ == 0
                       ? ::mmap(nullptr, wanted * sizeof(process), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : ::mremap(processes_, capacity_ * sizeof(process), wanted * sizeof(process),
                                  MREMAP_MAYMOVE);
    if (larger == MAP_FAILED) return false;
    processes_ = static_cast<process*>(larger);
    capacity_ = wanted;
  }
  processes_[size_++] = found;
  return true;
}

bool process_tree::scan() {
  size_ = 0;
  const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return false;
  bool whole = true;
  directory_entries entries(proc);
  while (const char* name = entries.next()) {
    process found;
    if (name[0] >= '1' && name[0] <= '9' && read_stat(proc, name, found))
      whole = append(found) && whole;
  }
  whole = whole && entries.complete();
  ::close(proc);
  mark_descendants();
  return whole && size_ > 0;
}

process* process_tree::find(pid_t id) {
  std::size_t low = 0;
  std::size_t high = size_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (processes_[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < size_ && processes_[low].id == id ? &processes_[low] : nullptr;
}

void process_tree::mark_descendants() {
  // /proc lists processes by ascending ID and a child usually has the higher one, so few rounds do.
  const pid_t self = ::getpid();
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < size_; ++i) {
      process& p = processes_[i];
      if (p.descendant) continue;
      const process* parent = p.parent == self ? nullptr : find(p.parent);
      if (p.parent == self || (parent != nullptr && parent->descendant))
        changed = p.descendant = true;
    }
  }
}

bool process_tree::freeze() {
  int quiet = 0; // twice in a row, because one pass can miss a process that is just being started
  for (int pass = 0; pass < freeze_passes_max && quiet < 2; ++pass) {
    if (!scan()) return false;
    bool all_still = true;
    for (std::size_t i = 0; i < size_; ++i) {
      const process& p = processes_[i];
      if (!p.descendant || p.state == 'T') continue;
      ::kill(p.id, SIGSTOP); // also when the first thread is dead: others may live
      all_still = all_still && is_still(p);
    }
    quiet = all_still ? quiet + 1 : 0;
  }
  return true;
}

void process_tree::kill_all() const {
  for (std::size_t i = size_; i > 0; --i)
    if (processes_[i - 1].descendant) ::kill(processes_[i - 1].id, SIGKILL);
}

bool process_tree::has_other_than(pid_t first, pid_t second) const {
  for (std::size_t i = 0; i < size_; ++i) {
    const process& p = processes_[i];
    if (p.descendant && !is_dead(p) && p.id != first && p.id != second) return true;
  }
  return false;
}

} // namespace paddock::exec
