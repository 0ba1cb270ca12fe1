#include "tools/launch.hpp"

#include <charconv>
#include <string_view>

#include "core/base/text.hpp"

namespace onedim {
namespace {

struct Launcher {
  const char* name;
  const char* rank;
  const char* ranks;
};

// Those that MPI itself asks come before those that only number tasks.
constexpr Launcher kLaunchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"mpiexec", "PMI_RANK", "PMI_SIZE"},
    {"srun", "SLURM_PROCID", "SLURM_NTASKS"},
    {"torchrun", "RANK", "WORLD_SIZE"},
};

Result<int64_t> read_count(const Variables& variables, const char* name) {
  const char* const value = variables(name);
  const std::string_view text = value == nullptr ? "" : value;
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0) {
    return invalid_argument("{} is {}, expected a count; a launcher sets it", name,
                            value == nullptr ? "not set" : quoted_excerpt(text));
  }
  return count;
}

}  // namespace

Result<Launch> find_launch(const Variables& variables) {
  for (const Launcher& launcher : kLaunchers) {
    if (variables(launcher.rank) == nullptr) continue;
    const Result<int64_t> rank = read_count(variables, launcher.rank);
    if (!rank.ok()) return rank.status();
    const Result<int64_t> ranks = read_count(variables, launcher.ranks);
    if (!ranks.ok()) return ranks.status();
    if (*rank >= *ranks) {
      return invalid_argument("{} is {}, but {} is {}", launcher.rank, *rank, launcher.ranks,
                              *ranks);
    }
    return Launch{launcher.name, *rank, *ranks};
  }
  return Launch();
}

}  // namespace onedim
