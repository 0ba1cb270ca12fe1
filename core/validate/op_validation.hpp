#pragma once
// Op validation: all samples of an op (or the calls given), each a case, judged side by side on the
// threads allowed. Cases are independent and keyed by their number, so the report is the same for
// any number of threads. A sample that cannot be judged is an error of the op.

#include <optional>
#include <string>
#include <vector>

#include "core/validate/case_setup.hpp"
#include "core/validate/mesh_strategy.hpp"
#include "core/validate/op_report.hpp"

namespace onedim {

struct OpRequest {
  std::string op;
  std::optional<std::string> call;            // instead of the samples
  std::vector<std::string> claims;            // judged on the call, instead of the op's rules
  std::optional<StrategyText> strategy = {};  // likewise
};

struct ValidateOptions {
  CaseOptions cases;
  int threads = 1;  // within one op
  bool mutate = false;
  bool nonfinite = false;  // also try declared rules on non-finite values, and note what fails
  int strategies = 0;      // also try so many random ones of each op, on each mesh
  std::vector<Mesh> meshes = default_meshes();

  // What is drawn for one strategy that is judged by itself, and what random ones draw from.
  int strategy_draws() const { return 3 * cases.draws; }
};

OpReport validate_op(const Op& op, const OpRequest& request, const Registry& registry,
                     const ValidateOptions& options);

}  // namespace onedim
