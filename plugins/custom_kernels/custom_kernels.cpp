// A pack that declares no op: it brings a kernel for one that another pack declares. A pack of
// device kernels looks the same, with another device.

#include <onedim/pack.hpp>

namespace {

using namespace onedim::api;

void cube(const Call& call, const onedim_execution_t&) {
  const std::array in = {operand(call, "self")};
  with_compute_type<float, double>(call.tensor("self").dtype(), [&]<typename C>(C) {
    map_elements<C>(call.output(), in, [](C x) { return x * x * x; });
  });
}

}  // namespace

ONEDIM_PACK("custom_kernels", "0.1.0", [](Registrar& r) {
  r.kernel("custom.cube", ONEDIM_DEVICE_CPU).compute(dtype_mask<float, double>(), cube);
});
