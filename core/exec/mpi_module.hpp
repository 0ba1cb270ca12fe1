#pragma once
// The MPI module as it is used: opened once a process, from the folder that is given, its
// functions' errors as statuses. core/exec/mpi/module.h is what stands behind it.

#include <string>

#include "core/base/status.hpp"
#include "core/exec/mpi/module.h"

namespace onedim {

class MpiModule {
 public:
  // `file` or, where that is "", libonedim_mpi.so beside this program or in its installation. It
  // stays open until the process ends. The environment's fault where there is none.
  static Result<MpiModule> open(const std::string& file);

  const onedim_mpi_module* operator->() const { return module_; }
  // `what` tells what was tried.
  Status status_of(int error, std::string_view what) const;
  std::string library() const;

 private:
  explicit MpiModule(const onedim_mpi_module* module) : module_(module) {}
  const onedim_mpi_module* module_;
};

}  // namespace onedim
