#include "core/select/decider.hpp"

#include <algorithm>

#include "core/layout/index_map.hpp"
#include "core/layout/layout_check.hpp"
#include "core/layout/memory_order.hpp"
#include "core/pack/foreign_call.hpp"
#include "core/pack/variant.hpp"
#include "core/select/input_state.hpp"

namespace onedim {

const PartialKind* Decider::immovable_kind(size_t slot) const {
  const PartialKind* kind = own_kind(registry_, current_[slot]);
  if (kind == nullptr || kind->output_count > 1) return kind;
  if (!kind->has_hidden_state()) return nullptr;
  return state(slot).empty() ? kind : nullptr;
}

int64_t Decider::moved_bytes(size_t slot) const {
  int64_t bytes = 0;
  for (const TensorMeta& meta : moved(slot)) bytes += meta.bytes();
  return bytes;
}

Status Decider::check_layout(const TensorMeta& meta, const Layout& layout, std::string_view side,
                             size_t slot) const {
  const std::string where = fmt::format("{}: {} {}", request_.op->name(), side, slot);
  if (const Status status = check_placements(meta, layout, mesh_); !status.ok())
    return annotate(status, where);
  return annotate(registry_.check_partials(layout, mesh_), where);
}

Status Decider::check_state(size_t slot) const {
  if (state(slot).empty()) return absl::OkStatus();
  const std::string where = fmt::format("{}: the state of input {}", request_.op->name(), slot);
  if (!input(slot)) return invalid_argument("{}: the input is absent; leave it out", where);
  return annotate(check_input_state(registry_, *input(slot), request_.inputs[slot], state(slot)),
                  where);
}

Status Decider::check_memory_orders() const {
  if (!request_.outermosts.empty() && request_.outermosts.size() != input_count()) {
    return invalid_argument("{}: {} memory orders for {} input slots", request_.op->name(),
                            request_.outermosts.size(), input_count());
  }
  for (size_t slot = 0; slot < request_.outermosts.size(); ++slot) {
    const int outermost = request_.outermosts[slot];
    if (outermost == 0 || !input(slot)) continue;
    if (outermost > 0 && outermost < static_cast<int>(input(slot)->shape.size())) continue;
    return invalid_argument("{}: dim {} cannot be outermost in memory in input {}, which is {}",
                            request_.op->name(), outermost, slot, format_meta(*input(slot)));
  }
  return absl::OkStatus();
}

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
    const Status status = check_layout(*input(slot), request_.inputs[slot], "input", slot);
    if (!status.ok()) return status;
  }
  if (!request_.states.empty() && request_.states.size() != input_count()) {
    return invalid_argument("{}: {} states for {} input slots", request_.op->name(),
                            request_.states.size(), input_count());
  }
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (const Status status = check_state(slot); !status.ok()) return status;
  }
  return check_memory_orders();
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
    const Status status = check_layout(outputs_[slot]->meta, *required_[slot], "output", slot);
    if (!status.ok()) return status;
    required_layouts_[slot] =
        without_unit_dims(*required_[slot], mesh_, outputs_[slot]->meta.shape);
    required_[slot] = &required_layouts_[slot];
  }
  return absl::OkStatus();
}

namespace {

// A rule of a view that joins dims: "SS(0,8) | S(1)" cuts inside what another mesh dim may cut too,
// so it depends on the order of the cuts whether both leave what the view joins.
bool is_cut_inside(const RuleChoice& choice) {
  bool has_plain = false, has_strided = false;
  for (const std::vector<Placement>* side : {&choice.rule.inputs, &choice.rule.outputs}) {
    for (const Placement& placement : *side) {
      has_plain |= placement.kind == Placement::Kind::kShard;
      has_strided |= placement.kind == Placement::Kind::kStridedShard;
    }
  }
  return has_plain && has_strided;
}

}  // namespace

void Decider::note_order(const Dims& order) {
  if (std::find(orders_.begin(), orders_.end(), order) == orders_.end()) orders_.push_back(order);
}

// Every order of the mesh dims of more than one rank, the others staying where they are.
void Decider::note_permutations() {
  const Dims plain = Layout::replicated(mesh_.ndim()).cutting_order();
  Dims cuts;
  for (const int64_t mesh_dim : plain) {
    if (mesh_.size(static_cast<int>(mesh_dim)) > 1) cuts.push_back(mesh_dim);
  }
  if (cuts.size() > kMostPermuted) return;
  std::sort(cuts.begin(), cuts.end());
  do {
    Dims order = plain;
    size_t next = 0;
    for (int64_t& mesh_dim : order) {
      if (mesh_.size(static_cast<int>(mesh_dim)) > 1) mesh_dim = cuts[next++];
    }
    note_order(order);
  } while (std::next_permutation(cuts.begin(), cuts.end()));
}

void Decider::note_orders() {
  note_order(Layout::replicated(mesh_.ndim()).cutting_order());
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (input(slot)) note_order(current_[slot].cutting_order());
  }
  for (const Layout* layout : required_) {
    if (layout != nullptr) note_order(layout->cutting_order());
  }
  if (std::any_of(choices_.rules().begin(), choices_.rules().end(), is_cut_inside))
    note_permutations();
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
    immovable_.push_back(input(slot) ? immovable_kind(slot) : nullptr);
  }
}

// The rank at the origin has the longest local lengths.
void Decider::note_memory_orders() {
  outermosts_.assign(input_count(), 0);
  const Dims origin(static_cast<size_t>(mesh_.ndim()), 0);
  for (size_t slot = 0; slot < request_.outermosts.size(); ++slot) {
    if (!input(slot) || request_.outermosts[slot] == 0) continue;
    const Dims shape = index_map(input(slot)->shape, current_[slot], mesh_, origin).local_shape();
    const int outermost = request_.outermosts[slot];
    if (!lies_with_outermost(shape, strides_with_outermost(shape, outermost), 0))
      outermosts_[slot] = outermost;
  }
}

Status Decider::prepare() {
  if (request_.options.with_compute && roofline_ == nullptr)
    return invalid_argument("{}: compute is to count, but no roofline is given",
                            request_.op->name());
  if (Status status = check_inputs(); !status.ok()) return status;
  const ForeignCall running(*request_.op, "infer or the rules");
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
  for (size_t slot = 0; slot < input_count(); ++slot)
    current_.push_back(input(slot)
                           ? without_unit_dims(request_.inputs[slot], mesh_, input(slot)->shape)
                           : Layout());
  note_pinned();
  note_memory_orders();
  note_orders();
  return absl::OkStatus();
}

}  // namespace onedim
