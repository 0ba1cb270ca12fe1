// Device kernels of sums and means. A mean divides by the global count; an output that is P(avg)
// over ranks with different elements is scaled by their number, as it is divided by it when merged.
//   mean.dim f32[4,6], dim [1], input S(1) over 2 ranks: each [4,3]; P(sum): sum / 6, P(avg): 2 sum
//   / 6

#include <onedim/average_scale.hpp>
#include <onedim/device_call.hpp>
#include <onedim/pack.hpp>

#include "fold.hpp"

namespace reduction_cuda {
namespace {

using namespace onedim::api;

// Strides of the output under each dim of the input; folded dims have none.
std::vector<int64_t> kept_strides(const TensorView& out, const std::vector<bool>& reduced,
                                  bool keepdim) {
  std::vector<int64_t> strides(reduced.size(), 0);
  int own = 0;
  for (size_t dim = 0; dim < reduced.size(); ++dim) {
    if (!reduced[dim]) strides[dim] = out.stride(own);
    if (!reduced[dim] || keepdim) ++own;
  }
  return strides;
}

FoldCall fold_call(const Call& call, const std::vector<bool>& reduced) {
  const TensorView in = call.input(0), out = call.output();
  FoldCall fold;
  fold.in = elements_of(in);
  fold.out = elements_of(out);
  const std::vector<int64_t> strides = kept_strides(out, reduced, keeps_dims(call));
  for (int dim = in.ndim() - 1; dim >= 0; --dim) {
    const auto own = static_cast<size_t>(dim);
    if (reduced[own])
      add_outer_dim<1>(fold.folded, in.size(dim), {in.stride(dim)});
    else
      add_outer_dim<2>(fold.kept, in.size(dim), {in.stride(dim), strides[own]});
  }
  const bool is_narrow = is_floating(out.dtype()) && size_of(out.dtype()) == 2;
  if (is_narrow && in.dtype() != out.dtype()) fold.rounds_to = fold.out.dtype;
  fold.is_any = is_bool(out.dtype()) ? 1 : 0;
  return fold;
}

void run_sum(const Call& call, const onedim_execution_t& execution) {
  run_fold(fold_call(call, reduced_dims(call)), execution);
}

void run_mean(const Call& call, const onedim_execution_t& execution) {
  const std::vector<bool> reduced = reduced_dims(call);
  FoldCall fold = fold_call(call, reduced);
  fold.scale = average_scale(call, reduced);
  fold.count = static_cast<double>(reduced_count(call, reduced));
  run_fold(fold, execution);
}

}  // namespace
}  // namespace reduction_cuda

ONEDIM_PACK("reduction_cuda", "1.0.0", [](onedim::api::Registrar& r) {
  using namespace reduction_cuda;
  for (const char* op : {"sum", "sum.dim_IntList"})
    r.kernel(op, ONEDIM_DEVICE_CUDA).compute(kDeviceDTypes, run_sum);
  for (const char* op : {"mean", "mean.dim"})
    r.kernel(op, ONEDIM_DEVICE_CUDA).compute(kDeviceDTypes, run_mean);
});
