#include "tests/pack/gallery.hpp"

namespace onedim {

std::filesystem::path gallery_pack(const std::string& name) {
  return std::filesystem::path(ONEDIM_GALLERY) / name / (name + ".so");
}

}  // namespace onedim
