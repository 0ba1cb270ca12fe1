#include "tools/worker_command.hpp"

#include "tools/session.hpp"

namespace onedim {

std::vector<std::string> child_command(std::vector<std::string> part,
                                       const std::vector<PackReport>& packs) {
  std::vector<std::string> command{own_executable(), "--quiet"};
  command.insert(command.end(), part.begin(), part.end());
  command.emplace_back("--");
  for (const PackReport& pack : packs) {
    if (pack.verdict.is_in_use()) command.push_back(pack.path);
  }
  return command;
}

}  // namespace onedim
