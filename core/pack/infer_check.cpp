#include "core/pack/infer_check.hpp"

#include <algorithm>

namespace onedim {
namespace {

constexpr int64_t kLargest = int64_t{1} << 62;
constexpr int64_t kMostPadding =
    64;  // a fresh output's storage may be this many times its elements

Status check_count(const Schema& schema, size_t count) {
  const auto is_list = [](const ReturnSlot& slot) { return slot.is_list; };
  const size_t lists = std::count_if(schema.returns.begin(), schema.returns.end(), is_list);
  const size_t singles = schema.returns.size() - lists;
  if (lists == 0 && count != singles) {
    return invalid_argument("{} outputs, but the schema returns {}", count, singles);
  }
  if (count < singles)
    return invalid_argument("{} outputs, but the schema returns at least {}", count, singles);
  return absl::OkStatus();
}

Status check_fresh(const TensorMeta& meta) {
  if (may_overlap_itself(meta)) {
    return invalid_argument("strides {} let elements of shape {} overlap",
                            format_dims(meta.strides), format_dims(meta.shape));
  }
  const int64_t extent = checked_extent(meta);
  if (extent < 0 || extent / kMostPadding > std::max<int64_t>(meta.element_count(), 1)) {
    return invalid_argument("strides {} spread {} elements over {}", format_dims(meta.strides),
                            meta.element_count(),
                            extent < 0 ? "more than 2^62" : fmt::format("{}", extent));
  }
  return absl::OkStatus();
}

// Whether the schema lets this return share storage with the argument that input slot `slot`
// belongs to.
bool is_marked(const Schema& schema, const Call& call, const ReturnSlot& slot, int input) {
  if (slot.alias.empty()) return false;
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    const SlotRange range = call.arguments[i];
    const bool holds_input =
        range.first >= 0 && input >= range.first && input < range.first + range.count;
    if (holds_input && schema.arguments[i].alias == slot.alias) return true;
  }
  return false;
}

Status check_view(const Schema& schema, const Call& call, const ReturnSlot& slot,
                  const OutputMeta& output) {
  const int input = output.view_of_input;
  if (input < 0 || static_cast<size_t>(input) >= call.inputs.size() || !call.inputs[input]) {
    return invalid_argument("a view of input {}, which is not there", input);
  }
  if (!is_marked(schema, call, slot, input)) {
    return invalid_argument("a view of input {}, but the schema has no alias mark that says so",
                            input);
  }
  const TensorMeta& source = *call.inputs[input];
  const int64_t extent = checked_extent(output.meta);
  const int64_t bytes = checked_extent(source) * size_of(source.dtype);
  const int64_t item = size_of(output.meta.dtype);
  const bool fits = extent >= 0 && output.storage_offset >= 0 &&
                    output.storage_offset <= bytes / item &&
                    extent <= bytes / item - output.storage_offset;
  if (!fits && extent != 0) {
    return invalid_argument(
        "a view of {} elements from {} on, which leaves the {} bytes of input {}", extent,
        output.storage_offset, bytes, input);
  }
  if (slot.is_written && output.meta != source) {
    return invalid_argument("a written output must be described as input {}, {}", input,
                            format_meta(source));
  }
  return absl::OkStatus();
}

Status check_number(const ReturnSlot& slot, const OutputMeta& output) {
  const std::span<const DType> dtypes = number_dtypes(slot.type);
  const bool fits = std::find(dtypes.begin(), dtypes.end(), output.meta.dtype) != dtypes.end();
  if (fits && output.meta.shape.empty() && output.view_of_input == -1) return absl::OkStatus();
  std::string names;
  for (const DType dtype : dtypes)
    names += fmt::format("{}{}", names.empty() ? "" : " or ", name_of(dtype));
  return invalid_argument(
      "{}, but the schema returns a number, which is {} without dims and no view",
      format_meta(output.meta), names);
}

Status check_output(const Schema& schema, const Call& call, const ReturnSlot& slot,
                    const OptionalOutput& output) {
  if (!output) {
    if (slot.optional) return absl::OkStatus();
    return invalid_argument("absent, but the schema does not say `Tensor?`");
  }
  if (!slot.is_tensor()) return check_number(slot, *output);
  if (output->view_of_input != -1) return check_view(schema, call, slot, *output);
  if (slot.is_written)
    return invalid_argument("written in place, but not described as a view of its input");
  if (output->storage_offset != 0) return invalid_argument("an offset, but not a view");
  return check_fresh(output->meta);
}

}  // namespace

const ReturnSlot& return_of_output(const Schema& schema, size_t output, size_t output_count) {
  size_t first_list = 0;
  while (first_list < schema.returns.size() && !schema.returns[first_list].is_list) ++first_list;
  if (output < first_list || first_list == schema.returns.size()) return schema.returns[output];
  const size_t after = schema.returns.size() - first_list - 1;
  if (output + after < output_count) return schema.returns[first_list];
  return schema.returns[schema.returns.size() - (output_count - output)];
}

bool is_number_output(const Schema& schema, size_t output, size_t output_count) {
  const auto is_number = [](const ReturnSlot& slot) { return !slot.is_tensor(); };
  return std::any_of(schema.returns.begin(), schema.returns.end(), is_number) &&
         !return_of_output(schema, output, output_count).is_tensor();
}

int64_t checked_extent(const TensorMeta& meta) {
  int64_t extent = 1;
  for (size_t dim = 0; dim < meta.shape.size(); ++dim) {
    if (meta.shape[dim] == 0) return 0;
    int64_t reach = 0;
    if (__builtin_mul_overflow(meta.shape[dim] - 1, meta.strides[dim], &reach)) return -1;
    if (reach > kLargest - extent) return -1;
    extent += reach;
  }
  return extent;
}

bool may_overlap_itself(const TensorMeta& meta) {
  absl::InlinedVector<std::pair<int64_t, int64_t>, 6> dims;  // (stride, size)
  for (size_t dim = 0; dim < meta.shape.size(); ++dim) {
    if (meta.shape[dim] == 0) return false;
    if (meta.shape[dim] > 1) dims.emplace_back(meta.strides[dim], meta.shape[dim]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t reach = 0;  // the last element of the dims so far
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    if (stride > (kLargest - reach) / size)
      return false;  // too wide for anything; check_fresh says so
    reach += stride * (size - 1);
  }
  return false;
}

Status check_outputs(const Schema& schema, const Call& call,
                     std::span<const OptionalOutput> outputs) {
  if (Status status = check_count(schema, outputs.size()); !status.ok()) return status;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ReturnSlot& slot = return_of_output(schema, i, outputs.size());
    Status status = check_output(schema, call, slot, outputs[i]);
    if (!status.ok()) return annotate(status, fmt::format("output {}", i));
  }
  return absl::OkStatus();
}

}  // namespace onedim
