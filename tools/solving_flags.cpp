#include "tools/solving_flags.hpp"

#include <limits>

#include "tools/flag_values.hpp"

namespace onedim {

void SolvingFlags::add_to(CLI::App& command) {
  command
      .add_option("--time-limit,--limit-s", time_limit,
                  "Seconds after which the best solution so far is given")
      ->type_name("S");
  command
      .add_option("--effort", effort,
                  "Counted work after which it is given, the same on every machine (default: "
                  "2e10, without end with --time-limit)")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max() / 2));
  command.add_option("--threads", threads, "1 or 2; the result is the same")
      ->type_name("N")
      ->check(CLI::Range(1, 2));
  command.add_option("--seed", seed, "Of the search for better solutions")->type_name("N");
}

Result<SolveOptions> SolvingFlags::options(std::chrono::steady_clock::time_point start) const {
  using Clock = std::chrono::steady_clock;
  SolveOptions options;
  options.threads = threads;
  options.seed = seed;
  if (!time_limit.empty()) {
    const Result<double> seconds = parse_seconds("--time-limit", time_limit);
    if (!seconds.ok()) return seconds.status();
    const std::chrono::duration<double> limit(0.99 * *seconds);
    options.stop.at = start + std::chrono::duration_cast<Clock::duration>(limit);
    options.effort = std::numeric_limits<int64_t>::max() / 2;
  }
  if (effort > 0) options.effort = effort;
  return options;
}

}  // namespace onedim
