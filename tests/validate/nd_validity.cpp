// Every op of every shipped pack under random strategies on meshes of two and three dims: what the
// rules prove on one mesh dim must hold on several. 60 strategies an op on each mesh (20 without
// optimisation), of one in four forms of other ops; 200 of all with ONEDIM_TEST_LONG.

#include <gtest/gtest.h>

#include <iostream>

#include "core/validate/strategy_trial.hpp"
#include "tests/op_draw.hpp"
#include "tests/random_seed.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

int strategies_per_op() {
  if (is_long_run()) return 200;
#ifdef NDEBUG
  return 60;
#else
  return 20;
#endif
}

std::string text_of(const StrategyFinding& finding) {
  return finding.reason + "\n    " + finding.repro;
}

class NdValidity : public testing::TestWithParam<const char*> {};

TEST_P(NdValidity, EveryOpOfEveryPack) {
  StrategyOptions options;
  options.seed = random_seed();
  options.meshes = {*Mesh::parse(GetParam())};
  int64_t tried = 0, nested = 0, judged = 0;
  for (const Op* op : shipped_registry().ops()) {
    if (!is_drawn(*op)) continue;
    const Result<std::vector<std::string>> samples = op->samples();
    ASSERT_TRUE(samples.ok()) << op->name();
    const int64_t count = static_cast<int64_t>(samples->size());
    int64_t tried_of_op = 0, nested_of_op = 0;
    for (int64_t i = 0; i < count; ++i) {
      options.count = static_cast<int>((strategies_per_op() + count - 1 - i) / count);
      Result<CallText> sample = parse_call(op->schema, (*samples)[i]);
      ASSERT_TRUE(sample.ok()) << op->name() << " " << (*samples)[i];
      const Result<StrategyReport> report =
          try_strategies(*op, *std::move(sample), shipped_registry(), options);
      ASSERT_TRUE(report.ok()) << op->name() << " " << (*samples)[i] << ": " << report.status();
      for (const StrategyFinding& finding : report->incorrect) ADD_FAILURE() << text_of(finding);
      tried_of_op += report->tried;
      nested_of_op += report->nested;
      judged += report->judged;
    }
    EXPECT_GE(tried_of_op, strategies_per_op() * 9 / 10) << op->name();
    EXPECT_GE(nested_of_op, strategies_per_op() / 20) << op->name();
    tried += tried_of_op;
    nested += nested_of_op;
  }
  std::cout << tried << " strategies, " << nested << " nested, " << judged << " judged\n";
  EXPECT_GT(judged, tried * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Meshes, NdValidity, testing::Values("a=2,b=2", "a=2,b=3", "a=2,b=2,c=2"));

}  // namespace
}  // namespace onedim
