#pragma once
// Measurement: one measured time of one collective, as read from the files that `onedim calibrate`
// takes: output of nccl-tests, and tables of collectives by size. Bytes count as collective.hpp
// does, whatever the file counts.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"
#include "core/cost/cluster_group.hpp"

namespace onedim {

struct Measurement {
  Collective collective = Collective::kAllGather;
  ClusterGroup group;
  int64_t bytes = 0;
  double us = 0;
  bool operator==(const Measurement&) const = default;
};

// What files may leave unsaid; 0 and nothing: as the file says.
struct MeasurementOptions {
  std::optional<Collective> collective;
  int64_t nodes = 0;
  int64_t ranks_per_node = 0;
  int64_t node_capacity = 8;  // ranks that fit on a node, for tables
  bool in_place = false;      // nccl-tests: the in-place columns
};

// Tells the format by the column titles. Errors give file and line; at least one measurement.
Result<std::vector<Measurement>> parse_measurements(std::string_view text, const std::string& file,
                                                    const MeasurementOptions& options);

// nccl-tests, old (`error`) and new (`#wrong`), with or without redop and root, with the rank
// prefix that mpirun --tag-output adds. Lines of other programs between are skipped. The collective
// is that of the options, else of the last `..._perf` in the text, else of the file's name; nodes
// and ranks are counted from the `# Rank` lines.
Result<std::vector<Measurement>> parse_nccl_tests(std::string_view text, const std::string& file,
                                                  const MeasurementOptions& options);

// Columns Group, Group Size, Collective, then a size each (`1MB (ms)`), which is a rank's input.
// Groups are mesh dims, outermost first.
Result<std::vector<Measurement>> parse_collective_table(std::string_view text,
                                                        const std::string& file,
                                                        const MeasurementOptions& options);

// Where the errors of a reader point.
struct MeasurementFile {
  const std::string& name;
  template <typename... Args>
  Status fault(int64_t line, fmt::format_string<Args...> format, Args&&... args) const {
    return invalid_argument("{}:{}: {}", name, line,
                            fmt::format(format, std::forward<Args>(args)...));
  }
};

// One line of a measurement file.
struct MeasurementLine {
  int64_t number = 0;  // from 1
  std::string_view text;
  std::vector<std::string_view> words;
};
std::vector<MeasurementLine> measurement_lines(std::string_view text);
// All of `text`, or nothing.
std::optional<double> parse_number(std::string_view text);

}  // namespace onedim
