#pragma once
// Shapes: broadcasting, wrapped dims and the families of rules that follow from shapes alone.
//   pointwise  every output dim may be sharded; an input that lacks it or has size 1 is replicated
//   reduction  a dim that stays may be sharded on both sides; a reduced one leaves a partial
// Theory: an output element of these ops reads only input elements with the same index on a sharded
// dim.

#include <onedim/inline.hpp>
#include <onedim/sinks.hpp>

#include <string>

namespace onedim::api {

ONEDIM_INLINE Shape shape_of(const TensorView& tensor) {
  return {tensor.shape().begin(), tensor.shape().end()};
}

ONEDIM_INLINE std::string format_shape(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

// `name` is the attribute that lists them.
ONEDIM_INLINE void require_sizes(std::span<const int64_t> sizes, std::string_view name) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] >= 0) continue;
    fail(std::string(name) + " is " + format_shape(sizes) + ", expected no negative number");
  }
}

// `what` is the meaning of the dim.
ONEDIM_INLINE void require_one_size(const Call& call, std::string_view a, std::string_view b,
                                    int dim, std::string_view what) {
  const TensorView x = call.tensor(a), y = call.tensor(b);
  if (x.size(dim) == y.size(dim)) return;
  fail(std::string(a) + " has shape " + format_shape(x.shape()) + " and " + std::string(b) + " " +
       format_shape(y.shape()) + ", expected one " + std::string(what) + " (dim " +
       std::to_string(dim) + ")");
}

// ATen's broadcasting; the shorter shape is aligned to the right.
ONEDIM_INLINE Shape broadcast(const Shape& a, std::span<const int64_t> b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      fail("shapes " + format_shape(a) + " and " + format_shape(b) + " do not broadcast");
    }
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

// A dim counted from the end made positive; 0-dim tensors accept 0 and -1.
ONEDIM_INLINE int wrap_dim(int64_t dim, int ndim) {
  const int64_t range = ndim > 0 ? ndim : 1;
  if (dim < -range || dim >= range) {
    fail("dim " + std::to_string(dim) + " is out of range for a tensor of " + std::to_string(ndim) +
         " dims");
  }
  return static_cast<int>(dim < 0 ? dim + range : dim);
}

// True per dim that is in `dims`; an empty list stands for all. Repeated dims are an error.
ONEDIM_INLINE std::vector<bool> dim_mask(std::span<const int64_t> dims, int ndim) {
  std::vector<bool> mask(ndim, dims.empty());
  for (int64_t dim : dims) {
    const int wrapped = wrap_dim(dim, ndim);
    if (ndim == 0) continue;
    if (mask[wrapped]) fail("dim " + std::to_string(dim) + " appears twice in the list of dims");
    mask[wrapped] = true;
  }
  return mask;
}

ONEDIM_INLINE Shape reduced_shape(std::span<const int64_t> shape, const std::vector<bool>& reduced,
                                  bool keepdim) {
  Shape out;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) out.push_back(shape[i]);
    if (reduced[i] && keepdim) out.push_back(1);
  }
  return out;
}

// Placements of an elementwise op's inputs when its output is sharded on `dim`.
ONEDIM_INLINE std::vector<Placement> pointwise_inputs(const Call& call, int dim) {
  std::vector<Placement> inputs(call.input_count());
  for (int slot = 0; slot < call.input_count(); ++slot) {
    const TensorView input = call.input(slot);
    const int own = input.present() ? dim - (call.output().ndim() - input.ndim()) : -1;
    const bool follows = own >= 0 && input.size(own) == call.output().size(dim);
    inputs[slot] = !input.present() ? absent() : follows ? any_shard(own) : replicate();
  }
  return inputs;
}

// Shard rules of an elementwise op, every output of the same broadcast shape.
ONEDIM_INLINE void pointwise_rules(const Call& call, RuleSink& rules) {
  if (call.output_count() == 0 || !call.output().present()) return;
  for (int dim = 0; dim < call.output().ndim(); ++dim) {
    rules.add(std::vector<Placement>(call.output_count(), any_shard(dim)),
              pointwise_inputs(call, dim));
  }
}

// Shard rules of a reduction of input 0 to outputs of one shape. `kind` is the partial that a
// reduced dim leaves; empty for none.
ONEDIM_INLINE void reduction_rules(const Call& call, RuleSink& rules,
                                   const std::vector<bool>& reduced, bool keepdim,
                                   std::string_view kind) {
  int out_dim = 0;
  const size_t outputs = call.output_count();
  for (size_t dim = 0; dim < reduced.size(); ++dim) {
    std::vector<Placement> inputs(call.input_count(), replicate());
    inputs[0] = any_shard(static_cast<int>(dim));
    const bool is_cut = call.input(0).size(static_cast<int>(dim)) != 1;  // else it is replicated
    if (is_cut && !reduced[dim])
      rules.add(std::vector<Placement>(outputs, any_shard(out_dim)), inputs);
    if (is_cut && reduced[dim] && !kind.empty())
      rules.add(std::vector<Placement>(outputs, partial(kind)), inputs);
    if (!reduced[dim] || keepdim) ++out_dim;
  }
}

}  // namespace onedim::api
