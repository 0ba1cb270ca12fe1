#include "tools/selection_bench_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/graph/json_file.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

constexpr std::string_view kFormat = "onedim.bench_select/1";
// Sums of doubles in another order differ by less; one decision that differs makes more.
constexpr double kSumTolerance = 1e-9;

// The numbers of a row, by their names in the document.
struct NamedTime {
  const char* name;
  double SelectionTimes::*value;
};
constexpr NamedTime kTimes[] = {
    {"cached_ns_p50", &SelectionTimes::cached_ns_p50},
    {"cached_ns_p99", &SelectionTimes::cached_ns_p99},
    {"threads4_ns_p50", &SelectionTimes::threads4_ns_p50},
    {"uncached_us_p50", &SelectionTimes::uncached_us_p50},
    {"uncached_us_p99", &SelectionTimes::uncached_us_p99},
    {"uncached_us_max", &SelectionTimes::uncached_us_max},
    {"first_us", &SelectionTimes::first_us},
    {"cost_sum_us", &SelectionTimes::cost_sum_us},
};

// Reads members of one JSON object; the first that is missing or of another kind is named.
class MemberReader {
 public:
  MemberReader(simdjson::dom::element object, std::string where)
      : object_(object), where_(std::move(where)) {}

  template <typename Json, typename T>
  void read(const char* name, T& value) {
    Json found;
    if (object_[name].get(found) == simdjson::SUCCESS) {
      value = static_cast<T>(found);
    } else if (status_.ok()) {
      status_ = invalid_argument("{} has no \"{}\" as onedim bench select writes it", where_, name);
    }
  }
  const Status& status() const { return status_; }

 private:
  simdjson::dom::element object_;
  std::string where_;
  Status status_;
};

Result<SelectionRow> read_row(simdjson::dom::element object, const std::string& where) {
  SelectionRow row;
  MemberReader members(object, where);
  std::string_view op, inputs;
  simdjson::dom::array sizes;
  members.read<std::string_view>("op", op);
  members.read<std::string_view>("inputs", inputs);
  members.read<simdjson::dom::array>("mesh", sizes);
  members.read<int64_t>("draws", row.draws);
  for (const NamedTime& time : kTimes) members.read<double>(time.name, row.times.*time.value);
  if (!members.status().ok()) return members.status();
  for (const simdjson::dom::element size : sizes) {
    int64_t value = 0;
    if (size.get(value) != simdjson::SUCCESS)
      return invalid_argument("{} has a \"mesh\" that is no list of sizes", where);
    row.mesh.push_back(value);
  }
  row.op = op;
  row.inputs = inputs;
  return row;
}

bool is_same_work(const SelectionRow& a, const SelectionRow& b) {
  return a.op == b.op && a.mesh == b.mesh && a.inputs == b.inputs && a.draws == b.draws;
}

std::string ratio_text(double ratio) {
  if (!(ratio > 0)) return "-";
  if (std::abs(ratio - 1) < 0.005) return "the same";
  return ratio > 1 ? fmt::format("{:.2f}x faster", ratio)
                   : fmt::format("{:.2f}x slower", 1 / ratio);
}

std::string row_name(const SelectionRow& row) {
  return fmt::format("{} on {}", row.op, mesh_text(row.mesh));
}

}  // namespace

std::string mesh_text(const Dims& mesh) { return fmt::format("{}", fmt::join(mesh, "x")); }

Json report_json(const SelectionReport& report) {
  Json rows = Json::array();
  for (const SelectionRow& row : report.rows) {
    Json object{{"op", row.op},
                {"mesh", row.mesh},
                {"inputs", row.inputs},
                {"draws", row.draws},
                {"distinct", row.times.distinct},
                {"refused", row.times.refused}};
    for (const NamedTime& time : kTimes) object[time.name] = row.times.*time.value;
    rows.push_back(std::move(object));
  }
  return {{"format", kFormat},     {"cluster", report.cluster}, {"seed", report.seed},
          {"cores", report.cores}, {"load", report.load},       {"rows", std::move(rows)}};
}

