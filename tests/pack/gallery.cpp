#include "tests/pack/gallery.hpp"

namespace onedim {

std::filesystem::path gallery_pack(const std::string& name) {
  return std::filesystem::path(ONEDIM_GALLERY) / name / (name + ".so");
}

LoadOptions probing(std::vector<std::filesystem::path> paths) {
  LoadOptions options;
  options.paths = std::move(paths);
  options.probe_program = ONEDIM_PROBE_PROGRAM;
  options.probe_deadline = std::chrono::milliseconds(2000);
  return options;
}

}  // namespace onedim
