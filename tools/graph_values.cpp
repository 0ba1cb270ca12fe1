#include "tools/graph_values.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/text.hpp"
#include "core/pack/joint_group.hpp"
#include "core/validate/mesh_split.hpp"
#include "core/validate/random.hpp"
#include "tools/index_bounds.hpp"

namespace onedim {
namespace {

constexpr int64_t kSteps = 8;  // in [-1,1] on each side of 0

// A matrix's product with a vector of ones is about one.
double scale_of(const GraphValue& value) {
  if (value.kind != ValueKind::kParam || value.meta.shape.size() < 2) return 1;
  const auto length = static_cast<double>(std::max<int64_t>(value.meta.shape.back(), 1));
  return std::exp2(-std::round(std::log2(length) / 2));
}

Tensor draw(const GraphValue& value, int64_t bound, uint64_t key) {
  Tensor tensor = Tensor::zeros(value.meta);
  const DType dtype = value.meta.dtype;
  const double step = scale_of(value) / kSteps;
  Random random(key);
  const auto number = [&] { return static_cast<double>(random.between(-kSteps, kSteps)) * step; };
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    if (is_complex(dtype)) {
      const double real = number();
      store_complex(dtype, tensor.element(i), {real, number()});
    } else if (is_floating(dtype)) {
      store_real(dtype, tensor.element(i), number());
    } else {
      store_integer(dtype, tensor.element(i), random.below(bound));
    }
  }
  return tensor;
}

}  // namespace

Result<GraphValues> draw_graph_values(const ResolvedGraph& resolved, const Solution& solution,
                                      uint64_t seed) {
  const Graph& graph = *resolved.graph;
  const std::vector<int64_t> bounds = index_bounds(resolved);
  GraphValues drawn;
  drawn.whole.resize(graph.values.size());
  drawn.locals.resize(graph.values.size());
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const GraphValue& value = graph.values[id];
    if (!value.is_given()) continue;
    const std::string name = "value " + quoted_excerpt(value.name);
    if (Status status = check_allocatable(value.meta); !status.ok()) return annotate(status, name);
    const Layout& layout = solution.given[id];
    if (std::any_of(layout.placements.begin(), layout.placements.end(), is_joint)) {
      return unimplemented("{} is {}: only built-in partial kinds are drawn", name,
                           format_layout(layout, solution.mesh));
    }
    const uint64_t key = mix_text(seed, value.name);
    drawn.whole[id] = draw(value, bounds[id], key);
    Domain domain;
    if (!is_floating(value.meta.dtype) && !is_complex(value.meta.dtype))
      domain = {"index", {Value{bounds[id]}}};
    drawn.locals[id] =
        split_over_mesh(drawn.whole[id], layout, solution.mesh, domain, mix_key(key, 1));
  }
  return drawn;
}

}  // namespace onedim
