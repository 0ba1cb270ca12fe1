#include "tools/graph_source.hpp"

#include <filesystem>

#include "core/graph/graph_read.hpp"
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
}

bool GraphSource::is_model() const { return find_llama(name).ok(); }

Result<Graph> GraphSource::open(const Registry* registry) const {
  const Result<LlamaConfig> config = find_llama(name);
  if (config.ok()) {
    LlamaShape shape;
    Status status = read_size("--batch", batch, kMostSize, shape.batch);
    status.Update(read_size("--sequence", sequence, kMostSize, shape.sequence));
    status.Update(read_size("--layers", layers, kMostLayers, shape.layers));
    return status.ok() ? build_llama_forward(*config, shape, *registry) : Result<Graph>(status);
  }
  std::error_code unknown;
  const bool is_name = name.find_first_of("/.") == std::string::npos;
  if (is_name && !std::filesystem::exists(name, unknown)) return config.status();
  if (!batch.empty() || !sequence.empty() || !layers.empty())
    return invalid_argument("--batch, --sequence and --layers are for models; \"{}\" is a file",
                            name);
  return read_graph(name);
}

}  // namespace onedim
