#include "core/base/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace onedim {
namespace {

using namespace std::chrono_literals;
using Read = ChildProcess::Read;

Result<ChildProcess> shell(const char* script,
                           ChildProcess::Input input = ChildProcess::Input::kNone) {
  return ChildProcess::start({"/bin/sh", "-c", script}, input);
}

bool is_gone(pid_t process) {
  for (int i = 0; i < 200; ++i) {
    if (::kill(process, 0) != 0 && errno == ESRCH) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(ChildProcess, LinesAreReadOneByOneUpToTheEnd) {
  Result<ChildProcess> child = shell("echo one; printf 'two\\nrest'");
  ASSERT_TRUE(child.ok()) << child.status();
  std::string line;
  EXPECT_EQ(child->read_line(10s, line), Read::kLine);
  EXPECT_EQ(line, "one");
  EXPECT_EQ(child->read_line(10s, line), Read::kLine);
  EXPECT_EQ(line, "two");
  EXPECT_EQ(child->read_line(10s, line), Read::kEnd);
  EXPECT_EQ(child->end(), "ended with code 0");
  EXPECT_EQ(child->end(), "is gone");
}

TEST(ChildProcess, WhatIsSentIsItsInput) {
  Result<ChildProcess> child = shell("read -r a; echo \"got $a\"", ChildProcess::Input::kLines);
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_TRUE(child->send("a word"));
  std::string line;
  EXPECT_EQ(child->read_line(10s, line), Read::kLine);
  EXPECT_EQ(line, "got a word");
  EXPECT_EQ(child->read_line(10s, line), Read::kEnd);
  while (child->send("more")) {  // an error at last, never a signal
  }
}

TEST(ChildProcess, TheLimitHolds) {
  Result<ChildProcess> child = shell("sleep 30");
  ASSERT_TRUE(child.ok()) << child.status();
  std::string line;
  EXPECT_EQ(child->read_line(50ms, line), Read::kTimeout);
  EXPECT_EQ(child->end(), "was ended by signal 9 (Killed)");
}

TEST(ChildProcess, EndingsAreTold) {
  std::string line;
  Result<ChildProcess> crash = shell("kill -SEGV $$");
  ASSERT_TRUE(crash.ok());
  EXPECT_EQ(crash->read_line(10s, line), Read::kEnd);
  EXPECT_EQ(crash->end(), "was ended by signal 11 (Segmentation fault)");
  Result<ChildProcess> exit = shell("exit 7");
  ASSERT_TRUE(exit.ok());
  EXPECT_EQ(exit->read_line(10s, line), Read::kEnd);
  EXPECT_EQ(exit->end(), "ended with code 7");
}

TEST(ChildProcess, WhatItStartsEndsWithIt) {
  Result<ChildProcess> child = shell("sleep 30 & echo $!; wait");
  ASSERT_TRUE(child.ok()) << child.status();
  std::string line;
  ASSERT_EQ(child->read_line(10s, line), Read::kLine);
  const pid_t grandchild = std::stoi(line);
  EXPECT_EQ(::kill(grandchild, 0), 0);
  child->end();
  EXPECT_TRUE(is_gone(grandchild));
}

TEST(ChildProcess, NoSignalStaysBlockedOrIgnored) {
  const auto before = ::signal(SIGTERM, SIG_IGN);
  Result<ChildProcess> child = shell("kill -TERM $$; echo still here");
  ::signal(SIGTERM, before);
  ASSERT_TRUE(child.ok()) << child.status();
  std::string line;
  EXPECT_EQ(child->read_line(10s, line), Read::kEnd);
  EXPECT_EQ(child->end(), "was ended by signal 15 (Terminated)");
}

TEST(ChildProcess, AProgramThatIsNotThereIsAnError) {
  const Result<ChildProcess> child = ChildProcess::start({"/no/such/program"});
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(message_of(child.status()),
            "/no/such/program cannot be started: No such file or directory");
}

}  // namespace
}  // namespace onedim
