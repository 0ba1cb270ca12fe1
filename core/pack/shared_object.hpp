#pragma once
// SharedObject: a shared library opened for good; the only door to the dynamic loader (Boost.DLL is
// included in its source alone). Opened by absolute canonical path with RTLD_NOW | RTLD_LOCAL, so a
// missing symbol is found here and no pack sees another's symbols. Never closed: a pack may have
// left threads or GNU-unique symbols.

#include <filesystem>
#include <memory>

#include "core/pack/verdict.hpp"

namespace onedim {

class SharedObject {
 public:
  struct Opened {
    Verdict verdict;                       // unresolved, unavailable: the dynamic loader refuses
    const SharedObject* object = nullptr;  // lives as long as the process
  };
  // `path` is absolute and canonical.
  static Opened open(const std::filesystem::path& path);

  // Null if neither this library nor its dependencies have the symbol.
  const void* find(const char* symbol) const;
  // True if `address` lies in this file; the dynamic loader's look-up also searches dependencies.
  bool contains(const void* address) const;

 private:
  struct Library;
  explicit SharedObject(std::filesystem::path path);

  std::filesystem::path path_;
  std::unique_ptr<Library> library_;
};

}  // namespace onedim
