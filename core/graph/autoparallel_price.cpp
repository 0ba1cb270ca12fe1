#include "core/graph/autoparallel_price.hpp"

#include <algorithm>

#include "core/cost/autoparallel_move.hpp"
#include "core/cost/autoparallel_roofline.hpp"
#include "core/pack/foreign_call.hpp"

namespace onedim {
namespace {

// All outputs are told to be views by the schema alone, as PyTorch marks them.
bool is_view(const Schema& schema) {
  const auto is_written = [](const Argument& argument) { return argument.is_written; };
  return !schema.returns.empty() &&
         std::none_of(schema.arguments.begin(), schema.arguments.end(), is_written) &&
         std::all_of(schema.returns.begin(), schema.returns.end(),
                     [](const ReturnSlot& slot) { return !slot.alias.empty(); });
}

// Each mesh dim leaves its share, rounded up.
TensorMeta local_meta(const TensorMeta& meta, const Layout& layout, const Mesh& mesh) {
  Dims shape = meta.shape;
  for (int dim = 0; dim < mesh.ndim(); ++dim) {
    const Placement& placement = layout.placements[dim];
    if (!placement.is_shard()) continue;
    int64_t& length = shape[placement.dim];
    length = (length + mesh.size(dim) - 1) / mesh.size(dim);
  }
  return TensorMeta::contiguous(meta.dtype, std::move(shape));
}

// Puts back the sizes of output dims that the call gives by number.
void keep_told_sizes(const ResolvedNode& node, std::vector<OptionalOutput>& outputs) {
  for (const SizeAttribute& size : node.op->size_attributes) {
    const Value* value = node.call.attribute(size.attribute);
    OptionalOutput& output = outputs[size.output_slot];
    if (value == nullptr || value->is_none() || !output) continue;
    const TensorMeta& whole = node.outputs[size.output_slot]->meta;
    Dims shape = output->meta.shape;
    const ValueList* list = value->get_if<ValueList>();
    const size_t count = list != nullptr ? list->size() : 1;
    for (size_t i = 0; i < count && size.first_dim + i < shape.size(); ++i)
      shape[size.first_dim + i] = whole.shape[size.first_dim + i];
    output->meta = TensorMeta::contiguous(whole.dtype, std::move(shape));
  }
}

}  // namespace

Result<AutoParallelPrices> AutoParallelPrices::create(std::shared_ptr<const CostModel> model) {
  Result<CountedOps> counted = CountedOps::load();
  if (!counted.ok()) return counted.status();
  return AutoParallelPrices(std::move(model), *std::move(counted));
}

Result<double> AutoParallelPrices::node_us(const ResolvedNode& node, std::span<const Layout> inputs,
                                           std::span<const Layout> outputs) const {
  if (is_view(node.op->schema)) return 0.0;
  Call local = node.call;
  const TensorMeta* first = nullptr;
  double bytes = 0;
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    OptionalMeta& input = local.inputs[slot];
    if (!input) continue;
    input = local_meta(*input, inputs[slot], mesh());
    bytes += static_cast<double>(input->bytes());
    if (first == nullptr) first = &*input;
  }
  std::vector<OptionalOutput> made = node.outputs;
  for (size_t slot = 0; slot < made.size(); ++slot) {
    if (made[slot]) made[slot]->meta = local_meta(made[slot]->meta, outputs[slot], mesh());
  }
  keep_told_sizes(node, made);
  for (const OptionalOutput& output : made) {
    if (!output) continue;
    bytes += static_cast<double>(output->meta.bytes());
    if (first == nullptr) first = &output->meta;
  }
  double flops = 0;
  if (counted_.has(node.op->name())) {
    const ForeignCall running(*node.op, "the cost");
    const Result<std::optional<CallCost>> cost = node.op->cost(local, made);
    if (!cost.ok()) return cost.status();
    if (!*cost) return unimplemented("{}: its pack does not say what it computes", node.op->name());
    flops = (*cost)->flops;
  }
  return autoparallel_roofline_us(flops, bytes, first == nullptr ? DType::kU8 : first->dtype);
}

double AutoParallelPrices::move_us(const TensorMeta& meta, const Layout& from,
                                   const Layout& to) const {
  return autoparallel_move_us(*model_, meta, from, to);
}

Result<AutoParallelPriced> price_autoparallel(const ResolvedGraph& resolved,
                                              const AutoParallelSolution& solution,
                                              const AutoParallelPrices& prices) {
  const Graph& graph = *resolved.graph;
  AutoParallelPriced priced;
  for (int node = 0; node < graph.node_count(); ++node) {
    const AutoParallelNode& placed = solution.nodes[node];
    const ResolvedNode& of = resolved.nodes[node];
    const Result<double> us = prices.node_us(of, placed.input_layouts(), placed.outputs);
    if (!us.ok()) return annotate(us.status(), node_text(graph.nodes[node]));
    priced.node_us.push_back(*us);
    priced.compute_us += *us;
    std::vector<double>& edges = priced.edge_us.emplace_back(of.slots.size(), 0.0);
    for (size_t slot = 0; slot < edges.size(); ++slot) {
      if (of.slots[slot] == kNoValue) continue;
      const AutoParallelEdge& edge = placed.inputs[slot];
      edges[slot] = prices.move_us(graph.values[of.slots[slot]].meta, edge.from, edge.to);
      priced.communication_us += edges[slot];
      priced.edges += 1;
      priced.transitions += edge.from != edge.to;
    }
  }
  return priced;
}

}  // namespace onedim
