#include "core/select/decider.hpp"

#include <algorithm>

#include "core/layout/layout_check.hpp"
#include "core/pack/variant.hpp"

namespace onedim {

Status Decider::check_inputs() const {
  if (request_.inputs.size() != input_count()) {
    return invalid_argument("{}: {} layouts for {} input slots", request_.op->name(),
                            request_.inputs.size(), input_count());
  }
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (!input(slot)) continue;
    if (checked_volume(input(slot)->shape) < 0)
      return invalid_argument("{}: input {} is {}, which has too many elements",
                              request_.op->name(), slot, format_meta(*input(slot)));
    const Status status = check_placements(*input(slot), request_.inputs[slot], mesh_);
    if (!status.ok())
      return annotate(status, fmt::format("{}: input {}", request_.op->name(), slot));
  }
  return absl::OkStatus();
}

Status Decider::check_required() {
  if (required_.empty()) required_.assign(outputs_.size(), nullptr);
  if (required_.size() != outputs_.size()) {
    return invalid_argument("{}: {} required layouts for {} outputs", request_.op->name(),
                            required_.size(), outputs_.size());
  }
  required_layouts_.resize(outputs_.size());
  for (size_t slot = 0; slot < outputs_.size(); ++slot) {
    if (required_[slot] == nullptr || !outputs_[slot]) continue;
    const Status status = check_placements(outputs_[slot]->meta, *required_[slot], mesh_);
    if (!status.ok())
      return annotate(status, fmt::format("{}: output {}", request_.op->name(), slot));
    required_layouts_[slot] = without_unit_mesh_dims(*required_[slot], mesh_);
    required_[slot] = &required_layouts_[slot];
  }
  return absl::OkStatus();
}

void Decider::note_order(const Layout& layout) {
  const Dims order = layout.cutting_order();
  if (std::find(orders_.begin(), orders_.end(), order) == orders_.end()) orders_.push_back(order);
}

void Decider::note_orders() {
  note_order(Layout::replicated(mesh_.ndim()));
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (input(slot)) note_order(current_[slot]);
  }
  for (const Layout* layout : required_) {
    if (layout != nullptr) note_order(*layout);
  }
  for (const Dims& order : orders_) {
    Dims& cuts = cut_orders_.emplace_back();
    std::copy_if(order.begin(), order.end(), std::back_inserter(cuts),
                 [&](int64_t mesh_dim) { return mesh_.size(static_cast<int>(mesh_dim)) > 1; });
  }
}

void Decider::note_pinned() {
  pinned_.assign(input_count(), request_.options.forbid_moves);
  if (request_.op->plain != nullptr) {
    for (const int slot : written_slots(*request_.op, *request_.call)) pinned_[slot] = true;
  }
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (!input(slot)) pinned_[slot] = false;
  }
}

Status Decider::prepare() {
  if (request_.options.with_compute && roofline_ == nullptr)
    return invalid_argument("{}: compute is to count, but no roofline is given",
                            request_.op->name());
  if (Status status = check_inputs(); !status.ok()) return status;
  Result<std::vector<OptionalOutput>> outputs = request_.op->infer(*request_.call);
  if (!outputs.ok()) return outputs.status();
  outputs_ = *std::move(outputs);
  if (Status status = check_required(); !status.ok()) return status;
  std::vector<const Layout*> present;
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (input(slot)) present.push_back(&request_.inputs[slot]);
  }
  for (const Layout* layout : required_) {
    if (layout != nullptr) present.push_back(layout);
  }
  Result<RuleChoices> choices = RuleChoices::create(
      *request_.op, *request_.call, outputs_, registry_, present, request_.options.exact_rules);
  if (!choices.ok()) return choices.status();
  choices_ = *std::move(choices);
  for (size_t slot = 0; slot < input_count(); ++slot) {
    current_.push_back(input(slot) ? without_unit_mesh_dims(request_.inputs[slot], mesh_)
                                   : Layout());
  }
  note_pinned();
  note_orders();
  return absl::OkStatus();
}

}  // namespace onedim
