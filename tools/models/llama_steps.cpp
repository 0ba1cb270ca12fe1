#include "tools/models/llama_steps.hpp"

#include <algorithm>

namespace onedim {
namespace {

Value list_value(std::initializer_list<int64_t> numbers) {
  Value value;
  auto& list = value.data.emplace<ValueList>(numbers.size());
  std::transform(numbers.begin(), numbers.end(), list.begin(),
                 [](int64_t number) { return Value{number}; });
  return value;
}

LlamaShape filled(LlamaShape shape, const LlamaConfig& config) {
  if (shape.sequence == 0) shape.sequence = config.sequence;
  if (shape.layers == 0) shape.layers = config.layers;
  return shape;
}

}  // namespace

LlamaSteps::LlamaSteps(const LlamaConfig& model, const LlamaShape& sizes, const Registry& registry)
    : config(model), shape(filled(sizes, model)), builder(model.name, registry) {}

ValueId LlamaSteps::cast(ValueId x, DType dtype) {
  if (builder.meta(x).dtype == dtype) return x;
  return builder.add("prims.convert_element_type", {{"a", x}},
                     {{"dtype", Value{std::string(name_of(dtype))}}});
}

ValueId LlamaSteps::cast_weight(ValueId x, DType dtype) {
  builder.set_role("dtype_cast");
  const ValueId result = cast(x, dtype);
  builder.set_role("");
  return result;
}

ValueId LlamaSteps::view(ValueId x, std::initializer_list<int64_t> sizes) {
  return builder.add("view", {{"self", x}}, {{"size", list_value(sizes)}});
}

ValueId LlamaSteps::expand(ValueId x, std::initializer_list<int64_t> sizes) {
  return builder.add("expand", {{"self", x}}, {{"size", list_value(sizes)}});
}

ValueId LlamaSteps::permute(ValueId x, std::initializer_list<int64_t> dims) {
  return builder.add("permute", {{"self", x}}, {{"dims", list_value(dims)}});
}

ValueId LlamaSteps::sum(ValueId x, std::initializer_list<int64_t> dims) {
  return builder.add("sum.dim_IntList", {{"self", x}},
                     {{"dim", list_value(dims)}, {"keepdim", Value{true}}});
}

ValueId LlamaSteps::times(ValueId x, ValueId y) {
  return builder.add("mul.Tensor", {{"self", x}, {"other", y}});
}

ValueId LlamaSteps::plus(ValueId x, ValueId y) {
  return builder.add("add.Tensor", {{"self", x}, {"other", y}});
}

ValueId LlamaSteps::einsum(const char* equation, ValueId x, ValueId y) {
  return builder.add_node("einsum", {{"tensors", true, {x, y}}},
                          {{"equation", Value{std::string(equation)}}})[0];
}

ValueId LlamaSteps::scalar(const char* op, ValueId x, const char* name, Value number) {
  return builder.add(op, {{"self", x}}, {{name, std::move(number)}});
}

}  // namespace onedim
