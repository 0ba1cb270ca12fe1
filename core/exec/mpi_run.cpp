#include "core/exec/mpi_run.hpp"

#include <algorithm>

#include "core/base/input_file.hpp"
#include "core/exec/plan_program.hpp"

namespace onedim {
namespace {

bool has_kind(std::span<const Layout> layouts, std::string_view kind) {
  return std::any_of(layouts.begin(), layouts.end(), [&](const Layout& layout) {
    return std::any_of(layout.placements.begin(), layout.placements.end(), [&](const Placement& p) {
      return p.is_partial() && p.partial.starts_with(kind);
    });
  });
}

uint64_t hash_of(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

// A pack by what its file holds: one of the same version may have been built from other sources.
Status describe_pack(const Registry& registry, const std::string& pack,
                     RunDescription& description) {
  const std::string* const path = registry.find_pack_path(pack);
  if (path == nullptr) return {};
  const Result<std::string> bytes = read_text_file(*path);
  if (!bytes.ok()) return bytes.status();
  description.add(fmt::format("the pack {}", pack),
                  fmt::format("a file of {} bytes, hash {:016x}", bytes->size(), hash_of(*bytes)));
  return {};
}

template <typename IsMeant>
MeshDimSet dims_where(const Layout& layout, IsMeant is_meant) {
  MeshDimSet dims = 0;
  for (size_t d = 0; d < layout.placements.size(); ++d) {
    if (is_meant(layout.placements[d])) dims |= MeshDimSet{1} << d;
  }
  return dims;
}

}  // namespace

MeshDimSet joint_dims(const Layout& layout) { return dims_where(layout, is_joint); }

std::set<MeshDimSet> mesh_dims_of(const Plan& plan) {
  std::set<MeshDimSet> dims;
  for (const PlanStep& step : plan.steps) {
    if (is_collective(step.kind)) dims.insert(step.mesh_dims);
  }
  return dims;
}

std::set<MeshDimSet> mesh_dims_of(const ShardedOp& op) {
  std::set<MeshDimSet> dims;
  for (const std::shared_ptr<const Plan>& plan : op.plans) {
    if (plan != nullptr) dims.merge(mesh_dims_of(*plan));
  }
  for (const Layout& layout : op.output_layouts) {
    const MeshDimSet joint = joint_dims(layout);
    if (joint != 0) dims.insert(joint);
    dims.insert(dims_where(layout, [](const Placement& p) { return p.is_partial(); }));
  }
  return dims;
}

void describe_plan(const Plan& plan, const Mesh& mesh, std::string_view name,
                   RunDescription& description) {
  std::string steps;
  for (const PlanStep& step : plan.steps) {
    steps += fmt::format("; {} over {} to {}", step_kind_name(step.kind),
                         format_mesh_dims(step.mesh_dims, mesh), format_layout(step.to, mesh));
  }
  description.add(fmt::format("the plan of {}", name),
                  fmt::format("{} -> {}{} (fingerprint {:016x})", format_layout(plan.from, mesh),
                              format_layout(plan.to, mesh), steps, plan_fingerprint(plan, mesh)));
}

Status describe_packs(std::span<const Op* const> ops, std::span<const Layout> outputs,
                      const Registry& registry, RunDescription& description) {
  std::set<std::string> packs;
  for (const Op* op : ops) {
    packs.insert(op->pack);
    if (op->plain != nullptr) packs.insert(op->plain->pack);
    if (const Kernel* kernel = op->find_kernel(ONEDIM_DEVICE_CPU)) packs.insert(kernel->pack);
  }
  for (const PartialKind* kind : registry.partial_kinds()) {
    description.add(fmt::format("the kind {}", kind->name),
                    fmt::format("revision {}", kind->revision));
    if (has_kind(outputs, kind->name)) packs.insert(kind->pack);
  }
  for (const std::string& pack : packs) {
    if (Status status = describe_pack(registry, pack, description); !status.ok()) return status;
  }
  return {};
}

Status describe_op(const ShardedOp& op, RunDescription& description) {
  const std::vector<Domain> no_domains(op.call.inputs.size());
  description.add("the mesh", op.mesh.format());
  description.add("the op", op.op->name());
  description.add("the call", format_call(op.call, no_domains));
  description.add("the seed", std::to_string(op.call.seed));
  Status packs = describe_packs({&op.op, 1}, op.output_layouts, *op.registry, description);
  if (!packs.ok()) return packs;
  for (size_t slot = 0; slot < op.inputs.size(); ++slot) {
    if (!op.call.inputs[slot]) continue;
    const std::string name = fmt::format("input {}", slot);
    description.add("the layout of " + name, format_layout(op.inputs[slot], op.mesh));
    if (op.plans[slot] != nullptr) describe_plan(*op.plans[slot], op.mesh, name, description);
  }
  for (size_t output = 0; output < op.outputs.size(); ++output) {
    if (!op.outputs[output]) continue;
    description.add(fmt::format("output {}", output),
                    format_meta(op.outputs[output]->meta) + " " +
                        format_layout(op.output_layouts[output], op.mesh));
  }
  return {};
}

Result<GroupLocals> run_plan_on_mpi(const Plan& plan, const RunSetting& setting,
                                    const GroupLocals& locals, MpiWorld& world) {
  const RunClock clock;
  RankMemory memory(clock);
  RankTrace trace;
  std::vector<Tensor> mine;
  for (const std::vector<Tensor>& tensor : locals)
    mine.push_back(tensor[static_cast<size_t>(world.rank())]);
  PlanProgram program(plan, setting, {&world.communicator(), &memory, &trace, &clock},
                      std::move(mine));
  if (Status status = run_rank(program); !status.ok()) return status;
  const Result<std::vector<std::string>> all =
      world.gather(pack_tensors(program.locals()), "the collection of results");
  if (!all.ok()) return all.status();
  GroupLocals results(locals.size());
  for (const std::string& bytes : *all) {
    const Result<std::vector<Tensor>> tensors = unpack_tensors(bytes);
    if (!tensors.ok()) return tensors.status();
    for (size_t tensor = 0; tensor < results.size(); ++tensor)
      results[tensor].push_back((*tensors)[tensor]);
  }
  return results;
}

Result<std::vector<RankReport>> gather_reports(const RankReport& mine, MpiWorld& world) {
  const Result<std::vector<std::string>> all =
      world.gather(pack_report(mine), "the collection of reports");
  if (!all.ok()) return all.status();
  std::vector<RankReport> reports;
  for (const std::string& text : *all) {
    Result<RankReport> one = unpack_report(text);
    if (!one.ok()) return one.status();
    const int64_t first_ns = reports.empty() ? one->start_ns : reports[0].start_ns;
    const double shift_us = static_cast<double>(one->start_ns - first_ns) / 1e3;
    for (TraceSpan& span : one->trace.spans) span.start_us += shift_us;
    for (MemoryEvent& event : one->memory) event.at_us += shift_us;
    reports.push_back(*std::move(one));
  }
  return reports;
}

Result<OpRunReport> run_sharded_op_on_mpi(const ShardedOp& op, const WholeResult& whole,
                                          std::span<const std::vector<Tensor>> locals,
                                          MpiWorld& world) {
  RankReport mine;
  mine.start_ns = steady_ns();
  const RunClock clock;
  RankMemory memory(clock);
  memory.set_cause("given");
  std::vector<Tensor> tensors;
  for (size_t slot = 0; slot < locals.size(); ++slot) {
    const bool is_there = !locals[slot].empty();
    tensors.push_back(is_there ? locals[slot][static_cast<size_t>(world.rank())] : Tensor());
    if (is_there) memory.note(tensors.back(), fmt::format("input {}", slot));
  }
  OpProgram program(op, whole, std::move(tensors),
                    {&world.communicator(), &memory, &mine.trace, &clock});
  if (Status status = program.prepare(); !status.ok()) return status;
  const double begin = clock.us();
  if (Status status = run_rank(program); !status.ok()) return status;
  mine.us = clock.us() - begin;
  mine.comparisons = program.comparisons();
  mine.memory = memory.events();
  mine.peak_bytes = program.peak_bytes();
  Result<std::vector<RankReport>> ranks = gather_reports(mine, world);
  if (!ranks.ok()) return ranks.status();
  OpRunReport report;
  for (size_t rank = 0; rank < ranks->size(); ++rank) {
    RankReport& one = (*ranks)[rank];
    add_comparisons(op, static_cast<int64_t>(rank), one.comparisons, report);
    report.us = std::max(report.us, one.us);
    report.peak_bytes = std::max(report.peak_bytes, one.peak_bytes);
    report.traces.push_back(std::move(one.trace));
    report.memories.emplace_back(clock, std::move(one.memory));
  }
  return report;
}

}  // namespace onedim
