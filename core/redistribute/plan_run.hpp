#pragma once
// Plan run: carries out a plan on simulated ranks, one buffer per rank and tensor, each step from
// only what the step says: in a collective a rank sees the buffers of its group and nothing else.
// plan_check.hpp compares the outcome with the index map.

#include <functional>

#include "core/pack/partial_kind.hpp"
#include "core/redistribute/plan.hpp"

namespace onedim {

// The kind of that name, or nullptr; borrowed.
using KindLookup = std::function<const PartialKind*(std::string_view name)>;

// Per tensor of the group, one local tensor per rank.
using GroupLocals = std::vector<std::vector<Tensor>>;

struct RunSetting {
  Mesh mesh;
  std::vector<Dims> shapes;  // global, one per tensor of the group
  KindLookup kinds;          // for partial kinds of packs
};

// The locals under plan.to. Fails where a step is not what its kind allows: a rank would need an
// element that nobody in its group holds, or would get one twice.
Result<GroupLocals> run_plan(const Plan& plan, const RunSetting& setting, GroupLocals locals);

}  // namespace onedim
