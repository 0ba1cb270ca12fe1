#include "core/validate/strategy_draw.hpp"

#include <algorithm>
#include <numeric>

namespace onedim {
namespace {

constexpr int kAttempts = 60;
constexpr int64_t kMostSplitFactor = 5;

bool has_strided(const Rule& rule) {
  const auto is_strided = [](const Placement& placement) {
    return placement.kind == Placement::Kind::kStridedShard;
  };
  return std::any_of(rule.inputs.begin(), rule.inputs.end(), is_strided) ||
         std::any_of(rule.outputs.begin(), rule.outputs.end(), is_strided);
}

Dims draw_order(int mesh_ndim, Random& random) {
  Dims order(mesh_ndim);
  std::iota(order.begin(), order.end(), 0);
  if (random.chance(50)) return order;
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
  return order;
}

Policy draw_policy(Random& random) {
  if (random.chance(50)) return Policy::kAny;
  static constexpr Policy kOthers[] = {Policy::kNonempty, Policy::kNonempty, Policy::kEven,
                                       Policy::kFits};
  return random.pick<Policy>(kOthers);
}

}  // namespace

StrategySource::StrategySource(const Subject& subject, RuleChoices choices)
    : subject_(&subject), choices_(std::move(choices)) {
  for (size_t i = 0; i < choices_.rules().size(); ++i) {
    const Rule& rule = choices_.rules()[i].rule;
    (has_strided(rule) ? strided_
     : rule.implied    ? implied_
                       : declared_)
        .push_back(static_cast<int>(i));
  }
  std::vector<int>& any = !declared_.empty() ? declared_ : !implied_.empty() ? implied_ : strided_;
  for (std::vector<int>* list : {&declared_, &implied_, &strided_}) {
    if (list->empty()) *list = any;
  }
}

Result<StrategySource> StrategySource::create(const Subject& subject, const Registry& registry,
                                              Random& random) {
  const int64_t factors[] = {random.between(2, kMostSplitFactor),
                             random.between(2, kMostSplitFactor)};
  Result<RuleChoices> choices = make_choices(subject, registry, factors);
  if (!choices.ok()) return choices.status();
  return StrategySource(subject, *std::move(choices));
}

int StrategySource::draw_rule(Random& random) const {
  const int64_t at = random.below(100);
  return random.pick<int>(at < 55 ? declared_ : at < 75 ? strided_ : implied_);
}

std::optional<MeshStrategy> StrategySource::draw(const Mesh& mesh, Random& random) const {
  if (choices_.rules().empty()) return std::nullopt;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Strategy strategy{{}, draw_order(mesh.ndim(), random)};
    for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim)
      strategy.rules.push_back(draw_rule(random));
    Result<MeshStrategy> made =
        make_strategy(*subject_, choices_, mesh, strategy, draw_policy(random));
    if (made.ok()) return *std::move(made);
  }
  return std::nullopt;
}

}  // namespace onedim
