#pragma once
// Shapes: broadcasting, wrapped dims and the families of rules that follow from shapes alone.
//   pointwise  every output dim may be sharded; an input that lacks the dim or has size 1 there is
//   replicated reduction  a dim that stays may be sharded on both sides; a reduced one gives a
//   partial einsum     per letter: in the output, S on every operand that has it; summed, P(sum);
//   linear in each operand
// Theory: an output element of these ops reads only input elements with the same index on a sharded
// dim.

#include <onedim/sinks.hpp>

#include <string>

namespace onedim::api {

inline Shape shape_of(const TensorView& tensor) {
  return {tensor.shape().begin(), tensor.shape().end()};
}

inline std::string format_shape(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

// ATen's broadcasting; the shorter shape is aligned to the right.
inline Shape broadcast(const Shape& a, std::span<const int64_t> b) {
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
inline int wrap_dim(int64_t dim, int ndim) {
  const int64_t range = ndim > 0 ? ndim : 1;
  if (dim < -range || dim >= range) {
    fail("dim " + std::to_string(dim) + " is out of range for a tensor of " + std::to_string(ndim) +
         " dims");
  }
  return static_cast<int>(dim < 0 ? dim + range : dim);
}

// True per dim that is in `dims`; an empty list stands for all. Repeated dims are an error.
inline std::vector<bool> dim_mask(std::span<const int64_t> dims, int ndim) {
  std::vector<bool> mask(ndim, dims.empty());
  for (int64_t dim : dims) {
    const int wrapped = wrap_dim(dim, ndim);
    if (ndim == 0) continue;
    if (mask[wrapped]) fail("dim " + std::to_string(dim) + " appears twice in the list of dims");
    mask[wrapped] = true;
  }
  return mask;
}

inline Shape reduced_shape(std::span<const int64_t> shape, const std::vector<bool>& reduced,
                           bool keepdim) {
  Shape out;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) out.push_back(shape[i]);
    if (reduced[i] && keepdim) out.push_back(1);
  }
  return out;
}

// Shard rules of an elementwise op, every output of the same broadcast shape.
inline void pointwise_rules(const Call& call, RuleSink& rules) {
  if (call.output_count() == 0 || !call.output().present()) return;
  const int ndim = call.output().ndim();
  std::vector<Placement> inputs(call.input_count());
  for (int dim = 0; dim < ndim; ++dim) {
    for (int slot = 0; slot < call.input_count(); ++slot) {
      const TensorView input = call.input(slot);
      const int own = input.present() ? dim - (ndim - input.ndim()) : -1;
      const bool follows = own >= 0 && input.size(own) == call.output().size(dim);
      inputs[slot] = !input.present() ? absent() : follows ? any_shard(own) : replicate();
    }
    rules.add(std::vector<Placement>(call.output_count(), any_shard(dim)), inputs);
  }
}

// Shard rules of a reduction of input 0 to outputs of one shape. `kind` is the partial that a
// reduced dim leaves; empty for none.
inline void reduction_rules(const Call& call, RuleSink& rules, const std::vector<bool>& reduced,
                            bool keepdim, std::string_view kind) {
  int out_dim = 0;
  const size_t outputs = call.output_count();
  for (size_t dim = 0; dim < reduced.size(); ++dim) {
    std::vector<Placement> inputs(call.input_count(), replicate());
    inputs[0] = any_shard(static_cast<int>(dim));
    if (!reduced[dim]) rules.add(std::vector<Placement>(outputs, any_shard(out_dim)), inputs);
    if (reduced[dim] && !kind.empty())
      rules.add(std::vector<Placement>(outputs, partial(kind)), inputs);
    if (!reduced[dim] || keepdim) ++out_dim;
  }
}

// An einsum over the call's first operands, `bmk,kn->bmn`; letters only, one per dim, no ellipsis,
// none twice in one operand. Slots beyond the operands are replicated. Emits sharding, contraction
// and linearity.
struct EinsumLetters {
  std::vector<std::string> operands;
  std::string output;
};

inline EinsumLetters parse_einsum(std::string_view equation) {
  EinsumLetters letters;
  const size_t arrow = equation.find("->");
  require(arrow != std::string_view::npos, "an einsum equation needs ->");
  letters.output = std::string(equation.substr(arrow + 2));
  std::string_view left = equation.substr(0, arrow);
  while (true) {
    const size_t comma = left.find(',');
    letters.operands.emplace_back(left.substr(0, comma));
    if (comma == std::string_view::npos) return letters;
    left.remove_prefix(comma + 1);
  }
}

inline Placement einsum_shard(const std::string& letters, char letter) {
  const size_t dim = letters.find(letter);
  return dim == std::string::npos ? replicate() : any_shard(static_cast<int>(dim));
}

inline void einsum_rules(const Call& call, RuleSink& rules, std::string_view equation) {
  const EinsumLetters letters = parse_einsum(equation);
  std::string distinct;
  for (const std::string& operand : letters.operands) {
    for (char letter : operand) {
      if (distinct.find(letter) == std::string::npos) distinct += letter;
    }
  }
  std::vector<Placement> inputs(call.input_count(), replicate());
  for (int slot = 0; slot < call.input_count(); ++slot) {
    if (!call.input(slot).present()) inputs[slot] = absent();
  }
  const std::vector<Placement> rest = inputs;
  for (char letter : distinct) {
    for (size_t i = 0; i < letters.operands.size(); ++i)
      inputs[i] = einsum_shard(letters.operands[i], letter);
    const bool summed = letters.output.find(letter) == std::string::npos;
    const Placement output = summed ? partial("sum") : einsum_shard(letters.output, letter);
    rules.add(std::span(&output, 1), inputs);
  }
  for (size_t i = 0; i < letters.operands.size(); ++i) {
    for (std::string_view kind : {std::string_view("sum"), std::string_view("avg")}) {
      inputs = rest;
      inputs[i] = partial(kind);
      const Placement output = partial(kind);
      rules.add(std::span(&output, 1), inputs);
    }
  }
}

// Output shape of the equation; sizes of a letter must agree.
inline Shape einsum_shape(const Call& call, std::string_view equation) {
  const EinsumLetters letters = parse_einsum(equation);
  std::vector<int64_t> sizes(256, -1);
  for (size_t i = 0; i < letters.operands.size(); ++i) {
    const TensorView operand = call.input(static_cast<int>(i));
    if (operand.ndim() != static_cast<int>(letters.operands[i].size())) {
      fail("operand " + std::to_string(i) + " has " + std::to_string(operand.ndim()) +
           " dims, expected " + std::to_string(letters.operands[i].size()));
    }
    for (int dim = 0; dim < operand.ndim(); ++dim) {
      int64_t& size = sizes[static_cast<unsigned char>(letters.operands[i][dim])];
      if (size >= 0 && size != operand.size(dim)) {
        fail("sizes " + std::to_string(size) + " and " + std::to_string(operand.size(dim)) +
             " of dims that must agree differ");
      }
      size = operand.size(dim);
    }
  }
  Shape out;
  for (char letter : letters.output) out.push_back(sizes[static_cast<unsigned char>(letter)]);
  return out;
}

}  // namespace onedim::api