std::string report_text(const SelectionReport& report) {
  std::vector<TextRow> table = {{"op", "mesh", "layouts", "cached p50", "p99", "4 threads",
                                 "uncached p50", "p99", "max", "first", "cost sum"}};
  for (const SelectionRow& row : report.rows) {
    const SelectionTimes& times = row.times;
    const auto ns = [](double value) { return fmt::format("{:.0f} ns", value); };
    const auto us = [](double value) { return fmt::format("{:.1f} us", value); };
    table.push_back({row.op, mesh_text(row.mesh), std::to_string(times.distinct),
                     ns(times.cached_ns_p50), ns(times.cached_ns_p99), ns(times.threads4_ns_p50),
                     us(times.uncached_us_p50), us(times.uncached_us_p99),
                     us(times.uncached_us_max), us(times.first_us),
                     fmt::format("{:.3f} us", times.cost_sum_us)});
  }
  return format_table(table) +
         fmt::format("cluster {}, seed {}, {} draws a row, {} cores, load {:.1f}\n", report.cluster,
                     report.seed, report.rows.empty() ? 0 : report.rows[0].draws, report.cores,
                     report.load);
}

Result<SelectionReport> read_selection_report(const std::string& path) {
  const Result<JsonFile> file = read_json_file(path, kFormat);
  if (!file.ok()) return file.status();
  SelectionReport report;
  std::string_view cluster;
  simdjson::dom::array rows;
  MemberReader members(file->root, path);
  members.read<std::string_view>("cluster", cluster);
  members.read<uint64_t>("seed", report.seed);
  members.read<simdjson::dom::array>("rows", rows);
  if (!members.status().ok()) return members.status();
  report.cluster = cluster;
  for (const simdjson::dom::element object : rows) {
    const std::string where = fmt::format("{}: row {}", path, report.rows.size());
    Result<SelectionRow> row = read_row(object, where);
    if (!row.ok()) return row.status();
    report.rows.push_back(*std::move(row));
  }
  return report;
}

bool ComparedRow::has_other_choices() const {
  if (!before) return false;
  const double most = std::max(before->times.cost_sum_us, now.times.cost_sum_us);
  return std::abs(before->times.cost_sum_us - now.times.cost_sum_us) > kSumTolerance * most;
}

bool SelectionComparison::has_other_choices() const {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ComparedRow& row) { return row.has_other_choices(); });
}

bool SelectionComparison::has_matches() const {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ComparedRow& row) { return row.before.has_value(); });
}

SelectionComparison compare_reports(const SelectionReport& before, const SelectionReport& now) {
  const bool is_comparable = before.cluster == now.cluster && before.seed == now.seed;
  SelectionComparison comparison;
  for (const SelectionRow& row : now.rows) {
    ComparedRow compared{row, {}};
    const auto found =
        std::find_if(before.rows.begin(), before.rows.end(),
                     [&](const SelectionRow& old) { return is_same_work(old, row); });
    if (is_comparable && found != before.rows.end()) compared.before = *found;
    comparison.rows.push_back(std::move(compared));
  }
  return comparison;
}

Json comparison_json(const SelectionComparison& comparison) {
  Json rows = Json::array();
  for (const ComparedRow& row : comparison.rows) {
    Json object{{"op", row.now.op}, {"mesh", row.now.mesh}, {"found", row.before.has_value()}};
    if (row.before) {
      object["uncached_p50_ratio"] = row.uncached_p50();
      object["uncached_max_ratio"] = row.uncached_max();
      object["cached_p50_ratio"] = row.cached_p50();
      object["cost_sum_us_before"] = row.before->times.cost_sum_us;
      object["cost_sum_differs"] = row.has_other_choices();
    }
    rows.push_back(std::move(object));
  }
  return {{"rows", std::move(rows)}, {"cost_sum_differs", comparison.has_other_choices()}};
}

std::string comparison_text(const SelectionComparison& comparison, const std::string& file) {
  std::vector<TextRow> table = {
      {"against " + file, "mesh", "uncached p50", "uncached max", "cached p50"}};
  std::string differences;
  for (const ComparedRow& row : comparison.rows) {
    if (!row.before) {
      table.push_back({row.now.op, mesh_text(row.now.mesh), "not in the file, or of other draws"});
      continue;
    }
    table.push_back({row.now.op, mesh_text(row.now.mesh), ratio_text(row.uncached_p50()),
                     ratio_text(row.uncached_max()), ratio_text(row.cached_p50())});
    if (!row.has_other_choices()) continue;
    differences += fmt::format(
        "{}: the chosen costs sum to {:.6f} us, but to {:.6f} us in {}: one of them is wrong\n",
        row_name(row.now), row.now.times.cost_sum_us, row.before->times.cost_sum_us, file);
  }
  if (!comparison.has_matches())
    differences += "nothing is compared: no row is of the same op, mesh, cluster, seed and draws\n";
  return format_table(table) + differences;
}

}  // namespace onedim
