#include "gather.hpp"

#include <onedim/device_launch.cuh>

namespace matrix_cuda {
namespace {

using namespace onedim::device;

// A source of null stands for zeros.
template <typename Element>
__global__ void copy(Walk<2> walk, Element* to, const Element* from) {
  for (int64_t i = first_element(); i < walk.count; i += element_step()) {
    int64_t at[2];
    walk.locate(i, at);
    to[at[0]] = from == nullptr ? Element{} : from[at[1]];
  }
}

template <typename Element>
void launch_copy(const Walk<2>& walk, void* to, const void* from,
                 const onedim_execution_t& execution) {
  launch(execution, copy<Element>, blocks_of(walk.count), dim3(kBlockSize), walk,
         static_cast<Element*>(to), static_cast<const Element*>(from));
}

}  // namespace

void run_copy(const Walk<2>& walk, int64_t element_size, void* to, const void* from,
              const onedim_execution_t& execution) {
  const DeviceScope scope(execution);
  if (walk.count == 0) return;
  if (element_size == 2) return launch_copy<uint16_t>(walk, to, from, execution);
  if (element_size == 4) return launch_copy<uint32_t>(walk, to, from, execution);
  launch_copy<uint64_t>(walk, to, from, execution);
}

void run_zero(const Walk<2>& walk, int64_t element_size, void* to,
              const onedim_execution_t& execution) {
  run_copy(walk, element_size, to, nullptr, execution);
}

}  // namespace matrix_cuda
