// Every op of every pack against brute force. By default a sample of everything; with
// ONEDIM_TEST_LONG=1 all: exhaustive on 1-D and 2-D meshes where input layouts x strategies are at
// most 10^6, else 5,000 draws, and 5,000 draws at 3-D. The ops are dealt out over pieces, which
// are tests of their own, and ONEDIM_TEST_SHARD=i/n (i from 1 to n) takes the i-th of n shares of
// each. ONEDIM_TEST_OPS=NAME limits the run to one op.

#include "brute_force.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/layout/overlap.hpp"
#include "core/select/selector.hpp"
#include "select_case.hpp"
#include "tests/op_draw.hpp"
#include "tests/random_seed.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

constexpr int kPieces = 4;
constexpr std::array<const char*, 7> kMeshes = {"a=4",     "a=3",         "a=2,b=2",    "a=2,b=3",
                                                "a=3,b=1", "a=2,b=2,c=2", "a=2,b=3,c=2"};

// Of one op on one mesh: 5,000 in all on the meshes of that number of dims.
int64_t draws_of(int mesh_ndim) {
  if (!is_long_run()) return mesh_ndim < 3 ? 3 : 1;
  const auto is_such = [&](const char* mesh) { return Mesh::parse(mesh)->ndim() == mesh_ndim; };
  const int64_t meshes = std::count_if(kMeshes.begin(), kMeshes.end(), is_such);
  return (5000 + meshes - 1) / meshes;
}

// Of one draw.
double most_strategies() { return is_long_run() ? 1e6 : 5e3; }

// Latencies alone; then a latency of microseconds, and bytes that cost as much, so that no term of
// a price is negligible; then the same where more mesh dims are cheaper.
std::vector<std::shared_ptr<const CostModel>> models_of(const Mesh& mesh) {
  const AlphaBetaModel::Link inner{1, 64}, outer{2, 16};
  return {std::make_shared<AlphaBetaModel>(mesh),
          std::make_shared<AlphaBetaModel>(mesh, inner, outer),
          std::make_shared<WideModel>(mesh, inner, outer)};
}

// Powers of two, so that times are the same in whatever order they are multiplied.
ClusterCompute slow_compute() {
  ClusterCompute compute{1.0 / 4096, 0.5, 0.25, {}};
  compute.peak_tflops.fill(1.0 / (1 << 22));
  return compute;
}

// Planners that the selector never meets, and a selector, with the same prices.
struct Judge {
  explicit Judge(const std::shared_ptr<const CostModel>& model)
      : compute(slow_compute()),
        reference(model),
        planner(model),
        selector(shipped_registry(), planner, Selector::kCapacity, Roofline(compute)) {}

  ClusterCompute compute;
  Planner reference;
  Planner planner;
  Selector selector;
  int64_t compared = 0, refused = 0, tried = 0;

  void compare(SelectCase& c, BruteForce& brute);
  void compare_plans(SelectCase& c, const Decision& decision);
};

void Judge::compare_plans(SelectCase& c, const Decision& decision) {
  const PlanOptions as_asked{c.options.policy, c.options.memory_bytes,
                             c.options.allow_shard_to_partial};
  const Mesh& mesh = planner.mesh();
  double sum_us = decision.compute_us;
  for (size_t slot = 0; slot < c.layouts.size(); ++slot) {
    const std::shared_ptr<const Plan>& plan = decision.plans[slot];
    if (!c.call.call.inputs[slot]) continue;
    const Layout from = without_unit_dims(c.layouts[slot], mesh, c.call.call.inputs[slot]->shape);
    if (plan == nullptr) {
      ASSERT_EQ(decision.inputs[slot], from);
      continue;
    }
    sum_us += plan->cost_us;
    PlanOptions options = as_asked;
    options.from_outermost = plan->from_outermost;
    const bool may_stay = c.options.forbid_moves || c.op->plain != nullptr;
    if (may_stay && plan->steps[0].kind == StepKind::kAlias &&
        is_same_placement(c.call.call.inputs[slot]->shape, from, decision.inputs[slot], mesh)) {
      ASSERT_EQ(plan->cost_us, 0);  // told anew, which takes no search
      continue;
    }
    const auto own =
        reference.plan(*c.call.call.inputs[slot], from, decision.inputs[slot], options);
    ASSERT_TRUE(own.ok()) << own.status();
    ASSERT_EQ(*plan, **own) << "of input " << slot << "\n"
                            << format_plan(*plan, mesh) << "not\n"
                            << format_plan(**own, mesh);
  }
  ASSERT_NEAR(sum_us, decision.cost_us, 1e-6);
}

