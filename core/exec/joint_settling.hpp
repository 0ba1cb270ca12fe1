#pragma once
// JointSettling: brings the outputs of one partial kind of a pack from partial to whole on one
// rank: its state is made, gathered and merged over the mesh dims where it is partial, and finished
// into the outputs. The state is merged as it is on this rank, since the members of a team hold
// parts of one shape. Two stages, as begin and end of a RankProgram's.

#include "core/exec/rank_plan.hpp"
#include "core/pack/joint_group.hpp"

namespace onedim {

class JointSettling {
 public:
  // `group` and `registry` are borrowed. `layout` is that of any output of the group; `subject`
  // names the op or node; `category` is that of the spans.
  JointSettling(const JointGroup& group, const Layout& layout, const Mesh& mesh,
                const Registry& registry, const RankSite& site, std::string subject,
                std::string_view category);

  // What a trace shows: bytes that a rank receives, predicted us.
  void set_price(int64_t bytes, double us);
  // `inputs` per slot of the call, which has run if the kind has no `local`.
  Status begin(const RankCall& call, std::span<Tensor* const> inputs);
  // One tensor per output of the group, noted in the rank's memory, as is the end of the state.
  Result<std::vector<Tensor>> end(const RankCall& call);

 private:
  const JointGroup& group_;
  RankSite site_;
  std::string category_;
  RunSetting setting_;
  Plan plan_;
  std::vector<Tensor> state_;
  std::unique_ptr<RankPlan> run_;
};

}  // namespace onedim
