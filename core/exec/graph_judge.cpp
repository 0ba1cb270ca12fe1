#include "core/exec/graph_judge.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"

namespace onedim {
namespace {

bool has_partial(const Layout& layout, const Mesh& mesh) {
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (layout.placements[d].is_partial() && mesh.size(d) > 1) return true;
  }
  return false;
}

bool rounds(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

bool is_linear(const Layout& layout) {
  return std::any_of(layout.placements.begin(), layout.placements.end(), [](const Placement& p) {
    return p.is_partial() && is_linear_partial(p.partial);
  });
}

// sum|terms| of what a sum or mean over ranks joins; nothing for other partials.
std::optional<Tensor> joined_magnitudes(std::span<const Tensor> locals, const Dims& shape,
                                        const Layout& layout, const Mesh& mesh) {
  const DType dtype = locals[0].dtype();
  if (!is_linear(layout) || !rounds(dtype)) return std::nullopt;
  std::vector<Tensor> sizes;
  for (const Tensor& local : locals) sizes.push_back(magnitudes_of(local));
  Result<Tensor> joined = join(sizes, shape, layout, mesh);
  if (!joined.ok()) return std::nullopt;
  return *std::move(joined);
}

std::vector<Tensor> column(const std::vector<std::vector<Tensor>>& rows, size_t at) {
  std::vector<Tensor> tensors;
  for (const std::vector<Tensor>& row : rows) tensors.push_back(row[at]);
  return tensors;
}

// Element `element` of a rank's part, as a global index.
std::string index_text(const IndexMap& map, int64_t element) {
  if (element < 0) return "";
  const Dims local = map.local_shape();
  Dims index(local.size());
  for (size_t dim = local.size(); dim-- > 0;) {
    index[dim] = map.global_index(static_cast<int>(dim), element % local[dim]);
    element /= local[dim];
  }
  return ", at " + format_dims(index);
}

}  // namespace

void add_verdict(GraphVerdict other, GraphVerdict& verdict) {
  verdict.is_equal &= other.is_equal;
  verdict.is_bit_equal &= other.is_bit_equal;
  verdict.max_abs_error = std::max(verdict.max_abs_error, other.max_abs_error);
  verdict.max_ulp = std::max(verdict.max_ulp, other.max_ulp);
  verdict.nodes += other.nodes;
  verdict.moves += other.moves;
  if (other.first && (!verdict.first || *other.first < *verdict.first)) {
    verdict.first = other.first;
    verdict.difference = std::move(other.difference);
  }
  if (verdict.status.ok()) verdict.status = other.status;
}

GraphJudge::GraphJudge(const GraphTask& task)
    : task_(task),
      ranks_(static_cast<size_t>(task.mesh().rank_count())),
      keeps_copies_(std::count(task.writes.begin(), task.writes.end(), true) > 0),
      move_starts_(task.solution->moves.size(), 0) {
  for (const GraphStage& stage : task.stages) {
    if (stage.kind == GraphStage::Kind::kMove) move_starts_[stage.move] = stage.node;
  }
}

void GraphJudge::on_inputs(int64_t rank, int node, std::span<Tensor* const> inputs) {
  std::vector<Tensor> mine;
  for (const Tensor* input : inputs) {
    mine.push_back(input == nullptr ? Tensor() : keeps_copies_ ? input->clone() : *input);
  }
  const std::lock_guard lock(mutex_);
  Told& told = nodes_[node];
  told.inputs.resize(ranks_);
  told.inputs[static_cast<size_t>(rank)] = std::move(mine);
}

void GraphJudge::on_outputs(int64_t rank, int node, std::span<const Tensor> outputs) {
  std::vector<Tensor> mine;
  for (const Tensor& output : outputs) {
    const bool is_copied = keeps_copies_ && output.data() != nullptr;
    mine.push_back(is_copied ? output.clone() : output);
  }
  const std::lock_guard lock(mutex_);
  Told& told = nodes_[node];
  told.outputs.resize(ranks_);
  told.outputs[static_cast<size_t>(rank)] = std::move(mine);
  if (++told.come < ranks_) return;
  judge_node(node, told);
  nodes_.erase(node);
}

void GraphJudge::on_move(int64_t rank, int move, const Tensor& from, const Tensor& to) {
  const Tensor before = keeps_copies_ ? from.clone() : from;
  const Tensor behind = keeps_copies_ ? to.clone() : to;
  const std::lock_guard lock(mutex_);
  Told& told = moves_[move];
  told.inputs.resize(ranks_);
  told.outputs.resize(ranks_);
  told.inputs[static_cast<size_t>(rank)] = {before};
  told.outputs[static_cast<size_t>(rank)] = {behind};
  if (++told.come < ranks_) return;
  judge_move(move, told);
  moves_.erase(move);
}

void GraphJudge::fail(const Status& status) {
  if (verdict_.status.ok()) verdict_.status = status;
}

void GraphJudge::note(const GraphOrder& order, const Comparison& compared, std::string_view what,
                      std::string_view where, const Layout& layout) {
  verdict_.is_bit_equal &= compared.is_bit_equal;
  verdict_.max_abs_error = std::max(verdict_.max_abs_error, compared.max_abs_error);
  verdict_.max_ulp = std::max(verdict_.max_ulp, compared.max_ulp);
  if (compared.is_equal) return;
  verdict_.is_equal = false;
  if (verdict_.first && *verdict_.first <= order) return;
  verdict_.first = order;
  verdict_.difference = fmt::format("{}{}: {}, under {}", what, where, compared.difference,
                                    format_layout(layout, task_.mesh()));
}

void GraphJudge::judge_node(int node, const Told& told) {
  const ResolvedNode& resolved = task_.resolved->nodes[node];
  const Mesh& mesh = task_.mesh();
  const std::string name = node_text(task_.graph().nodes[node]);
  ++verdict_.nodes;
  ShardedOp whole_op;
  whole_op.op = resolved.op;
  whole_op.registry = task_.resolved->registry;
  whole_op.call = resolved.call;
  whole_op.outputs = resolved.outputs;
  whole_op.mesh = mesh;
  std::vector<std::optional<Tensor>> inputs(resolved.slots.size());
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (!resolved.call.inputs[slot]) continue;
    Result<Tensor> joined = join(column(told.inputs, slot), resolved.call.inputs[slot]->shape,
                                 task_.solution->nodes[node].inputs[slot], mesh);
    if (!joined.ok()) return fail(annotate(joined.status(), name));
    inputs[slot] = *std::move(joined);
  }
  Result<WholeResult> whole = run_whole(whole_op, inputs);
  if (!whole.ok()) return fail(annotate(whole.status(), name));
  whole->roundings *= coarseness(node, *whole);
  std::vector<Compared> compared = compare_outputs(node, told, *whole);
  const bool is_equal = std::all_of(compared.begin(), compared.end(),
                                    [](const Compared& one) { return one.comparison.is_equal; });
  if (!is_equal) {
    // Perhaps inner sums of the op cancel.
    const Status status = add_cancelled_terms(whole_op, inputs, *whole);
    if (!status.ok()) return fail(annotate(status, name));
    compared = compare_outputs(node, told, *whole);
  }
  for (const Compared& one : compared) {
    const Layout layout = settled_layout(task_.solution->nodes[node].outputs[one.output]);
    note({node, 1, 0}, one.comparison, fmt::format("{}, output {}", name, one.output), one.where,
         layout);
  }
}

