#pragma once
// ComputeTime: how long one rank's local call takes: the roofline of the cost that the pack gives,
// else of the bytes that the call reads and writes, with elements of the dtype of the first tensor.
// Calls whose outputs are all views take no time. Invariant: of a strategy nothing counts but the
// local lengths of the slots. Not thread-safe; borrows all that it is made from.

#include "core/cost/roofline.hpp"
#include "core/pack/local_call.hpp"
#include "core/select/strategy.hpp"

namespace onedim {

class ComputeTime {
 public:
  ComputeTime(const SelectSubject& subject, const Roofline& roofline);

  // In ps. Fails where the pack's cost does.
  Result<int64_t> of(const LocalCall& local);
  // Of a rank whose slots, inputs and then outputs, have these lengths, dim by dim, nothing for
  // absent slots; 0 where that cannot be told.
  int64_t least(std::span<const int64_t> lengths);

 private:
  Result<int64_t> price(const Call& call, const Location* location) const;
  double bytes_moved(const Call& call) const;

  const SelectSubject& subject_;
  const Roofline& roofline_;
  bool is_view_ = false;
  bool asks_pack_ = false;
  bool has_local_attributes_ = false;
  DType dtype_ = DType::kF32;
  std::vector<bool> is_read_;  // per input slot
  // Of the call at hand; kept so that their memory is.
  Call call_;
  std::vector<OptionalOutput> outputs_;
};

// Of the rank that takes longest, in ps, of the local calls that visit_local_calls visits. Fails
// where they are not valid, and where the pack's cost fails, which is then `fault` too.
Result<int64_t> longest_ps(const SelectSubject& subject, std::span<const Layout> inputs,
                           std::span<const Layout> outputs, std::span<const uint64_t> tags,
                           ComputeTime& time, Status& fault);

}  // namespace onedim
