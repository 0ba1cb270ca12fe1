#include "core/exec/rank_report.hpp"

#include <cstring>
#include <nlohmann/json.hpp>

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

std::string to_bytes(const Json& json) {
  const std::vector<uint8_t> bytes = Json::to_cbor(json);
  return {bytes.begin(), bytes.end()};
}

Json comparison_json(const OutputComparison& compared) {
  const Comparison& one = compared.comparison;
  return {compared.output, one.is_equal, one.is_bit_equal, one.max_abs_error,
          one.max_ulp,     one.element,  one.difference};
}

OutputComparison read_comparison(const Json& json) {
  return {json.at(0).get<int>(),
          {json.at(1).get<bool>(), json.at(2).get<bool>(), json.at(3).get<double>(),
           json.at(4).get<double>(), json.at(5).get<int64_t>(), json.at(6).get<std::string>()}};
}

Json span_json(const TraceSpan& span) {
  return {span.name,  span.category, span.start_us,  span.us,   span.predicted_us,
          span.bytes, span.cause,    span.mesh_dims, span.from, span.to};
}

TraceSpan read_span(const Json& json) {
  return {json.at(0).get<std::string>(), json.at(1).get<std::string>(),
          json.at(2).get<double>(),      json.at(3).get<double>(),
          json.at(4).get<double>(),      json.at(5).get<int64_t>(),
          json.at(6).get<std::string>(), json.at(7).get<std::string>(),
          json.at(8).get<std::string>(), json.at(9).get<std::string>()};
}

std::vector<int64_t> as_vector(const Dims& dims) { return {dims.begin(), dims.end()}; }

Dims read_dims(const Json& json) {
  const auto values = json.get<std::vector<int64_t>>();
  return Dims(values.begin(), values.end());
}

Json verdict_json(const GraphVerdict& verdict) {
  Json json{verdict.is_equal,
            verdict.is_bit_equal,
            verdict.max_abs_error,
            verdict.max_ulp,
            verdict.nodes,
            verdict.moves,
            verdict.difference,
            static_cast<int>(verdict.status.code()),
            std::string(verdict.status.message())};
  if (verdict.first) {
    const auto& [node, is_node, move] = *verdict.first;
    json.insert(json.end(), {node, is_node, move});
  }
  return json;
}

GraphVerdict read_verdict(const Json& json) {
  GraphVerdict verdict;
  verdict.is_equal = json.at(0).get<bool>();
  verdict.is_bit_equal = json.at(1).get<bool>();
  verdict.max_abs_error = json.at(2).get<double>();
  verdict.max_ulp = json.at(3).get<double>();
  verdict.nodes = json.at(4).get<int64_t>();
  verdict.moves = json.at(5).get<int64_t>();
  verdict.difference = json.at(6).get<std::string>();
  verdict.status =
      Status(static_cast<absl::StatusCode>(json.at(7).get<int>()), json.at(8).get<std::string>());
  if (json.size() > 9)
    verdict.first = {json.at(9).get<int>(), json.at(10).get<int>(), json.at(11).get<int>()};
  return verdict;
}

Tensor read_tensor(const Json& json) {
  if (json.is_null()) return {};
  const auto dtype = static_cast<DType>(json.at(0).get<int>());
  const TensorMeta meta{dtype, read_dims(json.at(1)), read_dims(json.at(2))};
  const auto& values = json.at(3).get_binary();
  Tensor dense = Tensor::uninitialized(TensorMeta::contiguous(dtype, meta.shape));
  if (static_cast<int64_t>(values.size()) != dense.meta().bytes())
    throw std::length_error("a tensor's values are cut short");
  if (!values.empty()) std::memcpy(dense.data(), values.data(), values.size());
  Tensor tensor = Tensor::zeros(meta);
  copy_elements(dense, tensor);
  return tensor;
}

// What the library throws at bytes that are no such thing becomes a status.
template <typename T, typename Read>
Result<T> read_bytes(std::string_view bytes, Read read) {
  try {
    return read(Json::from_cbor(bytes.begin(), bytes.end()));
  } catch (const std::exception& error) {
    return absl::DataLossError(fmt::format("what a rank sent cannot be read: {}", error.what()));
  }
}

}  // namespace

std::string pack_report(const RankReport& report) {
  Json comparisons = Json::array(), spans = Json::array(), memory = Json::array();
  for (const OutputComparison& one : report.comparisons)
    comparisons.push_back(comparison_json(one));
  for (const TraceSpan& span : report.trace.spans) spans.push_back(span_json(span));
  for (const MemoryEvent& event : report.memory)
    memory.push_back({event.bytes, event.live_bytes, event.at_us, event.cause});
  return to_bytes({std::move(comparisons), std::move(spans), std::move(memory), report.peak_bytes,
                   report.us, report.start_ns});
}

Result<RankReport> unpack_report(std::string_view bytes) {
  return read_bytes<RankReport>(bytes, [](const Json& json) {
    RankReport report;
    for (const Json& one : json.at(0)) report.comparisons.push_back(read_comparison(one));
    for (const Json& span : json.at(1)) report.trace.spans.push_back(read_span(span));
    for (const Json& event : json.at(2)) {
      report.memory.push_back({event.at(0).get<int64_t>(), event.at(1).get<int64_t>(),
                               event.at(2).get<double>(), event.at(3).get<std::string>()});
    }
    report.peak_bytes = json.at(3).get<int64_t>();
    report.us = json.at(4).get<double>();
    report.start_ns = json.at(5).get<int64_t>();
    return report;
  });
}

std::string pack_findings(const GraphFindings& findings) {
  Json outputs = Json::array();
  for (const OutputDistance& one : findings.outputs) {
    outputs.push_back(
        {one.value, one.is_bit_equal, one.max_abs_error, one.max_ulp, one.relative_error});
  }
  return to_bytes({verdict_json(findings.verdict), std::move(outputs)});
}

Result<GraphFindings> unpack_findings(std::string_view bytes) {
  return read_bytes<GraphFindings>(bytes, [](const Json& json) {
    GraphFindings findings{read_verdict(json.at(0)), {}};
    for (const Json& one : json.at(1)) {
      findings.outputs.push_back({one.at(0).get<ValueId>(), one.at(1).get<bool>(),
                                  one.at(2).get<double>(), one.at(3).get<double>(),
                                  one.at(4).get<double>()});
    }
    return findings;
  });
}

std::string pack_tensors(std::span<const Tensor> tensors) {
  Json list = Json::array();
  for (const Tensor& tensor : tensors) {
    if (tensor.data() == nullptr) {
      list.push_back(nullptr);
      continue;
    }
    const Tensor dense = tensor.clone();
    const auto* begin = reinterpret_cast<const uint8_t*>(dense.data());
    Json::binary_t::container_type values(begin, begin + dense.meta().bytes());
    list.push_back({static_cast<int>(tensor.dtype()), as_vector(tensor.shape()),
                    as_vector(tensor.strides()), Json::binary(std::move(values))});
  }
  return to_bytes(list);
}

Result<std::vector<Tensor>> unpack_tensors(std::string_view bytes) {
  return read_bytes<std::vector<Tensor>>(bytes, [](const Json& json) {
    std::vector<Tensor> tensors;
    for (const Json& one : json) tensors.push_back(read_tensor(one));
    return tensors;
  });
}

}  // namespace onedim
