#include "core/validate/worker_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

extern char** environ;

namespace onedim {
namespace {

void close_file(int& file) {
  if (file >= 0) ::close(file);
  file = -1;
}

std::string ending(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

Result<pid_t> spawn(const std::vector<std::string>& command, int input, int output) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = -1;
  const int error =
      ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return absl::UnavailableError(
        fmt::format("the worker {} cannot be started: {}", command[0], std::strerror(error)));
  return child;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::vector<std::string>& command) {
  int input[2], output[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0)
    return absl::UnavailableError("no socket for a worker");
  if (::pipe2(output, O_CLOEXEC) != 0) {
    close_file(input[0]);
    close_file(input[1]);
    return absl::UnavailableError("no pipe for a worker");
  }
  Result<pid_t> child = spawn(command, input[1], output[1]);
  close_file(input[1]);
  close_file(output[1]);
  if (child.ok()) return WorkerProcess(*child, input[0], output[0]);
  close_file(input[0]);
  close_file(output[0]);
  return child.status();
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : child_(std::exchange(other.child_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      buffer_(std::move(other.buffer_)) {}

WorkerProcess::~WorkerProcess() { end(); }

bool WorkerProcess::send(std::string_view line) {
  std::string text = std::string(line) + "\n";
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(input_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += count;
  }
  return true;
}

bool WorkerProcess::receive() {
  char chunk[65536];
  ssize_t count = -1;
  do {
    count = ::read(output_, chunk, sizeof(chunk));
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  buffer_.append(chunk, count);
  return true;
}

bool WorkerProcess::next_line(std::string& line) {
  const size_t end = buffer_.find('\n');
  if (end == std::string::npos) return false;
  line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return true;
}

std::string WorkerProcess::end() {
  close_file(input_);
  close_file(output_);
  if (child_ < 0) return "is gone";
  ::kill(child_, SIGKILL);  // no effect on one that has ended and waits to be collected
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  return ending(status);
}

}  // namespace onedim
