#pragma once
// Wrap check: whether integers of a call left the range of their dtype. Rules of max, min and
// comparison are judged free of wrap-around, but a draw of large values cannot know what an op
// makes of them. So where such a draw refutes a candidate, the same calls are made in f64, and what
// lies beyond the range there did wrap around.

#include <memory>
#include <optional>

#include "core/validate/place.hpp"

namespace onedim {

class WrapCheck {
 public:
  // Where the op has no f64 form for the call, nothing is known to wrap. `subject` outlives this.
  WrapCheck(const Subject& subject, const Mesh& mesh, const RankLayouts& layouts);

  // `locals` per slot, one tensor a rank.
  bool wraps(int output, const Draw& draw, std::span<const std::span<Tensor>> locals);

 private:
  std::optional<Subject> subject_;  // the call in f64
  std::unique_ptr<RankSet> ranks_;
  const Subject& narrow_;
};

}  // namespace onedim
