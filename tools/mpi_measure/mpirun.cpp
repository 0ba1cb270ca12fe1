#include "tools/mpi_measure/mpirun.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/child_process.hpp"
#include "core/base/text.hpp"
#include "tools/mpi_measure/last_line.hpp"

namespace onedim {
namespace {

using Clock = std::chrono::steady_clock;

// For an ended mpirun to be seen as such once its output has ended.
constexpr useconds_t kEndingUs = 300'000;
// Ranks see to the deadline themselves, and end in order; those that do not are killed.
constexpr std::chrono::seconds kGrace{3};
// For ranks that are done to leave.
constexpr std::chrono::seconds kFarewell{5};

bool is_program(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown) && ::access(path.c_str(), X_OK) == 0;
}

Status cut_short(ChildProcess& child, std::string_view mpirun) {
  ::usleep(kEndingUs);
  return absl::UnavailableError(
      fmt::format("{} {} before the measurements were complete", mpirun, child.end()));
}

Status too_late(std::string_view mpirun, const MpirunOptions& options) {
  return absl::UnavailableError(fmt::format("{} was not done after {} s; --deadline gives more",
                                            mpirun, options.deadline.count()));
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split_top_level(path != nullptr ? path : "", ':', "")) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (is_program(file)) return file.string();
  }
  return "";
}

void allow_root_and_many_ranks() {
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
  ::setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
}

Result<std::string> measure_by_mpirun(const MpirunOptions& options,
                                      const std::function<void(std::string_view)>& on_line) {
  const std::string mpirun = find_program(options.mpirun);
  if (mpirun.empty()) {
    return absl::UnavailableError(
        fmt::format("there is no program {}; install Open MPI (openmpi-bin) or give --mpirun PATH",
                    quoted_excerpt(options.mpirun)));
  }
  if (!is_program(options.program)) {
    return absl::UnavailableError(
        fmt::format("there is no program {}; it is built where CMake finds MPI (libopenmpi-dev)",
                    quoted_excerpt(options.program)));
  }
  allow_root_and_many_ranks();
  Result<ChildProcess> child =
      ChildProcess::start({mpirun, "-n", std::to_string(options.ranks), options.program,
                           "--largest", std::to_string(options.largest_bytes), "--deadline",
                           std::to_string(options.deadline.count())},
                          ChildProcess::Input::kNone);
  if (!child.ok()) return child.status();
  const Clock::time_point deadline = Clock::now() + options.deadline + kGrace;
  std::string text, line;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const ChildProcess::Read read = child->read_line(left, line);
    if (read == ChildProcess::Read::kEnd) return cut_short(*child, mpirun);
    if (read == ChildProcess::Read::kTimeout) return too_late(mpirun, options);
    if (line == kMeasurementsDone || line == kMeasurementsLate) break;
    on_line(line);
    text += line + "\n";
  }
  const bool is_done = line == kMeasurementsDone;
  while (child->read_line(kFarewell, line) == ChildProcess::Read::kLine) {
  }
  if (!is_done) return too_late(mpirun, options);
  return text;
}

}  // namespace onedim
