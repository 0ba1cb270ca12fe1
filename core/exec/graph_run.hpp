#pragma once
// Graph run: a graph under a solution on all ranks of the `sim` back end, judged node by node and
// move by move (graph_judge.hpp), and its outputs beside those of the graph on whole tensors. How
// far rounding may take these apart depends on the whole graph and is bounded by nothing here, so
// in the graph's own dtypes the distance is only told; where all floats are f64 it is judged.

#include "core/exec/graph_judge.hpp"

namespace onedim {

struct GraphRunOptions {
  SimOptions sim;
  const Roofline* roofline = nullptr;  // borrowed; null: local calls are not predicted
  // If set, outputs may differ by this much from those on whole tensors, relative to the largest
  // element of each.
  std::optional<double> most_error;
};

struct OutputDistance {
  ValueId value = kNoValue;
  bool is_bit_equal = true;
  double max_abs_error = 0;
  double max_ulp = 0;
  double relative_error = 0;  // max_abs_error over the largest |element| on whole tensors
};
// `locals`: one a rank, under task.output_layout(value).
Result<OutputDistance> output_distance(const GraphTask& task, ValueId value, const Tensor& whole,
                                       std::span<const Tensor> locals);

// What was found of the values that ranks held.
struct GraphFindings {
  GraphVerdict verdict;
  std::vector<OutputDistance> outputs;  // each output and gradient of the graph once, by value
};

struct GraphRunReport {
  bool is_equal = true;
  std::string difference;  // the first; "" if there is none
  GraphVerdict verdict;
  std::vector<OutputDistance> outputs;
  int64_t peak_bytes = 0;            // of the rank that holds most
  double us = 0;                     // from the first stage to the last, judging included
  std::vector<RankTrace> traces;     // per rank
  std::vector<RankMemory> memories;  // per rank
};

// Fails where a node could not be judged.
Result<GraphRunReport> conclude(const GraphTask& task, GraphFindings findings,
                                std::optional<double> most_error);

// What a rank begins with: its own of `locals`, per value; a copy where nodes write.
std::vector<Tensor> given_to(const GraphTask& task, size_t rank,
                             std::span<const std::vector<Tensor>> locals);

// `whole`: per value, empty where a node makes it; `locals`: per value one tensor a rank, as the
// solution's `given` lays it out.
Result<GraphRunReport> run_graph_on_sim(const GraphTask& task, std::span<const Tensor> whole,
                                        std::span<const std::vector<Tensor>> locals,
                                        const GraphRunOptions& options);

}  // namespace onedim
