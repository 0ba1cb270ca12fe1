#include "tests/shipped_registry.hpp"

#include <cstdio>

#include "core/pack/pack_loader.hpp"

namespace onedim {
namespace {

Registry* load() {
  auto* registry = new Registry;
  LoadOptions options;
  options.paths = {ONEDIM_PACK_FOLDER};
  for (const PackReport& report : load_packs(options, *registry)) {
    if (!report.verdict.ok())
      std::fprintf(stderr, "%s: %s\n", report.path.c_str(), report.verdict.reason.c_str());
  }
  return registry;
}

}  // namespace

const Registry& shipped_registry() {
  static const Registry* registry = load();
  return *registry;
}

}  // namespace onedim