// How much coarser than its outputs a node's inputs are that are joined from sums of parts: joining
// rounds as they do, what the node makes of the parts by themselves does not.
double GraphJudge::coarseness(int node, const WholeResult& whole) const {
  double coarsest = 1;
  const ResolvedNode& resolved = task_.resolved->nodes[node];
  for (size_t slot = 0; slot < resolved.slots.size(); ++slot) {
    const OptionalMeta& meta = resolved.call.inputs[slot];
    if (!meta || !is_linear(task_.solution->nodes[node].inputs[slot])) continue;
    for (const std::optional<Tensor>& output : whole.outputs) {
      if (!output || !rounds(output->dtype()) || !rounds(meta->dtype)) continue;
      coarsest = std::max(coarsest, epsilon_of(meta->dtype) / epsilon_of(output->dtype()));
    }
  }
  return coarsest;
}

std::vector<GraphJudge::Compared> GraphJudge::compare_outputs(int node, const Told& told,
                                                              const WholeResult& whole) {
  const ResolvedNode& resolved = task_.resolved->nodes[node];
  const Mesh& mesh = task_.mesh();
  std::vector<Compared> list;
  for (size_t output = 0; output < resolved.outputs.size(); ++output) {
    if (!whole.outputs[output] || resolved.op->has_undefined_content()) continue;
    const Tensor& expected = *whole.outputs[output];
    const Tensor* sizes = whole.magnitudes[output] ? &*whole.magnitudes[output] : nullptr;
    const std::vector<Tensor> locals = column(told.outputs, output);
    const Layout layout = settled_layout(task_.solution->nodes[node].outputs[output]);
    if (has_partial(layout, mesh)) {
      list.push_back(
          {output, "", compare_partial(layout, locals, expected, sizes, whole.roundings)});
      const IndexMap all =
          index_map(expected.shape(), Layout::replicated(mesh.ndim()), mesh, mesh.coordinate_of(0));
      list.back().where = index_text(all, list.back().comparison.element);
      continue;
    }
    for (size_t rank = 0; rank < ranks_; ++rank) {
      const auto number = static_cast<int64_t>(rank);
      const IndexMap map = index_map(expected.shape(), layout, mesh, mesh.coordinate_of(number));
      std::optional<Tensor> magnitude;
      if (sizes != nullptr) magnitude = gather_elements(*sizes, map);
      const Comparison compared =
          compare_tensors(gather_elements(expected, map), locals[rank],
                          magnitude ? &*magnitude : nullptr, whole.roundings);
      list.push_back(
          {output,
           fmt::format(" on {}{}", describe_rank(mesh, number), index_text(map, compared.element)),
           compared});
    }
  }
  return list;
}

