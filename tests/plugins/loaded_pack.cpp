#include "tests/plugins/loaded_pack.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/pack/closed_rules.hpp"
#include "core/pack/pack_loader.hpp"
#include "core/validate/lanes.hpp"

namespace onedim {
namespace {

// Complex elements are pairs of numbers; elements that are not given are 1.
Tensor tensor_of(const TensorMeta& meta, std::vector<double> elements) {
  elements.resize(meta.element_count() * (is_complex(meta.dtype) ? 2 : 1), 1);
  Tensor tensor = Tensor::zeros(meta);
  Lanes lanes;
  lanes.lane_class = lane_class_of(meta.dtype);
  if (lanes.lane_class == LaneClass::kInteger)
    lanes.integers.assign(elements.begin(), elements.end());
  else
    lanes.reals = elements;
  write_lanes(lanes, tensor);
  return tensor;
}

std::string text_of(const Tensor& tensor) {
  Lanes lanes;
  read_lanes(tensor, lanes);
  const std::string meta = format_meta(tensor.meta());
  if (lanes.lane_class == LaneClass::kInteger)
    return fmt::format("{}: {}", meta, fmt::join(lanes.integers, ", "));
  return fmt::format("{}: {}", meta, fmt::join(lanes.reals, ", "));
}

}  // namespace

LoadedPack::LoadedPack(std::string_view name) {
  LoadOptions options;
  options.paths = {fmt::format("{}/{}.so", ONEDIM_PACK_FOLDER, name)};
  for (const PackReport& report : load_packs(options, registry_)) {
    EXPECT_TRUE(report.verdict.ok()) << report.path;
  }
}

std::string LoadedPack::run(std::string_view op, std::string_view call,
                            const std::vector<std::vector<double>>& elements) const {
  const Op* found = registry_.find(op);
  if (found == nullptr) return "no such op";
  Result<CallText> parsed = parse_call(found->schema, call);
  if (!parsed.ok()) return std::string(message_of(parsed.status()));
  std::vector<Tensor> tensors;
  size_t next = 0;
  for (const OptionalMeta& meta : parsed->call.inputs) {
    const bool is_given = meta && next < elements.size();
    const std::vector<double> values = is_given ? elements[next] : std::vector<double>{};
    tensors.push_back(meta ? tensor_of(*meta, values) : Tensor());
    next += meta ? 1 : 0;
  }
  std::vector<Tensor*> slots;
  for (size_t i = 0; i < tensors.size(); ++i)
    slots.push_back(parsed->call.inputs[i] ? &tensors[i] : nullptr);
  const auto outputs = run_op(*found, parsed->call, slots);
  return outputs.ok() ? text_of(*outputs->at(0)) : std::string(message_of(outputs.status()));
}

Dims LoadedPack::strides(std::string_view op, std::string_view call,
                         const std::vector<Dims>& inputs) const {
  const Op& found = *registry_.find(op);
  Result<CallText> parsed = parse_call(found.schema, call);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  for (size_t slot = 0; slot < inputs.size(); ++slot)
    parsed->call.inputs[slot]->strides = inputs[slot];
  const Result<std::vector<OptionalOutput>> outputs = found.infer(parsed->call);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? outputs->at(0)->meta.strides : Dims();
}

bool LoadedPack::has_rule(std::string_view op, std::string_view call, std::string_view rule) const {
  const Op* found = registry_.find(op);
  if (found == nullptr) return false;
  const Result<CallText> parsed = parse_call(found->schema, call);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const auto outputs = found->infer(parsed->call);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  const auto rules = closed_rules(*found, parsed->call, *outputs, registry_);
  EXPECT_TRUE(rules.ok()) << rules.status();
  return std::any_of(rules->begin(), rules->end(),
                     [&](const ClosedRule& closed) { return format_rule(closed.rule) == rule; });
}

}  // namespace onedim
