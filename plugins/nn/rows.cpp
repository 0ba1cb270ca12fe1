#include "rows.hpp"

#include <limits>

namespace nn {
namespace {

Sets row_sets(const Call& call) {
  const Rows rows = rows_of(call);
  Sets sets;
  sets.span = global_shape(call, "input");
  for (int dim = 0; dim < call.tensor("input").ndim(); ++dim) {
    const bool is_leading = dim < rows.leading;
    if (is_leading) sets.span[static_cast<size_t>(dim)] = 1;
    sets.parameter.push_back(!is_leading);
  }
  return sets;
}

}  // namespace

Rows rows_of(const Call& call) {
  const TensorView input = call.tensor("input");
  const auto normalised = call.attribute<Shape>("normalized_shape");
  const int slot = call.slot("input");
  Rows rows;
  rows.leading = input.ndim() - static_cast<int>(normalised.size());
  bool fits = rows.leading >= 0 && !normalised.empty();
  for (size_t i = 0; fits && i < normalised.size(); ++i)
    fits = call.global_size(false, slot, rows.leading + static_cast<int>(i)) == normalised[i];
  if (!fits)
    fail("normalized_shape is " + format_shape(normalised) +
         ", expected the last dims of the input's shape " + format_shape(input.shape()));
  const auto shape = input.shape();
  rows.count = product_of(shape.first(static_cast<size_t>(rows.leading)));
  rows.size = product_of(shape.subspan(static_cast<size_t>(rows.leading)));
  return rows;
}

double rms_eps(const Call& call) {
  if (call.has_attribute("eps")) return call.attribute<double>("eps");
  const bool is_double = call.tensor("input").dtype() == DType::kF64;
  return is_double ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

Sets layer_norm_sets(const Call& call) {
  Sets sets = row_sets(call);
  sets.parameters = {"weight", "bias"};
  if (call.has_attribute("eps")) sets.eps = call.attribute<double>("eps");
  return sets;
}

Sets rms_norm_sets(const Call& call) {
  Sets sets = row_sets(call);
  sets.parameters = {"weight"};
  sets.centre = Centre::kZero;
  sets.eps = rms_eps(call);
  return sets;
}

Shape row_statistics_shape(const Call& call) {
  Shape shape = shape_of(call.tensor("input"));
  std::fill(shape.begin() + rows_of(call).leading, shape.end(), 1);
  return shape;
}

void require_row_shape(const Call& call, const std::vector<const char*>& names) {
  const auto row = call.attribute<Shape>("normalized_shape");
  for (const char* name : names) {
    if (call.has_tensor(name) && global_shape(call, name) != row)
      require_shape(call.tensor(name), row, name);
  }
}

void require_columns(const Call& call, const std::vector<const char*>& names, bool of_output,
                     int slot) {
  const int leading = rows_of(call).leading;
  for (const char* name : names) {
    for (int dim = 0; call.has_tensor(name) && dim < call.tensor(name).ndim(); ++dim)
      require_within(call, {of_output, slot, leading + dim}, {false, call.slot(name), dim});
  }
}

std::vector<double> load_columns(const Call& call, std::string_view name, bool of_output,
                                 int slot) {
  if (!call.has_tensor(name)) return {};
  const TensorView parameter = call.tensor(name);
  std::vector<double> values = load(parameter);
  const auto shape = (of_output ? call.output(slot) : call.input(slot)).shape();
  const auto row = shape.last(static_cast<size_t>(parameter.ndim()));
  // As many as are needed, and these are among them.
  if (std::equal(row.begin(), row.end(), parameter.shape().begin())) return values;
  const int leading = static_cast<int>(shape.size()) - parameter.ndim();
  std::vector<std::vector<int64_t>> dims;
  for (int dim = 0; dim < parameter.ndim(); ++dim)
    dims.push_back(places(call, {of_output, slot, leading + dim}, {false, call.slot(name), dim}));
  return pick(values, flat_places(dims, parameter.shape()));
}

}  // namespace nn
