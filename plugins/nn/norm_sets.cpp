#include "norm_sets.hpp"

namespace nn {

Shape statistics_shape(const Call& call, const Sets& sets, Shape shape) {
  for (size_t dim = 0; dim < shape.size(); ++dim)
    shape[dim] = sets.covers(call, dim) ? 1 : shape[dim] / sets.span[dim];
  return shape;
}

std::vector<int64_t> input_places(const Call& call) {
  std::vector<std::vector<int64_t>> dims;
  Shape sizes;
  for (int dim = 0; dim < call.tensor("input").ndim(); ++dim) {
    dims.push_back(places(call, {false, call.slot("input"), dim}, {true, 0, dim}));
    sizes.push_back(static_cast<int64_t>(
        global_indices(call, true, 0, dim, call.tensor("input").size(dim)).size()));
  }
  return flat_places(dims, sizes);
}

std::vector<int64_t> set_places(const Call& call, const Sets& sets) {
  const TensorView input = call.tensor("input");
  std::vector<std::vector<int64_t>> dims;
  Shape sizes;
  for (int dim = 0; dim < input.ndim(); ++dim) {
    const auto at = static_cast<size_t>(dim);
    if (sets.covers(call, at)) {
      dims.emplace_back(static_cast<size_t>(input.size(dim)), 0);
      sizes.push_back(1);
      continue;
    }
    std::vector<int64_t> own = places(call, {false, call.slot("input"), dim}, {true, 0, dim});
    for (int64_t& place : own) place = place < 0 ? place : place / sets.span[at];
    const auto length =
        static_cast<int64_t>(global_indices(call, true, 0, dim, input.size(dim)).size());
    dims.push_back(std::move(own));
    sizes.push_back(length / sets.span[at]);
  }
  return flat_places(dims, sizes);
}

std::vector<size_t> coarse_places(std::span<const int64_t> shape, std::span<const int64_t> coarse) {
  std::vector<size_t> flat = {0};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<size_t> longer;
    longer.reserve(flat.size() * static_cast<size_t>(shape[dim]));
    for (const size_t outer : flat) {
      for (int64_t i = 0; i < shape[dim]; ++i) {
        const int64_t place = i / (shape[dim] / coarse[dim]);
        longer.push_back(outer * static_cast<size_t>(coarse[dim]) + static_cast<size_t>(place));
      }
    }
    flat = std::move(longer);
  }
  return flat;
}

void require_whole_sets(const Call& call, const Sets& sets) {
  for (size_t dim = 0; dim < sets.span.size(); ++dim) {
    const int64_t length = call.tensor("input").size(static_cast<int>(dim));
    const bool is_whole =
        sets.covers(call, dim) ? length == sets.span[dim] : length % sets.span[dim] == 0;
    require(
        is_whole,
        "a part of a set is not normalised by itself, nor differentiated; its joint partial is");
  }
}

Shape norm_shape(const Call& call, const Sets& sets) {
  if (has_joint(call)) return local_output_shape(call, 0, global_shape(call, "input"));
  require_whole_sets(call, sets);
  return shape_of(call.tensor("input"));
}

void accept_input_cuts(const Call& call, const Sets& sets) {
  for (size_t at = 0; at < sets.span.size(); ++at) {
    const int dim = static_cast<int>(at);
    const TensorDim part{false, call.slot("input"), dim};
    if (call.output(0).present()) accept_covering(call, part, {true, 0, dim});
  }
}

std::vector<int> parameter_dims(const Sets& sets) {
  std::vector<int> dims;
  for (size_t dim = 0; dim < sets.parameter.size(); ++dim) {
    if (sets.parameter[dim]) dims.push_back(static_cast<int>(dim));
  }
  return dims;
}

void for_each_parameter_cut(const Call& call, const std::vector<const char*>& parameters,
                            const Placement& cut,
                            const std::function<void(const std::vector<RuleSink::Named>&)>& add) {
  std::vector<std::vector<RuleSink::Named>> choices = {{}};
  for (const char* name : parameters) {
    if (!call.has_tensor(name)) continue;
    const size_t count = choices.size();
    for (size_t i = 0; i < count; ++i) {
      choices.push_back(choices[i]);
      choices.back().push_back({name, cut});
    }
  }
  for (const std::vector<RuleSink::Named>& choice : choices) add(choice);
}

}  // namespace nn
