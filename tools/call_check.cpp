#include "tools/call_check.hpp"

#include "core/base/text.hpp"
#include "core/pack/foreign_call.hpp"
#include "core/validate/claim.hpp"

namespace onedim {
namespace {

double bytes_of(const OptionalMeta& meta) {
  if (!meta) return 0;
  double bytes = static_cast<double>(size_of(meta->dtype));
  for (const int64_t size : meta->shape) bytes *= static_cast<double>(size);
  return bytes;
}

double bytes_of(std::span<const OptionalMeta> metas) {
  double bytes = 0;
  for (const OptionalMeta& meta : metas) bytes += bytes_of(meta);
  return bytes;
}

Status check_bytes(double bytes) {
  if (bytes <= static_cast<double>(kMostCallBytes)) return absl::OkStatus();
  constexpr double kMiB = 1 << 20;
  return invalid_argument(
      "the tensors of the call take {:.0f} MiB, but validation makes them many times over and "
      "takes "
      "at most {:.0f}; give smaller sizes",
      bytes / kMiB, static_cast<double>(kMostCallBytes) / kMiB);
}

Status check_kind(const Placement& placement, const Registry& registry) {
  if (!placement.is_partial() || is_builtin_partial(placement.partial)) return absl::OkStatus();
  const PartialKind* kind = registry.find_partial_kind(placement.partial);
  if (kind == nullptr) {
    std::vector<std::string> names;
    for (const PartialKind* known : registry.partial_kinds()) names.push_back(known->name);
    return invalid_argument("no pack offers the partial kind {}{}", placement.partial,
                            did_you_mean(placement.partial, names));
  }
  if (placement.component < static_cast<int>(kind->components.size())) return absl::OkStatus();
  return invalid_argument("{}: the kind has {} components", format_placement(placement),
                          kind->components.size());
}

Status check_placement(const Placement& placement, const OptionalMeta& meta,
                       const Registry& registry) {
  if (placement.is_none() != !meta.has_value()) {
    return invalid_argument("{} stands for {}", format_placement(placement),
                            meta ? "the tensor " + format_meta(*meta) : "an absent tensor");
  }
  if (!meta) return absl::OkStatus();
  if (placement.is_shard() && placement.dim >= static_cast<int>(meta->shape.size())) {
    return invalid_argument("{} shards a dim that the tensor {} does not have",
                            format_placement(placement), format_meta(*meta));
  }
  return check_kind(placement, registry);
}

Status check_side(std::span<const Placement> placements, std::span<const OptionalMeta> metas,
                  std::string_view side, const Registry& registry) {
  for (size_t slot = 0; slot < placements.size(); ++slot) {
    const Status status = check_placement(placements[slot], metas[slot], registry);
    if (!status.ok()) return annotate(status, fmt::format("{} {}", side, slot));
  }
  return absl::OkStatus();
}

Status check_requirement(const Requirement& requirement, std::span<const OptionalMeta> metas) {
  const OptionalMeta& meta = metas[static_cast<size_t>(requirement.slot)];
  if (meta && requirement.dim < static_cast<int>(meta->shape.size())) return absl::OkStatus();
  return invalid_argument("multiple_of: {} {} has no dim {}",
                          requirement.is_output ? "output" : "input", requirement.slot,
                          requirement.dim);
}

Status check_claim(const Rule& rule, std::span<const OptionalMeta> outputs,
                   std::span<const OptionalMeta> inputs, const Registry& registry) {
  if (rule.inputs.size() != inputs.size() || rule.outputs.size() != outputs.size()) {
    return invalid_argument("the call has {} output and {} input slots, the rule {} and {}",
                            outputs.size(), inputs.size(), rule.outputs.size(), rule.inputs.size());
  }
  if (Status status = check_side(rule.outputs, outputs, "output", registry); !status.ok())
    return status;
  if (Status status = check_side(rule.inputs, inputs, "input", registry); !status.ok())
    return status;
  for (const Requirement& requirement : rule.requirements) {
    const Status status = check_requirement(requirement, requirement.is_output ? outputs : inputs);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

Status check_typed_call(const Call& call, std::span<const std::string> claims) {
  for (const std::string& claim : claims) {
    const Result<Rule> rule = parse_claim(claim);
    if (!rule.ok()) return annotate(rule.status(), "--claim");
  }
  return check_bytes(bytes_of(call.inputs));
}

Status check_call(const Op& op, const Call& call, std::span<const std::string> claims,
                  const Registry& registry) {
  if (Status status = check_typed_call(call, claims); !status.ok()) return status;
  const ForeignCall running(op, "infer");
  const Result<std::vector<OptionalOutput>> inferred = op.infer(call);
  if (!inferred.ok()) return inferred.status();
  std::vector<OptionalMeta> outputs;
  for (const OptionalOutput& output : *inferred)
    outputs.push_back(output ? OptionalMeta(output->meta) : std::nullopt);
  Status status = check_bytes(bytes_of(call.inputs) + bytes_of(outputs));
  for (const std::string& claim : claims) {
    if (!status.ok()) return status;
    status = check_claim(*parse_claim(claim), outputs, call.inputs, registry);
    if (!status.ok()) status = annotate(status, fmt::format("--claim \"{}\"", claim));
  }
  return status;
}

}  // namespace onedim
