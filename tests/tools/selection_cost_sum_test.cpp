// The sum of chosen costs that `onedim bench select` prints, against trying every strategy for the
// layouts that it says it drew.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/base/child_process.hpp"
#include "core/base/input_file.hpp"
#include "core/cost/make_cost_model.hpp"
#include "tests/random_seed.hpp"
#include "tests/select/brute_force.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

using nlohmann::json;

struct SumCase {
  const char* op;
  const char* inputs;  // empty: the standard call
  const char* mesh;
  int draws;
};

void PrintTo(const SumCase& given, std::ostream* out) {
  *out << given.op << " " << given.inputs << " on " << given.mesh;
}

std::string run(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{ONEDIM_COMMAND, "-p", ONEDIM_PACK_FOLDER};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Result<ChildProcess> child = ChildProcess::start(command, ChildProcess::Input::kNone);
  EXPECT_TRUE(child.ok()) << child.status();
  std::string output, line;
  while (child->read_line(std::chrono::minutes(5), line) == ChildProcess::Read::kLine)
    output += line + "\n";
  return output;
}

// Ranks of each mesh dim, named as the command names them.
Mesh mesh_of(const json& sizes) {
  std::vector<std::string> names;
  Dims dims;
  for (const json& size : sizes) {
    names.emplace_back(1, static_cast<char>('a' + names.size()));
    dims.push_back(size.get<int64_t>());
  }
  return *Mesh::create(names, dims);
}

std::string joined_inputs(const json& row) {
  std::string text;
  for (const json& input : row["inputs"])
    text += (text.empty() ? "" : "; ") + input.get<std::string>();
  return text;
}

// The sum over the draws of a row of a file of draws.
double brute_sum_us(const json& row) {
  const Mesh mesh = mesh_of(row["mesh"]);
  const Op* op = shipped_registry().find(row["op"].get<std::string>());
  const Call call = parse_call(op->schema, joined_inputs(row))->call;
  const std::vector<OptionalOutput> outputs = *op->infer(call);
  const Cluster cluster = *load_cluster("h100");
  Planner planner(*make_cost_model(cluster, mesh));
  double sum = 0;
  for (const json& draw : row["draws"]) {
    std::vector<Layout> layouts;
    for (size_t slot = 0; slot < draw.size(); ++slot) {
      const int ndim = static_cast<int>(call.inputs[slot]->shape.size());
      layouts.push_back(*parse_layout(draw[slot].get<std::string>(), mesh, ndim));
    }
    const SelectRequest request{op, &call, layouts, {}, {}};
    std::vector<const Layout*> present;
    for (const Layout& layout : layouts) present.push_back(&layout);
    const RuleChoices choices =
        *RuleChoices::create(*op, call, outputs, shipped_registry(), present, false);
    const auto best =
        BruteForce(*op, call, outputs, choices, planner, cluster.compute).best(request);
    EXPECT_TRUE(best.has_value()) << draw;
    if (best) sum += static_cast<double>(best->cost.ps) * 1e-6;
  }
  return sum;
}

class SelectionCostSum : public testing::TestWithParam<SumCase> {};

TEST_P(SelectionCostSum, IsThatOfTryingEverything) {
  const SumCase& given = GetParam();
  const std::string file = fmt::format("{}/draws_{}.json", testing::TempDir(), ::getpid());
  std::vector<std::string> arguments{"bench",
                                     "select",
                                     "--json",
                                     "--ops",
                                     given.op,
                                     "--meshes",
                                     given.mesh,
                                     "--draws",
                                     std::to_string(given.draws),
                                     "--seed",
                                     std::to_string(random_seed()),
                                     "--draws-out",
                                     file};
  if (*given.inputs != 0) arguments.insert(arguments.end(), {"--inputs", given.inputs});
  const json printed = json::parse(run(arguments))["rows"][0];
  const json row = json::parse(*read_text_file(file))["rows"][0];
  std::remove(file.c_str());
  ASSERT_GE(row["draws"].size(), 10u);
  EXPECT_EQ(printed["distinct"], row["draws"].size());
  EXPECT_GT(printed["cost_sum_us"], 0);
  // Each plan is rounded to a millionth of a us; a strategy that is not the best costs more.
  const double rounding = 3e-6 * given.draws;
  EXPECT_NEAR(printed["cost_sum_us"].get<double>(), brute_sum_us(row), rounding);
}

INSTANTIATE_TEST_SUITE_P(Small, SelectionCostSum,
                         testing::Values(SumCase{"mm", "", "8", 40}, SumCase{"mm", "", "2x4", 40},
                                         SumCase{"mm", "", "2x2x2", 12},
                                         SumCase{"mm", "f32[10,7]; f32[7,5]", "3x2", 25},
                                         SumCase{"add.Tensor", "", "2x4", 20},
                                         SumCase{"addmm", "", "2x4", 20},
                                         SumCase{"bmm", "", "2x4", 20}));

}  // namespace
}  // namespace onedim
