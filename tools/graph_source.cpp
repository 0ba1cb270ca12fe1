#include "tools/graph_source.hpp"

#include <filesystem>

#include "core/graph/graph_read.hpp"
#include "core/graph/graph_shrink.hpp"
#include "tools/flag_values.hpp"
#include "tools/models/llama.hpp"

namespace onedim {
namespace {

constexpr uint64_t kMostLayers = 10000;
constexpr uint64_t kMostSize = uint64_t{1} << 24;

template <typename T>
Status read_size(std::string_view flag, const std::string& text, uint64_t most, T& target) {
  if (text.empty()) return absl::OkStatus();
  const Result<uint64_t> size = parse_whole(flag, text, 1, most);
  if (!size.ok()) return size.status();
  target = static_cast<T>(*size);
  return absl::OkStatus();
}

// Of a model whose norms are in f32: not wider than that.
Status read_dtype(std::string_view flag, const std::string& text, DType& target) {
  if (text.empty()) return absl::OkStatus();
  const Result<DType> dtype = parse_dtype(text);
  if (!dtype.ok()) return annotate(dtype.status(), flag);
  if (*dtype != DType::kF32 && *dtype != DType::kBF16 && *dtype != DType::kF16)
    return invalid_argument("{}: a model is in f32, bf16 or f16, not in {}", flag, text);
  target = *dtype;
  return absl::OkStatus();
}

}  // namespace

void GraphSource::add_to(CLI::App& command) {
  command
      .add_option("graph", name,
                  "A file in the format onedim.graph/1, plain or gzip, or a model: llama3-debug, "
                  "-1b, -8b, -70b, -405b")
      ->type_name("GRAPH.JSON|MODEL")
      ->required();
  command.add_option("--batch", batch, "Of a model: sequences in a batch (default: 16)")
      ->type_name("N");
  command.add_option("--sequence", sequence, "Of a model: tokens in a sequence (default: its own)")
      ->type_name("N");
  command.add_option("--layers", layers, "Of a model: layers (default: all)")->type_name("N");
  command
      .add_option("--stored", stored, "Of a model: dtype of weights and gradients (default: f32)")
      ->type_name("DTYPE");
  command.add_option("--computed", computed, "Of a model: dtype they are cast to (default: bf16)")
      ->type_name("DTYPE");
  command.add_flag("--forward", is_forward, "Of a model: without the backward pass");
  command
      .add_option("--shrink", shrink,
                  "Make sizes smaller wherever they stand, such as 4096=64,32=8,128=8: the parts "
                  "of a product alike")
      ->type_name("OLD=NEW,..");
}

bool GraphSource::is_model() const { return find_llama(name).ok(); }

std::vector<std::string_view> GraphSource::model_flags() const {
  std::vector<std::string_view> flags;
  if (!batch.empty()) flags.push_back("--batch");
  if (!sequence.empty()) flags.push_back("--sequence");
  if (!layers.empty()) flags.push_back("--layers");
  if (!stored.empty()) flags.push_back("--stored");
  if (!computed.empty()) flags.push_back("--computed");
  if (is_forward) flags.push_back("--forward");
  return flags;
}

Result<Graph> GraphSource::open(const Registry* registry) const {
  Result<Graph> graph = open_whole(registry);
  if (!graph.ok() || shrink.empty()) return graph;
  const Result<std::vector<SizeChange>> changes = parse_size_changes(shrink);
  if (!changes.ok()) return annotate(changes.status(), "--shrink");
  Result<Graph> small = shrink_graph(*graph, *registry, *changes);
  if (!small.ok()) return annotate(small.status(), "--shrink");
  return small;
}

Result<Graph> GraphSource::open_whole(const Registry* registry) const {
  const Result<LlamaConfig> config = find_llama(name);
  if (config.ok()) {
    LlamaShape shape;
    Status status = read_size("--batch", batch, kMostSize, shape.batch);
    status.Update(read_size("--sequence", sequence, kMostSize, shape.sequence));
    status.Update(read_size("--layers", layers, kMostLayers, shape.layers));
    status.Update(read_dtype("--stored", stored, shape.stored));
    status.Update(read_dtype("--computed", computed, shape.computed));
    if (!status.ok()) return status;
    return is_forward ? build_llama_forward(*config, shape, *registry)
                      : build_llama_joint(*config, shape, *registry);
  }
  std::error_code unknown;
  const bool is_name = name.find_first_of("/.") == std::string::npos;
  if (is_name && !std::filesystem::exists(name, unknown)) return config.status();
  if (const std::vector<std::string_view> flags = model_flags(); !flags.empty())
    return invalid_argument("{} is for models; \"{}\" is a file", flags[0], name);
  return read_graph(name);
}

}  // namespace onedim
