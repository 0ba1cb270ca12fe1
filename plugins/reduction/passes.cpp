#include "passes.hpp"

namespace reduction {
namespace {

using namespace onedim::api;

// x != 0. Unsigned integers differ from zero if their maximum or sum does (short of wrap-around, as
// for all comparisons); signed ones may not.
std::vector<Pass> truth_passes(DType from) {
  if (is_bool(from)) return {{"max", "max"}, {"min", "min"}};
  std::vector<Pass> passes = {{"min", "product"}};
  if (from == DType::kU8)
    passes.insert(passes.end(), {{"max", "max"}, {"min", "min"}, {"max", "sum"}});
  return passes;
}

bool is_exact(DType from, DType to) {
  if (category(from) < 2) return category(to) < 2;
  return from == to || from == to_real(to) || size_of(to_real(to)) > size_of(to_real(from));
}

}  // namespace

std::vector<Pass> cast_passes(DType from, DType to) {
  if (is_bool(to)) return truth_passes(from);
  if (is_bool(from)) return {{"max", "max"}, {"min", "min"}, {"product", "min"}, {"product", ""}};
  if (is_integral(to) && !is_integral(from)) {  // truncation
    if (is_complex(from)) return {};
    return {{"max", "max"}, {"min", "min"}};
  }
  const bool rounds = !is_exact(from, to);
  std::vector<Pass> passes = {{"sum", "sum", rounds}, {"avg", "avg", rounds}};
  if (is_complex(from) && !is_complex(to)) return passes;  // the real part
  passes.push_back({"product", "product", rounds});
  if (!is_complex(to)) passes.insert(passes.end(), {{"max", "max"}, {"min", "min"}});
  return passes;
}

}  // namespace reduction
