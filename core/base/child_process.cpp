#include "core/base/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

namespace onedim {
namespace {

using Clock = std::chrono::steady_clock;

void close_file(int& file) {
  if (file >= 0) ::close(file);
  file = -1;
}

// The two ends of a channel; what is not taken is closed.
struct Channel {
  int ends[2] = {-1, -1};
  ~Channel() {
    for (int& file : ends) close_file(file);
  }
  int take(int end) { return std::exchange(ends[end], -1); }
};

// posix_spawn's attributes and actions for a child with these standard streams; `input` may be -1.
class SpawnSettings {
 public:
  SpawnSettings(int input, int output) {
    ::posix_spawn_file_actions_init(&actions_);
    if (input >= 0) {
      ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    } else {
      ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t ignored;
    sigemptyset(&none);
    sigemptyset(&ignored);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGALRM}) sigaddset(&ignored, signal);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &ignored);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

Status cannot_start(const std::string& program, int error) {
  return absl::UnavailableError(
      fmt::format("{} cannot be started: {}", program, std::strerror(error)));
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command, Input input) {
  Channel lines_in;
  Channel lines_out;
  if (input == Input::kLines &&
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines_in.ends) != 0)
    return cannot_start(command[0], errno);
  if (::pipe2(lines_out.ends, O_CLOEXEC) != 0) return cannot_start(command[0], errno);
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const SpawnSettings settings(lines_in.ends[1], lines_out.ends[1]);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, arguments[0], settings.actions(), settings.attributes(),
                                  arguments.data(), environ);
  if (error != 0) return cannot_start(command[0], error);
  return ChildProcess(child, lines_in.take(0), lines_out.take(0));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      pending_(std::move(other.pending_)) {}

ChildProcess::~ChildProcess() { end(); }

bool ChildProcess::send(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(input_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

bool ChildProcess::receive() {
  char chunk[65536];
  ssize_t count = -1;
  do {
    count = ::read(output_, chunk, sizeof(chunk));
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  pending_.append(chunk, static_cast<size_t>(count));
  return true;
}

bool ChildProcess::next_line(std::string& line) {
  const size_t end = pending_.find('\n');
  if (end == std::string::npos) return false;
  line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return true;
}

ChildProcess::Read ChildProcess::read_line(std::chrono::milliseconds limit, std::string& line) {
  const Clock::time_point deadline = Clock::now() + limit;
  while (!next_line(line)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return Read::kTimeout;
    pollfd ready{output_, POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(left.count()));
    if (count < 0 && errno != EINTR) return Read::kEnd;
    if (count > 0 && !receive()) return Read::kEnd;
  }
  return Read::kLine;
}

std::chrono::nanoseconds ChildProcess::processor_time() const {
  clockid_t clock;
  timespec time{};
  if (::clock_getcpuclockid(child_, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    return std::chrono::nanoseconds(0);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string ChildProcess::end() {
  close_file(input_);
  close_file(output_);
  if (child_ < 0) return "is gone";
  ::kill(-child_, SIGKILL);  // one that has already ended keeps its own status
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  return describe_ending(status);
}

std::string describe_ending(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return fmt::format("ended with code {}", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal));
}

void enter_child_process() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    std::signal(signal, SIG_DFL);
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A parent that ended before that line no longer holds the other end of stdout.
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0) ::_exit(3);
}

}  // namespace onedim
