#pragma once
// Selection report: what a run of `onedim bench select` measured, as a table for people and as the
// JSON document that a later run reads back and is compared with. Two rows are of the same work if
// op, call, mesh, draws, seed and cluster are equal; then the sums of the chosen costs must be
// equal, too.

#include <optional>
#include <string>
#include <vector>

#include "tools/selection_bench.hpp"
#include "tools/session.hpp"

namespace onedim {

struct SelectionRow {
  std::string op;
  Dims mesh;
  std::string inputs;  // the call
  int64_t draws = 0;   // asked for
  SelectionTimes times;
};

struct SelectionReport {
  std::string cluster;
  uint64_t seed = 0;
  int cores = 0;
  double load = 0;  // of the machine as the run began; -1: unknown
  std::vector<SelectionRow> rows;
};

std::string mesh_text(const Dims& mesh);  // `8x8`

Json report_json(const SelectionReport& report);
std::string report_text(const SelectionReport& report);
// Errors name the file and what is missing in it.
Result<SelectionReport> read_selection_report(const std::string& path);

// A row of the new run beside the same work of the old one, if that has it. Ratios are old / new.
struct ComparedRow {
  SelectionRow now;
  std::optional<SelectionRow> before;
  double uncached_p50() const { return before->times.uncached_us_p50 / now.times.uncached_us_p50; }
  double uncached_max() const { return before->times.uncached_us_max / now.times.uncached_us_max; }
  double cached_p50() const { return before->times.cached_ns_p50 / now.times.cached_ns_p50; }
  bool has_other_choices() const;
};

struct SelectionComparison {
  std::vector<ComparedRow> rows;
  bool has_other_choices() const;
  bool has_matches() const;  // any row was compared
};

SelectionComparison compare_reports(const SelectionReport& before, const SelectionReport& now);
Json comparison_json(const SelectionComparison& comparison);
std::string comparison_text(const SelectionComparison& comparison, const std::string& file);

}  // namespace onedim
