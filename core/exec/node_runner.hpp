#pragma once
// NodeRunner: runs the local call of a graph's node on one rank: outputs that are views lie in
// their input's storage, what an op writes in place is written through, all others get memory of
// their own, which is logged. The call is made for the strides that the inputs really have; where
// the op does not take these (a view that cannot be one), inputs are copied first, row-major, which
// is a span of its own in the trace.

#include "core/exec/graph_task.hpp"
#include "core/exec/rank_plan.hpp"
#include "core/select/compute_time.hpp"

namespace onedim {

struct NodeOutputs {
  std::vector<Tensor> tensors;  // per output; empty where absent
  // The storage that is new here, each once; its tensors are to be released by whoever drops it.
  std::vector<Tensor> owned;
};

class NodeRunner {
 public:
  // Both are borrowed. Without a roofline nothing is predicted.
  NodeRunner(const GraphTask& task, const RankSite& site, const Roofline* roofline);

  // `inputs` per slot, null where absent. Not for nodes with partials of packs.
  Result<NodeOutputs> run(int node, std::span<Tensor* const> inputs);
  // For those: the call as the pack's kinds want it, run where they need it run.
  Result<std::unique_ptr<RankCall>> run_joint(int node, std::span<Tensor* const> inputs);

 private:
  Result<LocalCall> local_call(int node) const;
  Result<LocalCall> with_strides(int node, std::span<Tensor* const> inputs) const;
  Result<LocalCall> call_for(int node, std::vector<Tensor*>& inputs, std::vector<Tensor>& copies);
  void copy_strided(int node, std::vector<Tensor*>& inputs, std::vector<Tensor>& copies);
  TraceSpan start_span(int node) const;
  void end_span(TraceSpan span, int node, const LocalCall& local);
  std::string where(int node) const;

  const GraphTask& task_;
  RankSite site_;
  const Roofline* roofline_;
};

}  // namespace onedim
