// Why no strategy serves a request, and what would.

#include <algorithm>

#include "core/layout/placed_layout.hpp"
#include "core/redistribute/least_memory.hpp"
#include "core/select/decider.hpp"
#include "core/select/equal_layouts.hpp"

namespace onedim {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
// Beyond this many parted mesh dims a search that finds nothing takes too long to be done often.
constexpr size_t kMostProbedMeshDims = 3;

int64_t peak_bytes(const Decision& decision) {
  int64_t bytes = 0;
  for (const std::shared_ptr<const Plan>& plan : decision.plans) {
    if (plan != nullptr) bytes = std::max(bytes, plan->peak_bytes);
  }
  return bytes;
}

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

}  // namespace

Status Decider::no_strategy() const {
  const bool is_limited = request_.options.memory_bytes != kNoLimit;
  return absl::FailedPreconditionError(fmt::format(
      "{}: no strategy is valid on mesh {} under policy {}{}{}{}{}", request_.op->name(),
      mesh_.format(), policy_name(request_.options.policy),
      is_limited ? fmt::format(" within {} bytes a rank", request_.options.memory_bytes) : "",
      what_is_fixed(), why_none(), what_would_do()));
}

std::string Decider::what_is_fixed() const {
  std::string inputs, outputs;
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (stays(slot))
      append(inputs, fmt::format("input {} ({})", slot,
                                 format_placed_layout(current_[slot], outermosts_[slot], mesh_)));
  }
  for (size_t slot = 0; slot < required_.size(); ++slot) {
    if (required_[slot] != nullptr && outputs_[slot])
      append(outputs, fmt::format("output {} as {}", slot, format_layout(*required_[slot], mesh_)));
  }
  return (inputs.empty() ? "" : " that leaves " + inputs + " as it is") +
         (outputs.empty() ? "" : (inputs.empty() ? " that gives " : " and gives ") + outputs);
}

// Rules with what is fixed there, or, unless `exactly`, with what may say the same.
std::vector<int> Decider::rules_that_keep(int mesh_dim, bool exactly) const {
  const auto may_say = [&](const Placement& placement, const Layout& fixed,
                           std::span<const int64_t> shape) {
    const Placement& given = fixed.placements[mesh_dim];
    return exactly ? placement == given : may_stand_for(placement, given, shape);
  };
  std::vector<int> rules;
  for (size_t number = 0; number < choices_.rules().size(); ++number) {
    const Rule& rule = choices_.rules()[number].rule;
    bool keeps = true;
    for (size_t slot = 0; slot < input_count(); ++slot)
      keeps =
          keeps && (!stays(slot) || may_say(rule.inputs[slot], current_[slot], input(slot)->shape));
    for (size_t slot = 0; slot < required_.size(); ++slot)
      keeps = keeps && (required_[slot] == nullptr || !outputs_[slot] ||
                        may_say(rule.outputs[slot], *required_[slot], outputs_[slot]->meta.shape));
    if (keeps) rules.push_back(static_cast<int>(number));
  }
  return rules;
}

// Why an input cannot be brought anywhere, or be read where it is; "" if it can.
std::string Decider::why_held(size_t slot) const {
  const PartialKind* kind = input(slot) ? immovable_[slot] : nullptr;
  if (kind != nullptr && kind->output_count > 1) {
    return fmt::format(
        "; input {} is one of the {} tensors of a partial of kind {}, which only move together",
        slot, kind->output_count, kind->name);
  }
  if (kind != nullptr) {
    return fmt::format(
        "; input {} is a partial of kind {}, which moves as its state ({}), which is not given",
        slot, kind->name, fmt::join(kind->components, ", "));
  }
  if (!stays(slot) || outermosts_[slot] == 0) return "";
  return fmt::format(
      "; input {} lies with dim {} outermost in memory, but local calls read row-major tensors",
      slot, outermosts_[slot]);
}

