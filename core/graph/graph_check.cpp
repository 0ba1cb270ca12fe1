#include "core/graph/graph_check.hpp"

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/pack/infer_check.hpp"

namespace onedim {
namespace {

using Names = absl::flat_hash_set<std::string_view>;

constexpr int64_t kMostBytes = int64_t{1} << 62;

// Of the elements or of what they reach over, whichever is more; the count of each is at most 2^62.
int64_t bytes_of(const TensorMeta& meta) {
  const int64_t elements = std::max(meta.element_count(), meta.storage_length());
  return elements > kMostBytes / size_of(meta.dtype) ? kMostBytes : elements * size_of(meta.dtype);
}

constexpr int kGiven = -1;
constexpr int kNobody = -2;

class Checker {
 public:
  explicit Checker(const Graph& graph)
      : graph_(graph), makers_(graph.values.size(), kNobody), params_(graph.values.size(), false) {}

  Status run() {
    if (Status status = check_values(); !status.ok()) return status;
    if (Status status = check_makers(); !status.ok()) return status;
    for (int node = 0; node < graph_.node_count(); ++node) {
      const Status status = check_uses(node);
      if (!status.ok()) return annotate(status, node_text(graph_.nodes[node]));
    }
    if (Status status = check_outputs(); !status.ok()) return status;
    return check_gradients();
  }

 private:
  const std::string& name(ValueId value) const { return graph_.values[value].name; }
  bool is_value(ValueId value) const { return value >= 0 && value < graph_.value_count(); }

  Status check_values() {
    Names names;
    int64_t bytes = 0;
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      const GraphValue& value = graph_.values[id];
      if (value.name.empty()) return invalid_argument("value {} has no name", id);
      if (!names.insert(value.name).second)
        return invalid_argument("value {} is there twice", quoted_excerpt(value.name));
      const Status status = check_value_meta(value.meta);
      if (!status.ok()) return annotate(status, "value " + quoted_excerpt(value.name));
      if (bytes_of(value.meta) > kMostBytes - bytes)
        return invalid_argument("the values have more than 2^62 bytes");
      bytes += bytes_of(value.meta);
      if (value.is_given()) makers_[id] = kGiven;
    }
    return absl::OkStatus();
  }

  Status check_makers() {
    Names names;
    for (int node = 0; node < graph_.node_count(); ++node) {
      const std::string& node_name = graph_.nodes[node].name;
      if (node_name.empty()) return invalid_argument("node {} has no name", node);
      if (!names.insert(node_name).second)
        return invalid_argument("{} is there twice", node_text(graph_.nodes[node]));
      for (const ValueId output : graph_.nodes[node].outputs) {
        if (output == kNoValue) continue;
        const Status status = set_maker(output, node);
        if (!status.ok()) return annotate(status, node_text(graph_.nodes[node]));
      }
    }
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      if (makers_[id] == kNobody)
        return invalid_argument("value {} is intermediate, but no node makes it",
                                quoted_excerpt(name(id)));
    }
    return absl::OkStatus();
  }

  Status set_maker(ValueId output, int node) {
    if (!is_value(output)) return invalid_argument("makes value {}, which is not there", output);
    if (makers_[output] == kGiven) {
      return invalid_argument("makes {}, which is given: its kind is {}",
                              quoted_excerpt(name(output)), name_of(graph_.values[output].kind));
    }
    if (makers_[output] != kNobody) {
      return invalid_argument("makes {}, which {} makes already", quoted_excerpt(name(output)),
                              node_text(graph_.nodes[makers_[output]]));
    }
    makers_[output] = node;
    return absl::OkStatus();
  }

