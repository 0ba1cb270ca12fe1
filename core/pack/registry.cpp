#include "core/pack/registry.hpp"

#include <algorithm>
#include <iterator>

#include "core/pack/variant.hpp"

namespace onedim {

Status Registry::clash(std::string_view what, std::string_view name, std::string_view owner,
                       const StagedPack& pack) const {
  const std::string* path = find_pack_path(owner);
  const std::string first = path == nullptr || path->empty() ? std::string(owner) : *path;
  const std::string second = pack.path.empty() ? pack.name : pack.path;
  return absl::AlreadyExistsError(
      fmt::format("{} \"{}\" of {} is already registered by {}; the earlier one stays", what, name,
                  second, first));
}

const Kernel* Registry::find_any_kernel(std::string_view op, int device) const {
  const auto found = ops_.find(op);
  if (found != ops_.end()) {
    for (const Kernel& kernel : found->second->kernels) {
      if (kernel.device == device) return &kernel;
    }
  }
  for (const auto& [name, kernel] : pending_kernels_) {
    if (name == op && kernel.device == device) return &kernel;
  }
  return nullptr;
}

Status Registry::check_clashes(const StagedPack& pack) const {
  if (pack_paths_.find(pack.name) != pack_paths_.end())
    return clash("pack", pack.name, pack.name, pack);
  for (const std::unique_ptr<Op>& op : pack.ops) {
    const auto found = ops_.find(op->name());
    if (found != ops_.end()) return clash("op", op->name(), found->second->pack, pack);
  }
  for (const auto& [op, kernel] : pack.kernels) {
    const Kernel* other = find_any_kernel(op, kernel.device);
    if (other != nullptr) return clash("the kernel for op", op, other->pack, pack);
  }
  for (const std::unique_ptr<PartialKind>& kind : pack.partial_kinds) {
    const auto found = partial_kinds_.find(kind->name);
    if (found != partial_kinds_.end())
      return clash("partial kind", kind->name, found->second->pack, pack);
  }
  return absl::OkStatus();
}

Status Registry::commit(StagedPack pack) {
  if (Status status = check_clashes(pack); !status.ok()) return status;
  pack_paths_.emplace(pack.name, pack.path);
  for (std::unique_ptr<Op>& op : pack.ops) {
    std::string name = op->name();
    ops_.emplace(std::move(name), std::move(op));
  }
  for (std::unique_ptr<PartialKind>& kind : pack.partial_kinds) {
    std::string name = kind->name;
    partial_kinds_.emplace(std::move(name), std::move(kind));
  }
  std::move(pack.kernels.begin(), pack.kernels.end(), std::back_inserter(pending_kernels_));
  return absl::OkStatus();
}

// Links a variant to its plain op; the line that says why not, or "".
std::string Registry::link(Op& op) {
  const auto plain = ops_.find(op.variant_of);
  if (plain == ops_.end()) {
    return fmt::format("{}: op \"{}\" is a form of \"{}\", which no pack offers", op.pack,
                       op.name(), op.variant_of);
  }
  const Status status = link_variant(op, *plain->second);
  return status.ok() ? "" : fmt::format("{}: {}", op.pack, message_of(status));
}

void Registry::report_unknown_kinds(const Op& op, std::vector<std::string>& lines) const {
  for (const Rule& rule : op.rule_table) {
    std::vector<Placement> placements = rule.outputs;
    placements.insert(placements.end(), rule.inputs.begin(), rule.inputs.end());
    const auto unknown =
        std::find_if(placements.begin(), placements.end(), [&](const Placement& placement) {
          return placement.is_partial() && !is_builtin_partial(placement.partial) &&
                 find_partial_kind(placement.partial) == nullptr;
        });
    if (unknown == placements.end()) continue;
    lines.push_back(fmt::format(
        "{}: rule \"{}\" of op \"{}\" names the partial kind \"{}\", which no pack offers", op.pack,
        format_rule(rule), op.name(), unknown->partial));
  }
}

std::vector<std::string> Registry::resolve() {
  std::vector<std::string> lines;
  std::vector<std::pair<std::string, Kernel>> waiting;
  for (auto& [name, kernel] : pending_kernels_) {
    const auto op = ops_.find(name);
    if (op != ops_.end() && op->second->variant_of.empty()) {
      op->second->kernels.push_back(std::move(kernel));
      continue;
    }
    lines.push_back(
        fmt::format("{}: a kernel for op \"{}\", which {}", kernel.pack, name,
                    op == ops_.end() ? "no pack offers" : "runs the kernels of its plain op"));
    waiting.emplace_back(name, std::move(kernel));
  }
  pending_kernels_ = std::move(waiting);
  for (auto& [name, op] : ops_) {
    if (!op->variant_of.empty() && op->plain == nullptr) {
      if (std::string line = link(*op); !line.empty()) lines.push_back(std::move(line));
    }
    report_unknown_kinds(*op, lines);
  }
  return lines;
}

const Op* Registry::find(std::string_view name) const {
  const auto found = ops_.find(name);
  if (found == ops_.end()) return nullptr;
  const Op& op = *found->second;
  return op.variant_of.empty() || op.plain != nullptr ? &op : nullptr;
}

const PartialKind* Registry::find_partial_kind(std::string_view name) const {
  const auto found = partial_kinds_.find(name);
  return found == partial_kinds_.end() ? nullptr : found->second.get();
}

std::vector<const Op*> Registry::ops() const {
  std::vector<const Op*> ops;
  for (const auto& [name, op] : ops_) {
    if (op->variant_of.empty() || op->plain != nullptr) ops.push_back(op.get());
  }
  return ops;
}

std::vector<std::string> Registry::op_names() const {
  std::vector<std::string> names;
  for (const Op* op : ops()) names.push_back(op->name());
  return names;
}

Status Registry::check_state_count(const Layout& layout, size_t count) const {
  for (const Placement& placement : layout.placements) {
    if (!placement.is_partial() || is_builtin_partial(placement.partial)) continue;
    const PartialKind* kind = find_partial_kind(placement.partial);
    if (kind == nullptr || kind->components.size() == count) continue;
    return invalid_argument(
        "a value under P({}) is a state of {} tensors ({}), but {} given; give them all, one "
        "behind "
        "the other with `;`",
        kind->name, kind->components.size(), fmt::join(kind->components, ", "),
        count == 1 ? "1 is" : fmt::format("{} are", count));
  }
  return absl::OkStatus();
}

Status Registry::check_partials(const Layout& layout, const Mesh& mesh) const {
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    const Placement& placement = layout.placements[mesh_dim];
    if (!placement.is_partial() || is_builtin_partial(placement.partial)) continue;
    const PartialKind* kind = find_partial_kind(placement.partial);
    if (kind == nullptr)
      return invalid_argument("no pack offers the partial kind {}", placement.partial);
    if (placement.component >= kind->output_count)
      return invalid_argument("{} names tensor {} of a partial kind of {}",
                              format_placement(placement), placement.component, kind->output_count);
    if (mesh.size(mesh_dim) == 1 && kind->finish_fn != nullptr)
      return invalid_argument(
          "{} stands over mesh dim {} of one rank, where nothing is left to merge; write R",
          format_placement(placement), mesh.name(mesh_dim));
  }
  return absl::OkStatus();
}

std::vector<const PartialKind*> Registry::partial_kinds() const {
  std::vector<const PartialKind*> kinds;
  for (const auto& [name, kind] : partial_kinds_) kinds.push_back(kind.get());
  return kinds;
}

}  // namespace onedim
