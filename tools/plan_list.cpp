#include "tools/plan_list.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/layout/placed_layout.hpp"

namespace onedim {
namespace {

Result<ListedMove> parse_move(std::string_view text, const Mesh& mesh) {
  const size_t colon = text.find(':'), arrow = text.find("->");
  if (colon == text.npos || arrow == text.npos || arrow < colon) {
    return invalid_argument(
        "\"{}\" is no move; expected TENSOR: LAYOUT -> LAYOUT, such as "
        "f32[10,7]: S(0),R -> R,S(1)",
        text);
  }
  Result<TensorMeta> meta = parse_meta(trim(text.substr(0, colon)));
  if (!meta.ok()) return meta.status();
  const int ndim = static_cast<int>(meta->shape.size());
  Result<PlacedLayout> from =
      parse_placed_layout(text.substr(colon + 1, arrow - colon - 1), mesh, ndim);
  if (!from.ok()) return from.status();
  Result<PlacedLayout> to = parse_placed_layout(text.substr(arrow + 2), mesh, ndim);
  if (!to.ok()) return to.status();
  return ListedMove{0,
                    std::string(text),
                    *std::move(meta),
                    std::move(from->layout),
                    std::move(to->layout),
                    from->outermost,
                    to->outermost};
}

}  // namespace

Result<std::vector<ListedMove>> parse_plan_list(std::string_view text, const Mesh& mesh) {
  std::vector<ListedMove> moves;
  int64_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    Result<ListedMove> move = parse_move(line, mesh);
    if (!move.ok()) return annotate(move.status(), fmt::format("line {}", number));
    move->line = number;
    moves.push_back(*std::move(move));
  }
  return moves;
}

Result<std::shared_ptr<const Plan>> plan_listed(const ListedMove& move, Planner& planner,
                                                const PlanOptions& options) {
  PlanOptions placed = options;
  placed.from_outermost = move.from_outermost;
  placed.to_outermost = move.to_outermost;
  Result<std::shared_ptr<const Plan>> plan = planner.plan(move.meta, move.from, move.to, placed);
  if (!plan.ok()) return annotate(plan.status(), fmt::format("line {}", move.line));
  return plan;
}

Result<ListedOutcome> run_listed(const ListedMove& move, Planner& planner,
                                 const PlanOptions& options, uint64_t seed, const PlanRunner& run) {
  Result<std::shared_ptr<const Plan>> plan = plan_listed(move, planner, options);
  if (!plan.ok()) return plan.status();
  Status checked = check_plan(**plan, {&move.meta, 1}, planner.mesh(), seed, run);
  if (absl::IsUnimplemented(checked) || absl::IsInvalidArgument(checked))
    return annotate(checked, fmt::format("line {}", move.line));
  return ListedOutcome{*std::move(plan), std::move(checked)};
}

}  // namespace onedim
