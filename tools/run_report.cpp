#include "tools/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/output_file.hpp"
#include "core/cost/collective.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 40;  // of a table that is read in full

// Spans of one kind of step, of all causes.
struct KindSum {
  int64_t count = 0;
  int64_t bytes = 0;
  double predicted_us = 0;
  double us = 0;

  void add(const TraceSpan& span) {
    ++count;
    bytes += span.bytes;
    predicted_us += span.predicted_us;
    us += span.us;
  }
  // Measured over predicted; 0 where nothing is predicted.
  double ratio() const { return predicted_us > 0 ? us / predicted_us : 0; }
};

using Kinds = std::map<std::string, KindSum>;

// Kinds of category are what one factor is fitted to: links and kernels are not alike.
Kinds sums_by(std::span<const TraceSpan> spans, std::string TraceSpan::*key) {
  Kinds kinds;
  for (const TraceSpan& span : spans) kinds[span.*key].add(span);
  return kinds;
}

double off(double ratio, double usual) { return usual > 0 && ratio > 0 ? ratio / usual : 0; }

std::string off_text(double value) { return value > 0 ? fmt::format("{:.2f}", value) : "-"; }

double off_of(const TraceSpan& span, const Kinds& categories) {
  if (span.predicted_us <= 0) return 0;
  return off(span.us / span.predicted_us, categories.at(span.category).ratio());
}

TextRow row_of(const TraceSpan& span, const Kinds& categories) {
  return {span.name,
          span.cause,
          span.mesh_dims,
          fmt::format("{}", span.bytes),
          fmt::format("{:.3f}", span.predicted_us),
          fmt::format("{:.3f}", span.us),
          off_text(off_of(span, categories))};
}

// The time by which a step is not where the factor of its category has it.
double time_off(const TraceSpan& span, const Kinds& categories) {
  return std::abs(span.us - span.predicted_us * categories.at(span.category).ratio());
}

std::string kinds_text(std::span<const TraceSpan> spans, const Kinds& categories) {
  std::map<std::pair<std::string, std::string>, KindSum> kinds;
  for (const TraceSpan& span : spans) kinds[{span.category, span.name}].add(span);
  std::vector<TextRow> rows{{"kind", "steps", "bytes", "predicted us", "measured us", "off"}};
  for (const auto& [key, sum] : kinds) {
    rows.push_back({key.second, fmt::format("{}", sum.count), fmt::format("{}", sum.bytes),
                    fmt::format("{:.3f}", sum.predicted_us), fmt::format("{:.3f}", sum.us),
                    off_text(off(sum.ratio(), categories.at(key.first).ratio()))});
  }
  return format_table(rows);
}

}  // namespace

Json collectives_json(std::span<const RankTrace> traces, std::string_view category) {
  Json list = Json::array();
  for (const TraceSpan& span : slowest_spans(traces)) {
    if (span.category != category || !find_collective(span.name)) continue;
    list.push_back({{"kind", span.name},
                    {"cause", span.cause},
                    {"mesh_dims", span.mesh_dims},
                    {"from", span.from},
                    {"to", span.to},
                    {"bytes", span.bytes},
                    {"predicted_us", span.predicted_us},
                    {"measured_us", span.us}});
  }
  return list;
}

Json memory_json(std::span<const RankMemory> memories) {
  Json list = Json::array();
  for (size_t rank = 0; rank < memories.size(); ++rank) {
    for (const MemoryEvent& event : memories[rank].events()) {
      list.push_back({{"rank", rank},
                      {"bytes", event.bytes},
                      {"live_bytes", event.live_bytes},
                      {"cause", event.cause}});
    }
  }
  return list;
}

std::string memory_text(std::span<const RankMemory> memories) {
  std::string text;
  for (size_t rank = 0; rank < memories.size(); ++rank) {
    for (const MemoryEvent& event : memories[rank].events()) {
      text += fmt::format("rank {}  {:+} bytes, holds {}  {}\n", rank, event.bytes,
                          event.live_bytes, event.cause);
    }
  }
  return text;
}

std::string predicted_text(std::span<const RankTrace> traces) {
  std::vector<TraceSpan> spans = slowest_spans(traces);
  const Kinds categories = sums_by(spans, &TraceSpan::category);
  std::vector<TraceSpan> shown = spans;
  if (shown.size() > kMostRows) {
    std::stable_sort(shown.begin(), shown.end(), [&](const TraceSpan& a, const TraceSpan& b) {
      return time_off(a, categories) > time_off(b, categories);
    });
    shown.resize(kMostRows / 2);
  }
  std::vector<TextRow> rows{{"step", "of", "over", "bytes", "predicted us", "measured us", "off"}};
  for (const TraceSpan& span : shown) rows.push_back(row_of(span, categories));
  std::string text = format_table(rows);
  if (spans.size() == shown.size()) return text;
  text = fmt::format("the {} of {} steps that are furthest off:\n", shown.size(), spans.size()) +
         text + "each kind of step:\n";
  return text + kinds_text(spans, categories);
}

Status write_trace(const std::string& file, const Mesh& mesh, std::span<const RankTrace> traces,
                   std::span<const RankMemory> memories) {
  std::vector<const RankMemory*> pointers;
  for (const RankMemory& memory : memories) pointers.push_back(&memory);
  const Json trace = trace_to_json(mesh, traces, pointers);
  return annotate(write_text_file(file, trace.dump() + "\n"), "--trace");
}

}  // namespace onedim
