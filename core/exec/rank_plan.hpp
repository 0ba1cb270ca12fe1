#pragma once
// RankPlan: one rank's run of one redistribution plan through a communicator, a stage per step.
// Tensors that nothing uses any more are released; those given at the start are the caller's. A
// tensor that does not lie in memory as the plan's first step has it is copied, which is a span of
// its own: the copies that a plan hides are none.

#include "core/exec/communicator.hpp"
#include "core/exec/trace.hpp"

namespace onedim {

// Where one rank stands.
struct RankSite {
  Communicator* communicator = nullptr;  // all borrowed
  RankMemory* memory = nullptr;
  RankTrace* trace = nullptr;
  const RunClock* clock = nullptr;
};

class RankPlan {
 public:
  // `plan` and what `site` names are borrowed. `category`: of its spans.
  RankPlan(const Plan& plan, RunSetting setting, const RankSite& site,
           std::string_view category = "move");

  size_t step_count() const { return plan_.steps.size(); }
  // Before the first step; one tensor per tensor of the group.
  void start(std::vector<Tensor> locals) { locals_ = std::move(locals); }
  Status begin(size_t step);
  Status end(size_t step);
  const std::vector<Tensor>& locals() const { return locals_; }
  // The storage of `locals` that was made here, for whoever is to release it.
  const std::vector<Tensor>& owned() const { return owned_; }

 private:
  void arrange();
  void replace(std::vector<Tensor> next);

  const Plan& plan_;
  RunSetting setting_;
  RankSite site_;
  std::string category_;
  std::vector<Tensor> locals_;
  std::vector<Tensor> owned_;  // storage of `locals_` that was made here
  std::optional<RankStep> step_;
  TraceSpan span_;
};

}  // namespace onedim
