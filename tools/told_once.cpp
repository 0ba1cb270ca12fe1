#include "tools/told_once.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace onedim {
namespace {

// Open MPI's, by PMIx and by its own name.
constexpr const char* kFolders[] = {"PMIX_SERVER_TMPDIR", "OMPI_MCA_orte_jobfam_session_dir"};

enum class Claim { kMade, kTaken, kImpossible };

Claim claim(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return errno == EEXIST ? Claim::kTaken : Claim::kImpossible;
  ::close(descriptor);
  return Claim::kMade;
}

std::string folder_of_run(const Variables& variables) {
  for (const char* name : kFolders) {
    const char* const folder = variables(name);
    if (folder != nullptr && folder[0] == '/') return folder;
  }
  return "";
}

}  // namespace

bool is_mine_to_tell(std::string_view line, const Variables& variables) {
  const Result<Launch> launch = find_launch(variables);
  const std::string folder = folder_of_run(variables);
  if (!launch.ok() || launch->ranks < 2 || folder.empty()) return true;
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : line) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  // The first time that this rank has not said it yet.
  for (int time = 0;; ++time) {
    const std::string file = fmt::format("{}/onedim-{:016x}-{}", folder, hash, time);
    const Claim own = claim(fmt::format("{}-rank-{}", file, launch->rank));
    if (own == Claim::kImpossible) return true;
    if (own == Claim::kMade) return claim(file) != Claim::kTaken;
  }
}

bool is_mine_to_tell(std::string_view line) {
  return is_mine_to_tell(line, [](const char* name) { return std::getenv(name); });
}

}  // namespace onedim