// Ranks hold parts of each element: what they add up to is compared.
Comparison GraphJudge::compare_partial(const Layout& layout, std::span<const Tensor> locals,
                                       const Tensor& expected, const Tensor* magnitudes,
                                       double roundings) {
  const Result<Tensor> joined = join(locals, expected.shape(), layout, task_.mesh());
  if (!joined.ok()) {
    fail(joined.status());
    return {};
  }
  std::optional<Tensor> sizes = joined_magnitudes(locals, expected.shape(), layout, task_.mesh());
  if (sizes && magnitudes != nullptr) {
    for (int64_t i = 0; i < sizes->element_count(); ++i) {
      const double sum = load_real(DType::kF64, sizes->element(i)) +
                         load_real(DType::kF64, magnitudes->element(i));
      store_real(DType::kF64, sizes->element(i), sum);
    }
  } else if (magnitudes != nullptr) {
    sizes = *magnitudes;
  }
  return compare_tensors(expected, *joined, sizes ? &*sizes : nullptr, roundings);
}

void GraphJudge::judge_move(int number, const Told& told) {
  const ValueMove& move = task_.solution->moves[number];
  const Mesh& mesh = task_.mesh();
  const Dims& shape = task_.graph().values[move.values[0]].meta.shape;
  const std::string what =
      fmt::format("the move of {} to {}", move_cause(task_, number), format_layout(move.to, mesh));
  const GraphOrder order{move_starts_[number], 0, number};
  ++verdict_.moves;
  const std::vector<Tensor> before = column(told.inputs, 0), behind = column(told.outputs, 0);
  const Result<Tensor> expected = join(before, shape, move.from, mesh);
  if (!expected.ok()) return fail(annotate(expected.status(), what));
  const std::optional<Tensor> sizes = joined_magnitudes(before, shape, move.from, mesh);
  // What only moves is bit equal.
  const bool reduces = has_partial(move.from, mesh) || has_partial(move.to, mesh);
  const double roundings = reduces ? static_cast<double>(ranks_) + 1 : 0;
  if (has_partial(move.to, mesh)) {
    const Result<Tensor> joined = join(behind, shape, move.to, mesh);
    if (!joined.ok()) return fail(annotate(joined.status(), what));
    const Comparison compared =
        compare_tensors(*expected, *joined, sizes ? &*sizes : nullptr, roundings);
    return note(order, compared, what, "", move.to);
  }
  for (size_t rank = 0; rank < ranks_; ++rank) {
    const IndexMap map =
        index_map(shape, move.to, mesh, mesh.coordinate_of(static_cast<int64_t>(rank)));
    std::optional<Tensor> magnitude;
    if (sizes) magnitude = gather_elements(*sizes, map);
    const Comparison compared = compare_tensors(gather_elements(*expected, map), behind[rank],
                                                magnitude ? &*magnitude : nullptr, roundings);
    note(order, compared, what,
         fmt::format(" on {}{}", describe_rank(mesh, static_cast<int64_t>(rank)),
                     index_text(map, compared.element)),
         move.to);
  }
}

GraphVerdict GraphJudge::verdict() const { return verdict_; }

}  // namespace onedim
