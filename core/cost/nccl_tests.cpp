#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/text.hpp"
#include "core/cost/measurement.hpp"

namespace onedim {
namespace {

constexpr double kMostBytes = 1e15;
constexpr std::string_view kProgramEnd = "_perf";

// Programs of nccl-tests by what stands before `_perf`.
std::optional<Collective> collective_of_program(std::string_view name) {
  if (name == "alltoall") return Collective::kAllToAll;
  return find_collective(name);
}

// `all_reduce` of `/opt/nccl-tests/build/all_reduce_perf`, or "".
std::string_view program_in(std::string_view text) {
  const size_t end = text.find(kProgramEnd);
  if (end == std::string_view::npos) return "";
  size_t begin = end;
  while (begin > 0 && (std::isalpha(static_cast<unsigned char>(text[begin - 1])) != 0 ||
                       text[begin - 1] == '_')) {
    --begin;
  }
  return text.substr(begin, end - begin);
}

// The line without `[1,0]<stdout>:`; nothing for other streams.
std::optional<std::string_view> without_rank(std::string_view line) {
  constexpr std::string_view kOut = "<stdout>:";
  const size_t mark = line.find("<std");
  if (!line.starts_with('[') || mark == std::string_view::npos) return line;
  if (!line.substr(mark).starts_with(kOut)) return std::nullopt;
  return line.substr(mark + kOut.size());
}

bool is_row(const MeasurementLine& line) {
  return !line.words.empty() && line.words[0].find_first_not_of("0123456789") == std::string::npos;
}

class NcclTestsReader {
 public:
  NcclTestsReader(const std::string& file, const MeasurementOptions& options)
      : file_{file}, options_(options) {}

  Result<std::vector<Measurement>> read(std::string_view text) {
    for (MeasurementLine& line : measurement_lines(text)) {
      const std::optional<std::string_view> own = without_rank(line.text);
      if (!own) continue;
      const int64_t number = line.number;
      std::vector<MeasurementLine> parsed = measurement_lines(*own);
      if (parsed.empty()) continue;
      parsed[0].number = number;
      const Status status = is_row(parsed[0]) ? read_row(parsed[0]) : read_comment(parsed[0]);
      if (!status.ok()) return status;
    }
    if (rows_.empty()) return invalid_argument("{} has column titles but no sizes", file_.name);
    return std::move(rows_);
  }

 private:
  Status read_comment(const MeasurementLine& line) {
    const std::string_view program = program_in(line.text);
    if (!program.empty()) program_ = program;
    const std::vector<std::string_view>& words = line.words;
    if (words.size() < 3 || words[0] != "#") return {};
    if (words[1] == "Using") hosts_.clear();
    if (words[1] == "Rank") {
      const auto on = std::find(words.begin(), words.end(), "on");
      if (on != words.end() && on + 1 != words.end()) ++hosts_[std::string(on[1])];
    }
    const auto has = [&](std::string_view word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (has("size") && has("time") && has("busbw")) return read_titles(line);
    return {};
  }

  Status read_titles(const MeasurementLine& line) {
    titles_.assign(line.words.begin() + 1, line.words.end());
    titles_line_ = line.number;
    times_.clear();
    for (size_t i = 0; i < titles_.size(); ++i) {
      if (titles_[i] == "time") times_.push_back(i);
    }
    if (titles_[0] == "size" && times_.size() == 2) return {};
    return file_.fault(line.number,
                       "titles are not size, ..., time, ..., time, ... as of nccl-tests");
  }

  Result<Collective> collective(int64_t line) const {
    if (options_.collective) return *options_.collective;
    std::string program = program_;
    if (program.empty()) {
      const std::string name = std::filesystem::path(file_.name).filename().string();
      for (const char* known :
           {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "alltoall", "broadcast"}) {
        if (name.find(known) != std::string::npos) program = known;
      }
    }
    if (program.empty()) {
      return file_.fault(line,
                         "the file does not say which collective it measures; give --collective");
    }
    const std::optional<Collective> found = collective_of_program(program);
    if (!found) {
      return file_.fault(line,
                         "{}_perf is not priced; expected all_gather, reduce_scatter, all_reduce, "
                         "alltoall or broadcast",
                         program);
    }
    return *found;
  }

  Result<ClusterGroup> group(int64_t line) const {
    if (options_.nodes > 0 && options_.ranks_per_node > 0) {
      return ClusterGroup{options_.nodes * options_.ranks_per_node, options_.nodes,
                          options_.ranks_per_node};
    }
    if (hosts_.empty()) {
      return file_.fault(line, "no \"# Rank\" lines before; give --nodes and --ranks-per-node");
    }
    const int64_t on_first = hosts_.begin()->second;
    for (const auto& [host, count] : hosts_) {
      if (count != on_first) {
        return file_.fault(line, "nodes hold {} and {} ranks; expected as many on each", on_first,
                           count);
      }
    }
    const int64_t nodes = static_cast<int64_t>(hosts_.size());
    return ClusterGroup{nodes * on_first, nodes, on_first};
  }

  Result<double> number(const MeasurementLine& line, size_t column, std::string_view what) const {
    const std::optional<double> value = parse_number(line.words[column]);
    if (value && std::isfinite(*value) && *value >= 0) return *value;
    return file_.fault(line.number, "{} is {}; expected a number", what,
                       quoted_excerpt(line.words[column]));
  }

  // Wrong results make no measurement. `N/A`: not checked.
  Status check_results(const MeasurementLine& line) const {
    for (size_t i = 0; i < titles_.size(); ++i) {
      if (titles_[i] != "#wrong" || line.words[i] == "N/A" || line.words[i] == "0") continue;
      return file_.fault(line.number, "{} wrong values in the results; expected 0", line.words[i]);
    }
    return {};
  }

  Status read_row(const MeasurementLine& line) {
    if (titles_.empty()) return file_.fault(line.number, "a size before the column titles");
    if (line.words.size() != titles_.size()) {
      return file_.fault(line.number, "{} columns; expected {} as titled in line {}",
                         line.words.size(), titles_.size(), titles_line_);
    }
    if (const Status status = check_results(line); !status.ok()) return status;
    const Result<Collective> collective = this->collective(line.number);
    if (!collective.ok()) return collective.status();
    const Result<ClusterGroup> group = this->group(line.number);
    if (!group.ok()) return group.status();
    if (group->ranks < 2) return file_.fault(line.number, "one rank alone; expected 2 or more");
    const Result<double> bytes = number(line, 0, "size");
    if (!bytes.ok()) return bytes.status();
    if (*bytes > kMostBytes) return file_.fault(line.number, "size is over {} bytes", kMostBytes);
    const Result<double> us = number(line, times_[options_.in_place ? 1 : 0],
                                     options_.in_place ? "in-place time" : "out-of-place time");
    if (!us.ok()) return us.status();
    if (*bytes == 0) return {};  // too small to share out among the ranks
    if (*us == 0) return file_.fault(line.number, "time is 0; expected more");
    rows_.push_back({*collective, *group, static_cast<int64_t>(*bytes), *us});
    return {};
  }

  const MeasurementFile file_;
  const MeasurementOptions& options_;
  std::string program_;
  std::map<std::string, int64_t> hosts_;
  std::vector<std::string> titles_;
  std::vector<size_t> times_;
  int64_t titles_line_ = 0;
  std::vector<Measurement> rows_;
};

}  // namespace

Result<std::vector<Measurement>> parse_nccl_tests(std::string_view text, const std::string& file,
                                                  const MeasurementOptions& options) {
  return NcclTestsReader(file, options).read(text);
}

}  // namespace onedim
