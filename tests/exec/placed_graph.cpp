#include "tests/exec/placed_graph.hpp"

#include <gtest/gtest.h>

#include "core/layout/partition.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {

std::unique_ptr<PlacedGraph> place(GraphBuilder& builder, std::string_view mesh,
                                   std::string_view lines) {
  auto placed = std::make_unique<PlacedGraph>();
  Result<Graph> graph = builder.finish();
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return placed;
  placed->graph = *std::move(graph);
  Result<ResolvedGraph> resolved = resolve_graph(placed->graph, shipped_registry());
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  placed->resolved = *std::move(resolved);
  const Result<std::vector<PlacementLine>> parsed = parse_placement_lines(lines);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  Planner planner(test_model(mesh));
  Selector selector(shipped_registry(), planner);
  Result<Solution> solution = place_graph(placed->resolved, *parsed, selector, {});
  EXPECT_TRUE(solution.ok()) << solution.status();
  if (solution.ok()) placed->solution = *std::move(solution);
  return placed;
}

namespace {

Tensor column_major(const Tensor& tensor) {
  if (tensor.ndim() != 2) return tensor;
  const Dims& shape = tensor.shape();
  Tensor copy = Tensor::zeros(TensorMeta{tensor.dtype(), shape, {1, shape[0]}});
  copy_elements(tensor, copy);
  return copy;
}

}  // namespace

Result<GraphRunReport> run(const PlacedGraph& placed, const RunOptions& how) {
  const Result<GraphTask> task = make_graph_task(placed.resolved, placed.solution);
  if (!task.ok()) return task.status();
  std::vector<Tensor> whole(placed.graph.values.size());
  std::vector<std::vector<Tensor>> locals(whole.size());
  for (size_t id = 0; id < whole.size(); ++id) {
    const GraphValue& value = placed.graph.values[id];
    if (!value.is_given()) continue;
    whole[id] = Tensor::zeros(value.meta);
    for (int64_t i = 0; i < whole[id].element_count(); ++i)
      store_complex(value.meta.dtype, whole[id].element(i), static_cast<double>(i * 5 % 7 - 3));
    Result<std::vector<Tensor>> parts =
        split(whole[id], placed.solution.given[id], placed.solution.mesh);
    if (!parts.ok()) return parts.status();
    locals[id] = *std::move(parts);
    for (Tensor& local : locals[id]) {
      if (how.is_column_major) local = column_major(local);
    }
  }
  GraphRunOptions options;
  options.sim.has_threads = how.has_threads;
  return run_graph_on_sim(*task, whole, locals, options);
}

}  // namespace onedim