  Status check_uses(int node) const {
    Names names;
    if (graph_.nodes[node].op.empty()) return invalid_argument("has no op");
    for (const NodeInput& input : graph_.nodes[node].inputs) {
      if (!names.insert(input.name).second)
        return invalid_argument("argument {} is given twice", quoted_excerpt(input.name));
      if (!input.is_list && input.values.size() != 1)
        return invalid_argument("argument {} holds {} values, but is no list",
                                quoted_excerpt(input.name), input.values.size());
      for (const ValueId value : input.values) {
        const Status status = value == kNoValue ? absl::OkStatus() : check_use(value, node);
        if (!status.ok()) return annotate(status, fmt::format("input \"{}\"", input.name));
      }
    }
    for (const auto& [attribute, value] : graph_.nodes[node].attributes) {
      if (!names.insert(attribute).second)
        return invalid_argument("argument {} is given twice", quoted_excerpt(attribute));
    }
    return absl::OkStatus();
  }

  Status check_use(ValueId value, int node) const {
    if (!is_value(value)) return invalid_argument("value {} is not there", value);
    if (makers_[value] < node) return absl::OkStatus();
    const std::string used = quoted_excerpt(name(value));
    if (makers_[value] == node) return invalid_argument("{} is what the node makes itself", used);
    return invalid_argument("{} is made later, by {}; nodes must stand in the order they run", used,
                            node_text(graph_.nodes[makers_[value]]));
  }

  Status check_outputs() const {
    for (const ValueId output : graph_.outputs) {
      if (output != kNoValue && !is_value(output))
        return invalid_argument("output {} is no value of the graph", output);
    }
    const int count = static_cast<int>(graph_.outputs.size());
    if (graph_.forward_outputs >= -1 && graph_.forward_outputs <= count) return absl::OkStatus();
    return invalid_argument("{} forward outputs of {} outputs", graph_.forward_outputs, count);
  }

  Status check_gradients() {
    for (const Gradient& pair : graph_.gradients) {
      if (!is_value(pair.param) || !is_value(pair.gradient))
        return invalid_argument("a gradient names a value that is not there");
      const GraphValue& param = graph_.values[pair.param];
      const GraphValue& gradient = graph_.values[pair.gradient];
      const std::string where = "gradient of " + quoted_excerpt(param.name);
      if (param.kind != ValueKind::kParam)
        return invalid_argument("{}: its kind is {}, not param", where, name_of(param.kind));
      if (params_[pair.param]) return invalid_argument("{} is there twice", where);
      params_[pair.param] = true;
      if (param.meta.shape != gradient.meta.shape) {
        return invalid_argument("{}: {} has shape {}, the parameter {}", where,
                                quoted_excerpt(gradient.name), format_dims(gradient.meta.shape),
                                format_dims(param.meta.shape));
      }
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  std::vector<int> makers_;   // per value: the node, kGiven or kNobody
  std::vector<bool> params_;  // those with a gradient
};

}  // namespace

Status check_value_meta(const TensorMeta& meta) {
  if (meta.strides.size() != meta.shape.size()) {
    return invalid_argument("{} strides for {} dims", meta.strides.size(), meta.shape.size());
  }
  const auto is_negative = [](int64_t number) { return number < 0; };
  if (std::any_of(meta.shape.begin(), meta.shape.end(), is_negative))
    return invalid_argument("shape {} has a negative size", format_dims(meta.shape));
  if (std::any_of(meta.strides.begin(), meta.strides.end(), is_negative))
    return invalid_argument("strides {} have a negative one", format_dims(meta.strides));
  if (checked_volume(meta.shape) < 0)
    return invalid_argument("shape {} has more than 2^62 elements", format_dims(meta.shape));
  TensorMeta reach = meta;  // a dim of size 0 does not excuse the others
  for (int64_t& size : reach.shape) size = std::max<int64_t>(size, 1);
  if (checked_extent(reach) < 0) {
    return invalid_argument("shape {} with strides {} reaches over more than 2^62 elements",
                            format_dims(meta.shape), format_dims(meta.strides));
  }
  return absl::OkStatus();
}

Status check_graph(const Graph& graph) { return Checker(graph).run(); }

}  // namespace onedim