void Judge::compare(SelectCase& c, BruteForce& brute) {
  const SelectRequest request = c.request();
  const std::optional<BruteForceBest> best = brute.best(request);
  const auto decision = selector.decide(request);
  const std::string text = c.text(planner.mesh());
  SCOPED_TRACE(text);
  ASSERT_EQ(decision.ok(), best.has_value()) << decision.status();
  if (!best) {
    ASSERT_EQ(decision.status().code(), absl::StatusCode::kFailedPrecondition) << decision.status();
    ++refused;
    return;
  }
  ++compared;
  const Decision& chosen = **decision;
  const RuleChoices choices = c.choices(shipped_registry());
  std::string both;
  for (size_t mesh_dim = 0; mesh_dim < chosen.rules.size(); ++mesh_dim)
    both += fmt::format("{} not {}\n", format_rule(chosen.rules[mesh_dim]),
                        format_rule(choices.rules()[best->strategy.rules[mesh_dim]].rule));
  SCOPED_TRACE(both);
  ASSERT_EQ(std::llround(chosen.cost_us * 1e6), best->cost.ps);
  ASSERT_EQ(std::llround(chosen.compute_us * 1e6), best->compute_ps);
  ASSERT_EQ(chosen.collectives, best->cost.collectives);
  ASSERT_EQ(chosen.bytes, best->cost.bytes);
  ASSERT_EQ(chosen.order, best->strategy.order);
  for (size_t mesh_dim = 0; mesh_dim < chosen.rules.size(); ++mesh_dim) {
    const Rule& expected = choices.rules()[best->strategy.rules[mesh_dim]].rule;
    ASSERT_EQ(chosen.rules[mesh_dim], expected);
  }
  compare_plans(c, chosen);
}

struct Piece {
  std::string mesh;
  int number = 0;
};
void PrintTo(const Piece& piece, std::ostream* out) { *out << piece.mesh << " " << piece.number; }

// Whether an op is this process's, by its place among all.
bool is_in_share(size_t index) {
  const char* share = std::getenv("ONEDIM_TEST_SHARD");
  if (share == nullptr) return true;
  char* end = nullptr;
  const size_t i = std::strtoull(share, &end, 10);
  const size_t n = *end == '/' ? std::strtoull(end + 1, nullptr, 10) : 0;
  if (i < 1 || i > n) ADD_FAILURE() << "ONEDIM_TEST_SHARD is " << share << ", expected i/n";
  return n != 0 && index / kPieces % n == i - 1;
}

// By default an op is tried on one mesh of each number of dims.
bool is_drawn_on(const Op& op, const std::string& mesh) {
  std::vector<std::string> alike;
  for (const char* other : kMeshes) {
    if (Mesh::parse(other)->ndim() == Mesh::parse(mesh)->ndim()) alike.push_back(other);
  }
  const size_t way = std::find(alike.begin(), alike.end(), mesh) - alike.begin();
  return is_drawn(op, way, alike.size());
}

