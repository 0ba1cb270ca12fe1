#include "tests/exec/moved.hpp"

#include <algorithm>

#include "core/layout/memory_order.hpp"
#include "core/layout/partition.hpp"
#include "tests/redistribute/test_model.hpp"

namespace onedim {
namespace {

Tensor column_major(const Tensor& tensor) {
  TensorMeta meta{tensor.dtype(), tensor.shape(), Dims(tensor.shape().size())};
  int64_t next = 1;
  for (size_t dim = 0; dim < meta.shape.size(); ++dim) {
    meta.strides[dim] = next;
    next *= std::max<int64_t>(1, meta.shape[dim]);
  }
  Tensor result = Tensor::zeros(meta);
  copy_elements(tensor, result);
  return result;
}

Tensor placed(const Tensor& tensor, int outermost) {
  Tensor result = Tensor::zeros(
      {tensor.dtype(), tensor.shape(), strides_with_outermost(tensor.shape(), outermost)});
  copy_elements(tensor, result);
  return result;
}

}  // namespace

Tensor ramp(DType dtype, const Dims& shape, int64_t first) {
  Tensor tensor = Tensor::zeros(dtype, shape);
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    store_complex(dtype, tensor.element(i), static_cast<double>(first + i));
  return tensor;
}

std::string elements_text(const Tensor& tensor) {
  Dims values;
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    values.push_back(static_cast<int64_t>(load_complex(tensor.dtype(), tensor.element(i)).real()));
  return format_dims(values);
}

Result<Moved> move_ramp(std::string_view mesh_text, const Dims& shape, std::string_view from,
                        std::string_view to, const MoveOptions& options) {
  Planner planner(test_model(mesh_text));
  const Mesh& mesh = planner.mesh();
  const int ndim = static_cast<int>(shape.size());
  const Result<Layout> source = parse_layout(from, mesh, ndim),
                       target = parse_layout(to, mesh, ndim);
  if (!source.ok()) return source.status();
  if (!target.ok()) return target.status();
  const Tensor whole = ramp(options.dtype, shape, options.first);
  const auto plan = planner.plan(whole.meta(), *source, *target, options.plan);
  if (!plan.ok()) return plan.status();
  Result<std::vector<Tensor>> locals = split(whole, *source, mesh);
  Result<std::vector<Tensor>> expected = split(whole, *target, mesh);
  if (!locals.ok()) return locals.status();
  if (!expected.ok()) return expected.status();
  for (Tensor& local : *locals) {
    local =
        options.is_transposed ? column_major(local) : placed(local, options.plan.from_outermost);
  }
  RunSetting setting{mesh, {shape}, {}};
  setting.subject = "ramp";
  Result<PlanRunReport> report =
      run_plan_on_sim(**plan, setting, {*std::move(locals)}, options.sim);
  if (!report.ok()) return report.status();
  return Moved{**plan, std::move(report->locals[0]), *std::move(expected),
               std::move(report->traces), std::move(report->memories)};
}

std::string difference(const Moved& moved) {
  for (size_t rank = 0; rank < moved.locals.size(); ++rank) {
    if (bit_equal(moved.locals[rank], moved.expected[rank])) continue;
    return fmt::format("rank {} has {} {}, expected {} {}", rank,
                       format_meta(moved.locals[rank].meta()), elements_text(moved.locals[rank]),
                       format_meta(moved.expected[rank].meta()),
                       elements_text(moved.expected[rank]));
  }
  return "";
}

int64_t count_spans(const Moved& moved, std::string_view name) {
  const std::vector<TraceSpan>& spans = moved.traces[0].spans;
  return std::count_if(spans.begin(), spans.end(),
                       [&](const TraceSpan& span) { return span.name == name; });
}

}  // namespace onedim
