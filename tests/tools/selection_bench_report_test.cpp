#include "tools/selection_bench_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace onedim {
namespace {

SelectionReport report_of(double uncached_us, double cost_sum_us) {
  SelectionRow row;
  row.op = "mm";
  row.mesh = {2, 4};
  row.inputs = "f32[4,6]; f32[6,8]";
  row.draws = 10;
  row.times.uncached_us_p50 = uncached_us;
  row.times.uncached_us_max = 2 * uncached_us;
  row.times.cached_ns_p50 = 70;
  row.times.cost_sum_us = cost_sum_us;
  return {"h100", 1, 2, 0.5, {row}};
}

Result<SelectionReport> written_and_read(const std::string& text) {
  const std::string file = fmt::format("{}/report_{}.json", testing::TempDir(), ::getpid());
  std::ofstream(file) << text;
  Result<SelectionReport> read = read_selection_report(file);
  std::remove(file.c_str());
  return read;
}

TEST(SelectionReport, IsReadAsItWasWritten) {
  const SelectionReport report = report_of(30, 1234.5678);
  const Result<SelectionReport> read = written_and_read(report_json(report).dump());
  ASSERT_TRUE(read.ok()) << read.status();
  Json expected = report_json(report), found = report_json(*read);
  for (const char* unread : {"cores", "load"}) {
    expected.erase(unread);
    found.erase(unread);
  }
  EXPECT_EQ(found, expected);
}

TEST(SelectionReport, SaysWhatIsMissing) {
  Json document = report_json(report_of(30, 1));
  document["rows"][0].erase("cost_sum_us");
  const Result<SelectionReport> read = written_and_read(document.dump());
  ASSERT_FALSE(read.ok());
  EXPECT_NE(message_of(read.status()).find("row 0 has no \"cost_sum_us\""), std::string::npos);
  document.erase("rows");
  EXPECT_FALSE(written_and_read(document.dump()).ok());
  document["format"] = "onedim.graph/1";
  EXPECT_FALSE(written_and_read(document.dump()).ok());
}

TEST(SelectionReport, RatiosAreOldOverNew) {
  const SelectionComparison comparison = compare_reports(report_of(30, 1), report_of(20, 1));
  ASSERT_TRUE(comparison.rows.at(0).before.has_value());
  EXPECT_DOUBLE_EQ(comparison.rows[0].uncached_p50(), 1.5);
  EXPECT_FALSE(comparison.has_other_choices());
  const std::string text = comparison_text(comparison, "old.json");
  EXPECT_NE(text.find("1.50x faster"), std::string::npos) << text;
  EXPECT_NE(text.find("the same"), std::string::npos) << text;
  const std::string back =
      comparison_text(compare_reports(report_of(20, 1), report_of(30, 1)), "old.json");
  EXPECT_NE(back.find("1.50x slower"), std::string::npos) << back;
}

TEST(SelectionReport, AnotherSumOfCostsIsAFinding) {
  const auto differs = [](double before, double now) {
    return compare_reports(report_of(1, before), report_of(1, now)).has_other_choices();
  };
  EXPECT_TRUE(differs(250000, 250000.001));
  EXPECT_TRUE(differs(0, 1));
  EXPECT_FALSE(differs(250000, 250000.00000001));
  EXPECT_FALSE(differs(0, 0));
}

TEST(SelectionReport, OnlyTheSameWorkIsCompared) {
  const auto is_compared = [](void (*change)(SelectionReport&)) {
    SelectionReport other = report_of(1, 99);
    change(other);
    const SelectionComparison comparison = compare_reports(other, report_of(1, 1));
    EXPECT_EQ(comparison.has_other_choices(), comparison.rows.at(0).before.has_value());
    return comparison.rows[0].before.has_value();
  };
  EXPECT_TRUE(is_compared([](SelectionReport&) {}));
  EXPECT_FALSE(is_compared([](SelectionReport& other) { other.seed = 2; }));
  EXPECT_FALSE(is_compared([](SelectionReport& other) { other.cluster = "a100"; }));
  EXPECT_FALSE(is_compared([](SelectionReport& other) { other.rows[0].draws = 11; }));
  EXPECT_FALSE(is_compared([](SelectionReport& other) { other.rows[0].mesh = {4, 2}; }));
  EXPECT_FALSE(is_compared([](SelectionReport& other) { other.rows[0].inputs = "f32[4,6]"; }));
  EXPECT_FALSE(is_compared([](SelectionReport& other) { other.rows.clear(); }));
}

}  // namespace
}  // namespace onedim