std::vector<const Op*> ops_of(const Piece& piece) {
  const std::vector<const Op*> all = shipped_registry().ops();
  const char* only = std::getenv("ONEDIM_TEST_OPS");
  std::vector<const Op*> ops;
  for (size_t index = 0; index < all.size(); ++index) {
    const bool is_named =
        only == nullptr ? is_drawn_on(*all[index], piece.mesh) : all[index]->name() == only;
    if (index % kPieces == static_cast<size_t>(piece.number) && is_named && is_in_share(index))
      ops.push_back(all[index]);
  }
  return ops;
}

class AgainstBruteForce : public testing::TestWithParam<Piece> {
 protected:
  AgainstBruteForce() : mesh_(*Mesh::parse(GetParam().mesh)) {
    for (const std::shared_ptr<const CostModel>& model : models_of(mesh_))
      judges_.push_back(std::make_unique<Judge>(model));
  }
  ~AgainstBruteForce() override {
    int64_t compared = 0, refused = 0;
    for (const auto& judge : judges_) {
      compared += judge->compared;
      refused += judge->refused;
    }
    std::cout << compared << " decisions compared, " << refused << " without a strategy, "
              << exhaustive_ << " cases in full, " << skipped_ << " draws too large\n";
  }

  PairDraw draw_of(const Op& op) const {
    return PairDraw(random_seed() ^ std::hash<std::string>()(op.name() + mesh_.format()));
  }
  std::vector<SelectCase> cases_of(const Op& op) const {
    std::vector<SelectCase> cases;
    const Result<std::vector<std::string>> samples = op.samples();
    if (!samples.ok()) ADD_FAILURE() << op.name() << ": " << samples.status();
    for (const std::string& sample : samples.value_or(std::vector<std::string>())) {
      if (std::optional<SelectCase> made = case_of_sample(op, sample))
        cases.push_back(*std::move(made));
    }
    return cases;
  }
  // Strategies x layouts of the inputs.
  double extent(SelectCase& c) const {
    double count = std::pow(c.choices(shipped_registry()).rules().size(), mesh_.ndim());
    for (const OptionalMeta& input : c.call.call.inputs) {
      if (input) count *= static_cast<double>(all_layouts(*input, mesh_).size());
    }
    return count;
  }

  void compare_all_layouts(SelectCase& c, Judge& judge);
  void compare_draws(const Op& op, std::vector<SelectCase>& cases, PairDraw& draw, int64_t count,
                     double most);

  Mesh mesh_;
  std::vector<std::unique_ptr<Judge>> judges_;
  int64_t exhaustive_ = 0, skipped_ = 0;
};

// Of one case with the options it has.
void AgainstBruteForce::compare_all_layouts(SelectCase& c, Judge& judge) {
  const RuleChoices choices = c.choices(shipped_registry());
  BruteForce brute(*c.op, c.call.call, c.outputs, choices, judge.reference, judge.compute);
  std::vector<size_t> present;
  std::vector<std::vector<Layout>> layouts;
  for (size_t slot = 0; slot < c.layouts.size(); ++slot) {
    if (!c.call.call.inputs[slot]) continue;
    present.push_back(slot);
    layouts.push_back(all_layouts(*c.call.call.inputs[slot], mesh_));
  }
  std::vector<size_t> choice(present.size(), 0);
  ++exhaustive_;
  while (!HasFatalFailure()) {
    for (size_t i = 0; i < present.size(); ++i) c.layouts[present[i]] = layouts[i][choice[i]];
    judge.compare(c, brute);
    size_t at = 0;
    while (at < choice.size() && ++choice[at] == layouts[at].size()) choice[at++] = 0;
    if (at == choice.size()) return;
  }
}

