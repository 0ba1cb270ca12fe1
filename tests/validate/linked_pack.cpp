#include "linked_pack.hpp"

#include <stdexcept>

namespace onedim {

const Registry* make_registry(const onedim_pack_t& pack, const char* path) {
  auto* registry = new Registry;
  Result<StagedPack> staged = stage(pack, path);
  if (!staged.ok()) throw std::runtime_error(staged.status().ToString());
  const Status status = registry->commit(*std::move(staged));
  if (!status.ok()) throw std::runtime_error(status.ToString());
  for (const std::string& problem : registry->resolve()) throw std::runtime_error(problem);
  return registry;
}

}  // namespace onedim
