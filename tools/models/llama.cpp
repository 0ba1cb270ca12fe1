#include "tools/models/llama.hpp"

#include "core/base/text.hpp"
#include "tools/models/llama_backward.hpp"

namespace onedim {
namespace {

const std::vector<LlamaConfig>& configs() {
  static const std::vector<LlamaConfig> list = {
      {"llama3-debug", 256, 6, 16, 16, 768, 2048, 2048, false},
      {"llama3-1b", 2048, 16, 32, 8, 8192, 128256, 8192, true},
      {"llama3-8b", 4096, 32, 32, 8, 14336, 128256, 8192, false},
      {"llama3-70b", 8192, 80, 64, 8, 28672, 128256, 8192, false},
      {"llama3-405b", 16384, 126, 128, 8, 53248, 128256, 8192, false}};
  return list;
}

}  // namespace

std::span<const LlamaConfig> llama_configs() { return configs(); }

Result<LlamaConfig> find_llama(std::string_view name) {
  std::vector<std::string> names;
  for (const LlamaConfig& config : configs()) {
    if (config.name == name) return config;
    names.push_back(config.name);
  }
  return absl::NotFoundError(fmt::format("no model {}; there are {}{}", quoted_excerpt(name),
                                         fmt::join(names, ", "), did_you_mean(name, names)));
}

Result<Graph> build_llama_forward(const LlamaConfig& config, const LlamaShape& shape,
                                  const Registry& registry) {
  LlamaSteps steps(config, shape, registry);
  steps.builder.add_output(add_llama_forward(steps, false).output.y);
  steps.builder.set_forward_outputs(1);
  return steps.builder.finish();
}

Result<Graph> build_llama_joint(const LlamaConfig& config, const LlamaShape& shape,
                                const Registry& registry) {
  LlamaSteps steps(config, shape, registry);
  GraphBuilder& builder = steps.builder;
  const LlamaForward forward = add_llama_forward(steps, true);
  const std::vector<ValueId> gradients = add_llama_backward(steps, forward);
  builder.add_output(forward.output.y);
  builder.set_forward_outputs(1);
  for (size_t i = 0; i < gradients.size(); ++i) {
    builder.add_output(gradients[i]);
    builder.add_gradient(forward.params[i], gradients[i]);
  }
  builder.add_output(kNoValue);  // of the frequencies
  builder.add_output(kNoValue);  // of the tokens
  return builder.finish();
}

}  // namespace onedim
