// SPDX-License-Identifier: MIT

// A stand-in for paddock-exec-helper that says what its command line tells it to say, well or ill:
// the words after the eight arguments of the protocol, one by one.
//   EVENT:FIRST:SECOND  that message
//   odd                 a message of a size that there is none of
//   deaf                stays whatever it is asked
//   holder              leaves a process that has the output open
//   --verify            says that every layer is there and that the trial got through each

#include "exec/protocol/exec_protocol.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using namespace paddock::sys;

template <class Message> void say(int channel, const Message& message) {
  if (::send(channel, &message, sizeof message, MSG_NOSIGNAL) < 0) std::exit(3);
}

void boast(int channel) {
  say(channel, exec_message{exec_event::started, 0, 0});
  say(channel, exec_confined{exec_event::confined, {}}); // all zero: all done
  say(channel, exec_message{exec_event::ended, 0xff00, 0});
  say(channel, exec_message{exec_event::done, 0, 0});
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 13) return 2;
  const int channel = std::atoi(argv[1]);
  for (int i = 13; i < argc; ++i) {
    const std::string_view word = argv[i];
    unsigned event = 0;
    exec_message message{};
    if (std::sscanf(argv[i], "%u:%d:%d", &event, &message.first, &message.second) == 3) {
      message.event = static_cast<exec_event>(event);
      say(channel, message);
    } else if (word == "--verify") {
      boast(channel);
    } else if (word == "odd") {
      say(channel, "odd");
    } else if (word == "deaf") {
      for (;;)
        ::pause();
    } else if (word == "holder" && ::fork() == 0) {
      ::close(channel);
      for (;;)
        ::pause();
    }
  }
  return 0;
}
