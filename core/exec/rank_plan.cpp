#include "core/exec/rank_plan.hpp"

#include <algorithm>

#include "core/layout/memory_order.hpp"
#include "core/layout/placed_layout.hpp"

namespace onedim {

RankPlan::RankPlan(const Plan& plan, RunSetting setting, const RankSite& site,
                   std::string_view category)
    : plan_(plan), setting_(std::move(setting)), site_(site), category_(category) {}

void RankPlan::arrange() {
  for (Tensor& local : locals_) {
    if (lies_with_outermost(local.shape(), local.strides(), plan_.from_outermost)) continue;
    TraceSpan span;
    span.name = "make_contiguous";
    span.category = category_;
    span.cause = setting_.subject;
    span.bytes = 0;
    span.start_us = site_.clock->us();
    site_.memory->set_cause(fmt::format("{}, make_contiguous", setting_.subject));
    const TensorMeta meta{local.dtype(), local.shape(),
                          strides_with_outermost(local.shape(), plan_.from_outermost)};
    Tensor copy = site_.memory->make(meta, BufferUse::kTarget);
    copy_elements(local, copy);
    local = copy;
    owned_.push_back(std::move(copy));
    span.us = site_.clock->us() - span.start_us;
    site_.trace->spans.push_back(std::move(span));
  }
}

Status RankPlan::begin(size_t step) {
  if (step == 0) arrange();
  const PlanStep& now = plan_.steps[step];
  const Mesh& mesh = setting_.mesh;
  span_ = {};
  span_.name = step_kind_name(now.kind);
  span_.category = category_;
  span_.cause = setting_.subject;
  span_.mesh_dims = format_mesh_dims(now.mesh_dims, mesh);
  span_.from = format_placed_layout(now.from, now.from_outermost, mesh);
  span_.to = format_placed_layout(now.to, now.to_outermost, mesh);
  span_.bytes = now.bytes;
  span_.predicted_us = now.us;
  site_.memory->set_cause(
      fmt::format("{}, {} {} -> {}", setting_.subject, span_.name, span_.from, span_.to));
  span_.start_us = site_.clock->us();
  step_.emplace(now, setting_, site_.communicator->rank(), *site_.memory);
  if (Status status = step_->begin(locals_); !status.ok()) return status;
  for (const CollectiveCall& call : step_->calls()) {
    if (Status status = site_.communicator->post(call); !status.ok()) return status;
  }
  span_.us = site_.clock->us() - span_.start_us;
  return {};
}

Status RankPlan::end(size_t) {
  const double begin = site_.clock->us();
  if (Status status = site_.communicator->wait(); !status.ok()) return status;
  Result<std::vector<Tensor>> next = step_->finish();
  if (!next.ok()) return next.status();
  step_.reset();
  replace(*std::move(next));
  span_.us += site_.clock->us() - begin;
  site_.trace->spans.push_back(std::move(span_));
  return {};
}

// Storage that a view goes on using stays.
void RankPlan::replace(std::vector<Tensor> next) {
  std::vector<Tensor> still;
  for (Tensor& old : owned_) {
    const bool is_used = std::any_of(next.begin(), next.end(), [&](const Tensor& tensor) {
      return tensor.shares_storage_with(old);
    });
    if (is_used)
      still.push_back(std::move(old));
    else
      site_.memory->release(old);
  }
  owned_ = std::move(still);
  const auto is_known = [&](const Tensor& tensor) {
    const auto shares = [&](const Tensor& other) { return tensor.shares_storage_with(other); };
    return std::any_of(owned_.begin(), owned_.end(), shares) ||
           std::any_of(locals_.begin(), locals_.end(), shares);
  };
  for (const Tensor& tensor : next) {
    if (!is_known(tensor)) owned_.push_back(tensor);
  }
  locals_ = std::move(next);
}

}  // namespace onedim