void AgainstBruteForce::compare_draws(const Op& op, std::vector<SelectCase>& cases, PairDraw& draw,
                                      int64_t count, double most) {
  // Plans of strided shards on many mesh dims take long.
  const int64_t rarity = mesh_.ndim() < 3 ? 5 : 25;
  for (int64_t i = 0; i < count && !HasFatalFailure(); ++i) {
    SelectCase& c = cases[draw.number(0, static_cast<int64_t>(cases.size()) - 1)];
    Judge& judge = *judges_[draw.number(0, 2)];
    draw_request(c, shipped_registry(), mesh_, draw, draw.number(1, rarity) == 1);
    const RuleChoices choices = c.choices(shipped_registry());
    if (std::pow(choices.rules().size(), mesh_.ndim()) > most) {
      ++skipped_;
      continue;
    }
    BruteForce brute(op, c.call.call, c.outputs, choices, judge.reference, judge.compute);
    judge.compare(c, brute);
  }
}

// By default one case of an op is tried in full, if it is small enough, else all of them.
TEST_P(AgainstBruteForce, EveryOpOfEveryPack) {
  const bool may_be_full = mesh_.ndim() < 3;
  for (const Op* op : ops_of(GetParam())) {
    std::vector<SelectCase> cases = cases_of(*op);
    if (cases.empty()) continue;
    PairDraw draw = draw_of(*op);
    const auto full = static_cast<size_t>(draw.number(0, static_cast<int64_t>(cases.size()) - 1));
    std::vector<SelectCase> to_draw;
    for (size_t i = 0; i < cases.size(); ++i) {
      const bool is_full = may_be_full && (is_long_run() || i == full) &&
                           extent(cases[i]) <= (is_long_run() ? 1e6 : 4e3);
      if (!is_full || !is_long_run()) to_draw.push_back(cases[i]);
      if (!is_full) continue;
      cases[i].options = draw_options(cases[i], draw);
      compare_all_layouts(cases[i], *judges_[draw.number(0, 2)]);
      if (HasFatalFailure()) return;
    }
    if (!to_draw.empty())
      compare_draws(*op, to_draw, draw, draws_of(mesh_.ndim()), most_strategies());
    if (HasFatalFailure()) return;
  }
}

// One tensor is small beside another, which changes the order of the search.
TEST_P(AgainstBruteForce, LightInputs) {
  constexpr std::array<std::pair<const char*, const char*>, 8> kCalls = {{
      {"addmm", "f32[16]; f32[40,24]; f32[24,16]"},
      {"addmm", "f32[40,1]; f32[40,24]; f32[24,16]"},
      {"baddbmm", "f32[6]; f32[4,12,8]; f32[4,8,6]; beta=-2"},
      {"linear", "f32[30,24]; f32[16,24]; f32[16]"},
      {"add.Tensor", "f32[7]; f32[40,7]"},
      {"sub.Tensor", "f32[36,7]; f32[1,7]; alpha=-1"},
      {"where.self", "bool[8]; f32[32,8]; f32[32,1]"},
      {"addcmul", "f32[8]; f32[3,1]; f32[36,3,8]"},
  }};
  if (GetParam().number != 0) return;
  for (const auto& [name, call] : kCalls) {
    const Op& op = *shipped_registry().find(name);
    std::optional<SelectCase> made = case_of_sample(op, call);
    ASSERT_TRUE(made) << name;
    std::vector<SelectCase> cases{*std::move(made)};
    PairDraw draw = draw_of(op);
    compare_draws(op, cases, draw, is_long_run() ? 1000 : mesh_.ndim() < 3 ? 40 : 2, 1e4);
    if (HasFatalFailure()) return;
  }
}

std::vector<Piece> pieces() {
  std::vector<Piece> pieces;
  for (const char* mesh : kMeshes) {
    for (int number = 0; number < kPieces; ++number) pieces.push_back({mesh, number});
  }
  return pieces;
}

INSTANTIATE_TEST_SUITE_P(Selector, AgainstBruteForce, testing::ValuesIn(pieces()),
                         [](const testing::TestParamInfo<Piece>& piece) {
                           std::string name;
                           for (const char c : piece.param.mesh) {
                             if (c != '=' && c != ',') name += c;
                           }
                           return name + "_" + std::to_string(piece.param.number + 1);
                         });

}  // namespace
}  // namespace onedim