// What holds inputs; then the mesh dim on which no rule keeps what is fixed, or else what is wrong
// with the first rules that do.
std::string Decider::why_none() const {
  std::string why;
  for (size_t slot = 0; slot < input_count(); ++slot) why += why_held(slot);
  Strategy first;
  first.order = orders_.back();
  first.rules.assign(mesh_.ndim(), RuleChoices::kUnitRule);
  if (choices_.rules().empty()) return why + "; the op has no rule for this call";
  for (int mesh_dim = 0; mesh_dim < mesh_.ndim(); ++mesh_dim) {
    if (mesh_.size(mesh_dim) == 1) continue;
    std::vector<int> rules = rules_that_keep(mesh_dim, true);
    if (rules.empty()) rules = rules_that_keep(mesh_dim, false);
    if (rules.empty()) return why + "; no rule does on mesh dim " + mesh_.name(mesh_dim);
    first.rules[mesh_dim] = rules.front();
  }
  const SelectSubject subject{*request_.op, *request_.call, outputs_,
                              current_,     mesh_,          request_.options.policy};
  Status status = check_strategy(subject, choices_, first);
  if (status.ok()) {
    std::vector<uint64_t> tags;
    for (const int rule : first.rules) tags.push_back(choices_.rules()[rule].rule.tag);
    status = check_local_calls(subject, input_layouts(first), output_layouts(first), tags);
  }
  return status.ok() ? why : why + "; " + std::string(message_of(status));
}

std::string Decider::what_would_do() const {
  const SelectOptions& options = request_.options;
  SelectOptions unlimited = options;
  unlimited.memory_bytes = kWidestCap;
  const bool is_limited = options.memory_bytes != kNoLimit;
  if (is_limited) {
    if (const auto decision = probe(unlimited, false)) {
      const auto parted = std::count_if(mesh_.sizes().begin(), mesh_.sizes().end(),
                                        [](int64_t size) { return size > 1; });
      if (parted > static_cast<int64_t>(kMostProbedMeshDims))
        return fmt::format("; the cheapest without that limit needs {}", peak_bytes(*decision));
      return fmt::format("; the least that would do is {}", least_sufficient_memory(*decision));
    }
  }
  if (std::find(pinned_.begin(), pinned_.end(), true) == pinned_.end()) return "";
  if (options.forbid_moves) {
    // First what leaves alone those that are written.
    SelectOptions moving = options;
    moving.forbid_moves = false;
    if (const auto decision = probe(moving, false)) return alternative(*decision);
  }
  if (const auto decision = probe(options, true)) return alternative(*decision);
  if (!is_limited) return "";
  const auto decision = probe(unlimited, true);
  if (decision == nullptr) return "";
  return alternative(*decision) + fmt::format(", and needs {} bytes", peak_bytes(*decision));
}

// What would be moved if all inputs might be.
std::string Decider::alternative(const Decision& decision) const {
  std::string moves;
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (!input(slot)) continue;
    const bool is_reordered =
        decision.inputs[slot] == current_[slot] && decision.plans[slot] != nullptr;
    if (decision.inputs[slot] == current_[slot] && !is_reordered) continue;
    append(moves, fmt::format("input {} to {}{}", slot, format_layout(decision.inputs[slot], mesh_),
                              is_reordered ? " in row-major order" : ""));
  }
  if (moves.empty()) return "";
  return fmt::format("; the cheapest legal alternative moves {} for {:.3f} us", moves,
                     decision.redistribution_us());
}

// Of a rank in one step; the limit at hand does not do.
int64_t Decider::least_sufficient_memory(const Decision& enough) const {
  SelectOptions options = request_.options;
  return least_memory(options.memory_bytes, peak_bytes(enough),
                      [&](int64_t cap) -> std::optional<int64_t> {
                        options.memory_bytes = cap;
                        const std::shared_ptr<const Decision> decision = probe(options, false);
                        return decision ? std::optional(peak_bytes(*decision)) : std::nullopt;
                      });
}

std::shared_ptr<const Decision> Decider::probe(const SelectOptions& options, bool moves_all) const {
  SelectRequest request = request_;
  request.options = options;
  if (moves_all) request.options.forbid_moves = false;
  Decider other(registry_, planner_, roofline_, request);
  if (!other.prepare().ok()) return nullptr;
  if (moves_all) other.pinned_.assign(other.pinned_.size(), false);
  Result<std::shared_ptr<const Decision>> decision = other.decide_if_any(nullptr);
  return decision.ok() ? *std::move(decision) : nullptr;
}

}  // namespace onedim
