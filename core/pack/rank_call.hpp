#pragma once
// RankCall: one rank's local call, prepared once and run for many draws. Outputs are written into
// tensors kept here, marked before each run; an input that the op writes is copied first, so that
// the drawn values survive.

#include <memory>
#include <vector>

#include "core/pack/local_call.hpp"
#include "core/pack/prepared_call.hpp"

namespace onedim {

class RankCall {
 public:
  static Result<std::unique_ptr<RankCall>> create(const Op& op, LocalCall local);

  const LocalCall& local() const { return local_; }
  // `inputs` per slot; those of absent slots are ignored. DataLoss: the kernel left an output
  // element unwritten.
  Status run(std::span<Tensor* const> inputs);
  // The results of the last run; empty where absent.
  const std::vector<Tensor>& outputs() const { return outputs_; }

 private:
  RankCall(const Op& op, LocalCall local) : op_(op), local_(std::move(local)) {}
  void allocate();
  void place_views();
  Status run_once(std::span<Tensor* const> inputs);

  const Op& op_;
  LocalCall local_;
  std::unique_ptr<PreparedCompute> compute_;
  std::vector<int> written_;     // input slots that are written
  std::vector<int> views_;       // outputs that share an input's storage
  std::vector<Tensor> scratch_;  // copies of written inputs
  std::vector<Tensor> outputs_;
  std::vector<Tensor*> input_pointers_;
  std::vector<Tensor*> output_pointers_;
  std::vector<Tensor*> marked_;  // outputs that are not views
};

}  // namespace onedim
