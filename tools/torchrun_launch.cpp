#include "tools/torchrun_launch.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tools/mpi_measure/mpirun.hpp"

namespace onedim {
namespace {

using Clock = std::chrono::steady_clock;

// For rank 0 to be there; all start at about the same time.
constexpr std::chrono::seconds kStart{60};
// For the others to fetch the code.
constexpr std::chrono::seconds kFarewell{10};
constexpr useconds_t kRetryUs = 50'000;
constexpr int kCodeOfSignal = 128;  // plus its number, as shells have it

struct Socket {
  explicit Socket(int opened) : handle(opened) {}
  Socket(Socket&& other) noexcept : handle(std::exchange(other.handle, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (handle >= 0) ::close(handle);
  }
  int handle;
};

Status fault(const TorchrunLaunch& launch, std::string_view what) {
  return absl::UnavailableError(fmt::format("MASTER_ADDR {}, port {}: {}: {}", launch.address,
                                            launch.port, what, std::strerror(errno)));
}

Result<Socket> listen_to_others(const TorchrunLaunch& launch) {
  Socket listening(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const bool has_six = listening.handle >= 0;
  Socket four(has_six ? -1 : ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int handle = has_six ? listening.handle : four.handle;
  const int yes = 1;
  ::setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in6 any_six{};
  any_six.sin6_family = AF_INET6;
  any_six.sin6_port = htons(static_cast<uint16_t>(launch.port));
  sockaddr_in any_four{};
  any_four.sin_family = AF_INET;
  any_four.sin_port = any_six.sin6_port;
  const auto* const address = has_six ? reinterpret_cast<const sockaddr*>(&any_six)
                                      : reinterpret_cast<const sockaddr*>(&any_four);
  const socklen_t size = has_six ? sizeof(any_six) : sizeof(any_four);
  // Those that come wait in the backlog until the run is over.
  if (::bind(handle, address, size) != 0 || ::listen(handle, static_cast<int>(launch.ranks)) != 0)
    return fault(launch, "rank 0 cannot listen there");
  return has_six ? std::move(listening) : std::move(four);
}

Result<int> run_mpirun(const TorchrunLaunch& launch, const std::vector<std::string>& command) {
  const std::string mpirun = find_program("mpirun");
  if (mpirun.empty()) {
    return absl::UnavailableError(
        "there is no program mpirun, which rank 0 starts the others by; install Open MPI "
        "(openmpi-bin)");
  }
  allow_root_and_many_ranks();
  std::vector<std::string> words{mpirun, "-n", std::to_string(launch.ranks)};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();  // this process has one thread yet
  if (child < 0) return fault(launch, "mpirun cannot be started");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // mpirun ends its ranks then
    ::execv(arguments[0], arguments.data());
    ::_exit(kCodeOfSignal - 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kCodeOfSignal + WTERMSIG(status);
}

void tell_others(const TorchrunLaunch& launch, const Socket& listening, int code) {
  const auto end = Clock::now() + kFarewell;
  for (int64_t told = 1; told < launch.ranks; ++told) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd waiting{listening.handle, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return;
    const Socket other(::accept4(listening.handle, nullptr, nullptr, SOCK_CLOEXEC));
    const auto byte = static_cast<uint8_t>(code);
    // One that is gone needs no code.
    [[maybe_unused]] const ssize_t sent = ::send(other.handle, &byte, 1, MSG_NOSIGNAL);
  }
}

Result<Socket> connect_to_first(const TorchrunLaunch& launch) {
  const auto end = Clock::now() + kStart;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const std::string port = std::to_string(launch.port);
  while (Clock::now() < end) {
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(launch.address.c_str(), port.c_str(), &hints, &found);
    if (error != 0) {
      return absl::UnavailableError(
          fmt::format("MASTER_ADDR {}: {}", launch.address, ::gai_strerror(error)));
    }
    for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
      Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (socket.handle < 0 || ::connect(socket.handle, at->ai_addr, at->ai_addrlen) != 0) continue;
      ::freeaddrinfo(found);
      return socket;
    }
    ::freeaddrinfo(found);
    ::usleep(kRetryUs);
  }
  return fault(launch, "rank 0 is not there");
}

Result<int> wait_for_first(const TorchrunLaunch& launch) {
  const Result<Socket> socket = connect_to_first(launch);
  if (!socket.ok()) return socket.status();
  uint8_t code = 0;
  ssize_t got = 0;
  while ((got = ::recv(socket->handle, &code, 1, 0)) < 0 && errno == EINTR) {
  }
  if (got == 1) return code;
  return absl::UnavailableError("rank 0, whose mpirun runs all ranks, ended without a word");
}

}  // namespace

Result<TorchrunLaunch> find_torchrun(const Launch& launch, const Variables& variables) {
  const auto value = [&](const char* name) {
    const char* const text = variables(name);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string address = value("MASTER_ADDR"), text = value("MASTER_PORT");
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (address.empty() || error != std::errc() || end != text.data() + text.size() || port < 1 ||
      port > UINT16_MAX - 1) {
    return invalid_argument(
        "RANK and WORLD_SIZE are set, but MASTER_ADDR is \"{}\" and MASTER_PORT \"{}\": expected "
        "an "
        "address and a port of rank 0's machine, as torchrun sets them; or start by mpirun -n {}",
        address, text, launch.ranks);
  }
  const std::string here = value("LOCAL_WORLD_SIZE");
  if (!here.empty() && here != std::to_string(launch.ranks)) {
    return unimplemented(
        "torchrun has {} of {} ranks on this machine: all must be on one, where rank 0 starts them "
        "by mpirun",
        here, launch.ranks);
  }
  const bool is_taken = value("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return TorchrunLaunch{launch.rank, launch.ranks, address, port + (is_taken ? 1 : 0)};
}

Result<int> run_by_torchrun(const TorchrunLaunch& launch, const std::vector<std::string>& command) {
  if (launch.rank != 0) return wait_for_first(launch);
  const Result<Socket> listening = listen_to_others(launch);
  if (!listening.ok()) return listening.status();
  Result<int> code = run_mpirun(launch, command);
  tell_others(launch, *listening, code.value_or(3));
  return code;
}

std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words;
  size_t begin = 0;
  for (size_t end = text.find('\0'); end != text.npos; end = text.find('\0', begin)) {
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace onedim
