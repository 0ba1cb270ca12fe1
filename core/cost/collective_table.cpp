#include <array>
#include <cmath>
#include <map>

#include "core/base/text.hpp"
#include "core/cost/measurement.hpp"

namespace onedim {
namespace {

constexpr size_t kFirstSize = 3;   // behind group, group size and collective
constexpr size_t kTitleWords = 4;  // `Group`, `Group Size`, `Collective`

constexpr double kMostBytes = 1e15;

struct NamedCollective {
  std::string_view name;
  Collective collective;
};
constexpr std::array<NamedCollective, 10> kNames = {{
    {"all_gather", Collective::kAllGather},
    {"all_gather_into_tensor", Collective::kAllGather},
    {"all_gather_into_tensor_out", Collective::kAllGather},
    {"reduce_scatter", Collective::kReduceScatter},
    {"reduce_scatter_tensor", Collective::kReduceScatter},
    {"all_reduce", Collective::kAllReduce},
    {"all_to_all", Collective::kAllToAll},
    {"all_to_all_single", Collective::kAllToAll},
    {"alltoall", Collective::kAllToAll},
    {"broadcast", Collective::kBroadcast},
}};

struct SizeColumn {
  double bytes = 0;
  double us_a_unit = 1;
};

// `16MB` and `(ms)`.
std::optional<SizeColumn> parse_column(std::string_view size, std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kSizes = {
      {{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"B", 1}}};
  for (const auto& [suffix, factor] : kSizes) {
    if (!size.ends_with(suffix)) continue;
    const std::optional<double> number = parse_number(size.substr(0, size.size() - suffix.size()));
    if (!number || !(*number > 0) || *number * factor > kMostBytes) return std::nullopt;
    if (unit == "(ms)") return SizeColumn{*number * factor, 1000};
    if (unit == "(us)") return SizeColumn{*number * factor, 1};
    return std::nullopt;
  }
  return std::nullopt;
}

class TableReader {
 public:
  TableReader(const std::string& file, const MeasurementOptions& options)
      : file_{file}, options_(options) {}

  Result<std::vector<Measurement>> read(std::string_view text) {
    for (const MeasurementLine& line : measurement_lines(text)) {
      const bool is_rule = line.text.find_first_not_of("- \r") == std::string_view::npos;
      if (line.words.empty() || is_rule) continue;
      const Status status = line.words[0] == "Group" ? read_titles(line) : read_row(line);
      if (!status.ok()) return status;
    }
    if (rows_.empty()) return invalid_argument("{} has column titles but no rows", file_.name);
    if (const Status status = place_groups(); !status.ok()) return status;
    return std::move(rows_);
  }

 private:
  Status read_titles(const MeasurementLine& line) {
    columns_.clear();
    const std::vector<std::string_view>& words = line.words;
    for (size_t i = kTitleWords; i < words.size(); i += 2) {
      const std::string_view unit = i + 1 < words.size() ? words[i + 1] : "";
      const std::optional<SizeColumn> column = parse_column(words[i], unit);
      if (!column) {
        return file_.fault(line.number, "title {} is no size with a unit, such as 16MB (ms)",
                           quoted_excerpt(fmt::format("{} {}", words[i], unit)));
      }
      columns_.push_back(*column);
    }
    if (columns_.empty()) return file_.fault(line.number, "no size columns, such as 16MB (ms)");
    return {};
  }

  Result<Collective> collective(const MeasurementLine& line) const {
    std::vector<std::string> names;
    for (const NamedCollective& known : kNames) {
      if (known.name == line.words[2]) return known.collective;
      names.emplace_back(known.name);
    }
    return file_.fault(line.number, "unknown collective {}{}", quoted_excerpt(line.words[2]),
                       did_you_mean(line.words[2], names));
  }

  // The size of a group, the same in all its rows.
  Result<int64_t> group_size(const MeasurementLine& line) {
    const std::optional<double> group = parse_number(line.words[0]);
    const std::optional<double> size = parse_number(line.words[1]);
    if (!group || *group != std::floor(*group) || *group < 0) {
      return file_.fault(line.number, "group is {}; expected a whole number",
                         quoted_excerpt(line.words[0]));
    }
    if (!size || *size != std::floor(*size) || *size < 2 || *size > (1 << 20)) {
      return file_.fault(line.number, "group size is {}; expected 2 to 2^20 ranks",
                         quoted_excerpt(line.words[1]));
    }
    const auto [known, is_new] =
        sizes_.emplace(static_cast<int64_t>(*group), static_cast<int64_t>(*size));
    if (known->second != static_cast<int64_t>(*size)) {
      return file_.fault(line.number, "group {} has {} ranks here and {} before", line.words[0],
                         line.words[1], known->second);
    }
    group_of_row_ = known->first;
    return known->second;
  }

  Status read_row(const MeasurementLine& line) {
    if (columns_.empty()) return file_.fault(line.number, "a row before the column titles");
    if (line.words.size() != kFirstSize + columns_.size()) {
      return file_.fault(line.number, "{} columns; expected {} as titled", line.words.size(),
                         kFirstSize + columns_.size());
    }
    const Result<int64_t> ranks = group_size(line);
    if (!ranks.ok()) return ranks.status();
    const Result<Collective> collective = this->collective(line);
    if (!collective.ok()) return collective.status();
    // A rank's input is its share of what all-gather gathers.
    const int64_t factor = *collective == Collective::kAllGather ? *ranks : 1;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::optional<double> time = parse_number(line.words[kFirstSize + i]);
      if (!time || !std::isfinite(*time) || *time <= 0) {
        return file_.fault(line.number, "time is {}; expected a number above 0",
                           quoted_excerpt(line.words[kFirstSize + i]));
      }
      rows_.push_back({*collective,
                       {},
                       static_cast<int64_t>(columns_[i].bytes) * factor,
                       *time * columns_[i].us_a_unit});
      groups_.push_back(group_of_row_);
    }
    return {};
  }

  Status place_groups() {
    std::map<int64_t, ClusterGroup> placed;
    if (options_.nodes > 0 && options_.ranks_per_node > 0) {
      const int64_t ranks = options_.nodes * options_.ranks_per_node;
      for (const auto& [group, size] : sizes_) {
        if (size != ranks) {
          return invalid_argument("{}: group {} has {} ranks, not {} nodes x {}", file_.name, group,
                                  size, options_.nodes, options_.ranks_per_node);
        }
        placed[group] = {ranks, options_.nodes, options_.ranks_per_node};
      }
    } else {
      std::vector<std::string> names;
      Dims sizes;
      for (const auto& [group, size] : sizes_) {
        names.push_back(fmt::format("m{}", group));
        sizes.push_back(size);
      }
      const Result<Mesh> mesh = Mesh::create(names, sizes);
      if (!mesh.ok()) return annotate(mesh.status(), file_.name);
      MeshDimSet dim = 1;
      for (const auto& [group, size] : sizes_) {
        placed[group] = cluster_group(*mesh, options_.node_capacity, dim);
        dim <<= 1;
      }
    }
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i].group = placed[groups_[i]];
    return {};
  }

  const MeasurementFile file_;
  const MeasurementOptions& options_;
  std::vector<SizeColumn> columns_;
  std::map<int64_t, int64_t> sizes_;  // by group
  int64_t group_of_row_ = 0;
  std::vector<int64_t> groups_;  // of each of rows_
  std::vector<Measurement> rows_;
};

}  // namespace

Result<std::vector<Measurement>> parse_collective_table(std::string_view text,
                                                        const std::string& file,
                                                        const MeasurementOptions& options) {
  return TableReader(file, options).read(text);
}

}  // namespace onedim
