#include "core/pack/probe_child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <vector>

namespace onedim {
namespace {

using Clock = std::chrono::steady_clock;

std::string error_text(int code) { return std::generic_category().message(code); }

// posix_spawn's attributes: own process group, no signal blocked or ignored by inheritance.
class SpawnSettings {
 public:
  explicit SpawnSettings(int output) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
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

std::string describe_ending(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = ::sigabbrev_np(WTERMSIG(status));
    return name != nullptr ? fmt::format("killed by SIG{}", name)
                           : fmt::format("killed by signal {}", WTERMSIG(status));
  }
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

}  // namespace

ProbeChild::ProbeChild(const std::filesystem::path& program,
                       std::span<const std::string> arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    error_ = error_text(errno);
    return;
  }
  channel_ = ends[0];
  std::string name = program.string();
  std::string command = "probe-packs";
  std::vector<char*> argv = {name.data(), command.data()};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const SpawnSettings settings(ends[1]);
  const int code = ::posix_spawn(&process_, name.c_str(), settings.actions(), settings.attributes(),
                                 argv.data(), environ);
  ::close(ends[1]);
  if (code != 0) {
    process_ = -1;
    error_ = error_text(code);
  }
}

ProbeChild::~ProbeChild() {
  if (process_ > 0) finish();
  if (channel_ >= 0) ::close(channel_);
}

ProbeChild::Line ProbeChild::read_line(std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  while (true) {
    if (const size_t end = pending_.find('\n'); end != std::string::npos) {
      Line line{State::kLine, pending_.substr(0, end)};
      pending_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return {State::kTimeout, {}};
    pollfd ready{channel_, POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(left.count()));
    if (count < 0 && errno != EINTR) return {State::kEnd, {}};
    if (count <= 0) continue;
    char buffer[4096];
    const ssize_t size = ::read(channel_, buffer, sizeof(buffer));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return {State::kEnd, {}};
    pending_.append(buffer, static_cast<size_t>(size));
  }
}

std::string ProbeChild::finish() {
  // One that has already ended keeps its own status.
  ::kill(-process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return describe_ending(status);
}

}  // namespace onedim
