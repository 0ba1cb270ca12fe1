// A module of MPI that does not come back: it is the real one, whose file ONEDIM_TEST_MODULE names,
// but that rank ONEDIM_TEST_STUCK stays for good inside its first all-gather of a team. So the
// others are left inside calls of MPI that cannot end.

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "core/exec/mpi/module.h"

namespace {

const onedim_mpi_module* real() {
  static const onedim_mpi_module* const module = [] {
    void* const library = ::dlopen(std::getenv("ONEDIM_TEST_MODULE"), RTLD_NOW | RTLD_LOCAL);
    return static_cast<const onedim_mpi_module*>(::dlsym(library, "onedim_mpi_module_v1"));
  }();
  return module;
}

int start(int64_t largest_count) { return real()->start(largest_count); }
int finish() { return real()->finish(); }
int rank() { return real()->rank(); }
int rank_count() { return real()->rank_count(); }
int ranks_on_node(int* count) { return real()->ranks_on_node(count); }
void describe(int error, char* text, int size) { real()->describe(error, text, size); }
void library(char* text, int size) { real()->library(text, size); }
int split(int color, int key, onedim_mpi_team** team) { return real()->split(color, key, team); }
int release(onedim_mpi_team* team) { return real()->release(team); }

int all_gather(onedim_mpi_team* team, const onedim_mpi_exchange* exchange) {
  if (rank() == std::atoi(std::getenv("ONEDIM_TEST_STUCK"))) {
    while (true) ::pause();
  }
  return real()->all_gather(team, exchange);
}

int all_to_all(onedim_mpi_team* team, const onedim_mpi_exchange* exchange) {
  return real()->all_to_all(team, exchange);
}
int broadcast(onedim_mpi_team* team, void* buffer, int64_t bytes, int root) {
  return real()->broadcast(team, buffer, bytes, root);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const onedim_mpi_module onedim_mpi_module_v1 = {
    sizeof(onedim_mpi_module),
    start,
    finish,
    rank,
    rank_count,
    ranks_on_node,
    describe,
    library,
    split,
    release,
    all_gather,
    all_to_all,
    broadcast,
};
