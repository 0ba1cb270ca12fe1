#include "core/validate/in_flight.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace onedim {
namespace {

// Each in a process of its own, since what is installed stays.
void fly(int64_t world) {
  report_in_flight(STDERR_FILENO);
  const InFlight outer("small.op", "f64[4]; name='x'", "R | R", 2, 7);
  { const InFlight inner("small.other", "f64[1]", "", 2, 7); }
  InFlight::at_world(world);
  ::raise(SIGSEGV);
}

// What a command line takes `it's` for: a quote, closed, escaped and opened again.
constexpr const char* kLine =
    "\\{\"in_flight\":\"\\\\\"f64\\[4\\]; name='x'\\\\\" in world 3: onedim validate small.op "
    "--inputs .* --claim 'R \\| R' --seed 7 --worlds 3\"\\}";

TEST(InFlightDeathTest, ASignalTellsTheCallAndStillEndsTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(fly(3), ::testing::KilledBySignal(SIGSEGV), kLine);
}

TEST(InFlightDeathTest, ACommandIsToldAsItIs) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto crash = [] {
    report_in_flight(STDERR_FILENO);
    const InFlight flight("\"f64[4]\" on mesh a=2", "onedim validate small.op --mesh a=2");
    InFlight::at_world(3);
    ::raise(SIGSEGV);
  };
  EXPECT_EXIT(crash(), ::testing::KilledBySignal(SIGSEGV),
              "\\{\"in_flight\":\"\\\\\"f64\\[4\\]\\\\\" on mesh a=2: onedim validate small.op "
              "--mesh a=2\"\\}");
}

// One scope after the other, at one address and in one world.
TEST(InFlightDeathTest, TheLatestOfManyIsTold) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto hang = [] {
    report_in_flight(STDERR_FILENO);
    for (const char* command : {"onedim first", "onedim second"}) {
      const InFlight flight("a call", command);
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }
    ::_exit(6);
  };
  EXPECT_EXIT(hang(), ::testing::ExitedWithCode(6), "a call: onedim second");
}

TEST(InFlightDeathTest, AnExitTellsTheCall) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto leave = [] {
    report_in_flight(STDERR_FILENO);
    const InFlight flight("small.op", "f64[4]", "", 4, 7);
    std::exit(5);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(5), "in world 4: onedim validate small.op");
}

// Nothing is told of such an end, so the call must be known before.
TEST(InFlightDeathTest, AnExitWithoutHandlersTellsTheCall) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto leave = [] {
    report_in_flight(STDERR_FILENO);
    const InFlight flight("small.op", "f64[4]", "", 4, 7);
    ::_exit(6);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(6), "in world 4: onedim validate small.op");
}

TEST(InFlightDeathTest, AHangIsToldWhileItLasts) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto hang = [] {
    report_in_flight(STDERR_FILENO);
    const InFlight flight("small.op", "f64[4]", "", 4, 7);
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    ::_exit(6);
  };
  EXPECT_EXIT(hang(), ::testing::ExitedWithCode(6), "in world 4: onedim validate small.op");
}

}  // namespace
}  // namespace onedim
