#include "core/exec/mpi_module.hpp"

#include <filesystem>

#include "core/pack/shared_object.hpp"

namespace onedim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "libonedim_mpi.so";
constexpr const char* kSymbol = "onedim_mpi_module_v1";

fs::path find_module() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  for (const fs::path& place :
       {folder / "modules" / kFile, folder.parent_path() / ONEDIM_INSTALLED_MODULES / kFile}) {
    if (fs::exists(place, error)) return place;
  }
  return {};
}

}  // namespace

Result<MpiModule> MpiModule::open(const std::string& file) {
  const fs::path found = file.empty() ? find_module() : fs::path(file);
  std::error_code error;
  const fs::path path = fs::canonical(found, error);
  if (found.empty() || error) {
    return absl::UnavailableError(
        fmt::format("there is no {}; it is built where CMake finds MPI (libopenmpi-dev)",
                    found.empty() ? kFile : found.string()));
  }
  const SharedObject::Opened opened = SharedObject::open(path);
  if (opened.object == nullptr) {
    return absl::UnavailableError(fmt::format("{}: {}", path.string(), opened.verdict.reason));
  }
  const auto* module = static_cast<const onedim_mpi_module*>(opened.object->find(kSymbol));
  if (module == nullptr || module->size < sizeof(onedim_mpi_module)) {
    return absl::UnavailableError(
        fmt::format("{}: it has no {} of this version", path.string(), kSymbol));
  }
  return MpiModule(module);
}

Status MpiModule::status_of(int error, std::string_view what) const {
  if (error == 0) return {};
  char text[512] = "";
  module_->describe(error, text, sizeof(text));
  return absl::UnavailableError(fmt::format("{}: MPI says: {}", what, text));
}

std::string MpiModule::library() const {
  char text[512] = "";
  module_->library(text, sizeof(text));
  const std::string whole = text;
  return whole.substr(0, whole.find_first_of(",\n"));
}

}  // namespace onedim
