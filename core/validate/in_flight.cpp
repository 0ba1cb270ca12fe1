#include "core/validate/in_flight.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "core/base/shell_text.hpp"

namespace onedim {
namespace {

using namespace std::chrono_literals;

constexpr auto kPeriod = 100ms;
// Longer lines are left out whole; a call of hundreds of tensors fits.
constexpr size_t kMostBytes = 32768;
constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

// What a thread is at.
struct Flight {
  const InFlight* scope = nullptr;
  uint64_t serial = 0;  // of the scope: scopes may lie at one address, one after the other
  std::atomic<int64_t> world{0};
};
thread_local Flight* this_flight = nullptr;

// Appends without allocating, for signal handlers.
class LineBuffer {
 public:
  void add(std::string_view text) {
    if (size_ + text.size() > bytes_.size()) fits_ = false;
    if (fits_) std::memcpy(bytes_.data() + size_, text.data(), text.size());
    if (fits_) size_ += text.size();
  }
  void add(int64_t number) {
    std::array<char, 20> digits;
    size_t count = 0;
    for (uint64_t left = static_cast<uint64_t>(number); count == 0 || left > 0; left /= 10)
      digits[digits.size() - ++count] = static_cast<char>('0' + left % 10);
    add({digits.data() + digits.size() - count, count});
  }
  void write_to(int file) const {
    for (size_t sent = 0; fits_ && sent < size_;) {
      const ssize_t count = ::write(file, bytes_.data() + sent, size_ - sent);
      if (count <= 0) return;
      sent += static_cast<size_t>(count);
    }
  }

 private:
  std::array<char, kMostBytes> bytes_;
  size_t size_ = 0;
  bool fits_ = true;
};

// The text as it stands inside a JSON string.
std::string escaped(std::string_view text) {
  const std::string quoted =
      nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

// All threads' flights, and the file they are told to.
class Flights {
 public:
  static Flights& all() {
    static auto* flights = new Flights;  // outlives every thread and exit handler
    return *flights;
  }

  void begin(Flight& flight, const InFlight* scope) {
    const std::lock_guard lock(mutex_);
    flight.scope = scope;
    flight.serial = ++last_serial_;
    if (std::find(flights_.begin(), flights_.end(), &flight) == flights_.end())
      flights_.push_back(&flight);
    // A pack may end the process by _exit, which nothing here is told of.
    if (file_ >= 0 && flights_.front() == &flight) tell(flight, file_);
  }
  // `outer` takes over, if there is one. Once this returns nothing of the scope is written.
  void end(Flight& flight, const InFlight* outer) {
    const std::lock_guard lock(mutex_);
    flight.scope = outer;
    flight.serial = ++last_serial_;
    if (outer == nullptr) std::erase(flights_, &flight);
  }

  void report_to(int file) {
    {
      const std::lock_guard lock(mutex_);
      file_ = file;
    }
    std::thread([this] { watch(); }).detach();
    std::atexit([] { all().tell_end(); });
    install_handlers();
  }

 private:
  static void tell(const Flight& flight, int file) {
    LineBuffer line;
    const int64_t world = flight.world.load(std::memory_order_relaxed);
    line.add(flight.scope->before_);
    if (flight.scope->names_world_) {
      line.add(world);
      line.add(flight.scope->between_);
      line.add(world);
      line.add(flight.scope->after_);
    }
    line.write_to(file);
  }

  // From the thread that ends the process, possibly in a signal handler: no lock is taken.
  void tell_end() {
    is_ending_.store(true);
    if (this_flight != nullptr && this_flight->scope != nullptr) tell(*this_flight, file_);
  }

  void watch() {
    std::pair<uint64_t, int64_t> told;
    while (true) {
      std::this_thread::sleep_for(kPeriod);
      const std::lock_guard lock(mutex_);
      if (is_ending_.load()) return;
      if (flights_.empty()) continue;
      const Flight& oldest = *flights_.front();
      const std::pair<uint64_t, int64_t> now{oldest.serial, oldest.world.load()};
      if (now != told) tell(oldest, file_);
      told = now;
    }
  }

  static void on_signal(int number) {
    all().tell_end();
    ::raise(number);  // its action is the default again, and it comes once this returns
  }

  // On a stack of their own, since running out of stack is a way to crash.
  void install_handlers() {
    static constexpr size_t kStackBytes = 4 * kMostBytes;
    stack_t stack{};
    signal_stack_ = std::make_unique_for_overwrite<char[]>(kStackBytes);
    stack.ss_sp = signal_stack_.get();
    stack.ss_size = kStackBytes;
    ::sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    for (const int number : kFatal) ::sigaction(number, &action, nullptr);
  }

  std::mutex mutex_;
  std::vector<Flight*> flights_;  // the longest under way first
  uint64_t last_serial_ = 0;
  int file_ = -1;
  std::unique_ptr<char[]> signal_stack_;
  std::atomic<bool> is_ending_{false};
};

InFlight::InFlight(std::string_view op, std::string_view call, std::string_view claim,
                   int64_t first_world, uint64_t seed) {
  const std::string command =
      fmt::format(": onedim validate {} --inputs {}{} --seed {} --worlds ", shell_word(op),
                  shell_word(call), claim.empty() ? "" : " --claim " + shell_word(claim), seed);
  before_ = fmt::format("{{\"in_flight\":\"{}", escaped(fmt::format("\"{}\" in world ", call)));
  between_ = escaped(command);
  after_ = "\"}\n";
  begin(first_world);
}

InFlight::InFlight(std::string_view what, std::string_view command) : names_world_(false) {
  before_ =
      fmt::format("{{\"in_flight\":\"{}\"}}\n", escaped(fmt::format("{}: {}", what, command)));
  begin(0);
}

void InFlight::begin(int64_t world) {
  thread_local Flight flight;
  outer_ = this_flight == nullptr ? nullptr : flight.scope;
  this_flight = &flight;
  at_world(world);
  Flights::all().begin(flight, this);
}

InFlight::~InFlight() { Flights::all().end(*this_flight, outer_); }

void InFlight::at_world(int64_t world) {
  if (this_flight != nullptr) this_flight->world.store(world, std::memory_order_relaxed);
}

void report_in_flight(int file) { Flights::all().report_to(file); }

}  // namespace onedim
