#include "core/graph/graph_shrink.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>

#include "core/base/text.hpp"
#include "core/graph/graph_rewrite.hpp"

namespace onedim {
namespace {

class Shrinker {
 public:
  explicit Shrinker(std::span<const SizeChange> changes) : changes_(changes) {}

  int64_t changed(int64_t size) {
    for (const SizeChange& change : changes_) {
      if (change.from != size) continue;
      used_.insert(size);
      return change.to;
    }
    return size;
  }

  Result<TensorMeta> given(const GraphValue& value) {
    TensorMeta meta = value.meta;
    for (int64_t& size : meta.shape) size = changed(size);
    // The dims keep their order in memory.
    std::vector<int> order(meta.shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return value.meta.strides[a] > value.meta.strides[b]; });
    int64_t stride = 1, old_stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      const int dim = order[i];
      if (value.meta.strides[dim] != old_stride && value.meta.shape[dim] != 1) {
        return invalid_argument("its strides {} leave gaps or overlap",
                                format_dims(value.meta.strides));
      }
      meta.strides[dim] = stride;
      stride *= std::max<int64_t>(meta.shape[dim], 1);
      old_stride *= std::max<int64_t>(value.meta.shape[dim], 1);
    }
    return meta;
  }

  Status attributes(GraphNode& node, const std::vector<GraphValue>& before,
                    const std::vector<GraphValue>& behind) {
    for (auto& [name, value] : node.attributes) {
      ValueList* list = std::get_if<ValueList>(&value.data);
      if (list == nullptr || !change_view(node, *list, before, behind)) change(value);
    }
    return absl::OkStatus();
  }

  Status check_used() const {
    for (const SizeChange& change : changes_) {
      if (!used_.contains(change.from))
        return invalid_argument("nothing in the graph has the size {}", change.from);
    }
    return absl::OkStatus();
  }

 private:
  void change(Value& value) {
    if (int64_t* number = std::get_if<int64_t>(&value.data)) *number = changed(*number);
    if (double* number = std::get_if<double>(&value.data)) {
      for (const SizeChange& change : changes_) {
        if (*number != static_cast<double>(change.from)) continue;
        *number = static_cast<double>(change.to);
        break;
      }
    }
    if (ValueList* list = std::get_if<ValueList>(&value.data)) {
      for (Value& item : *list) change(item);
    }
  }

  // The list is the new shape of the first input, of as many elements: dims that it joins have the
  // size of their parts.
  bool change_view(const GraphNode& node, ValueList& list, const std::vector<GraphValue>& before,
                   const std::vector<GraphValue>& behind) {
    if (node.inputs.empty() || node.inputs[0].values.size() != 1 || node.outputs.size() != 1)
      return false;
    const ValueId input = node.inputs[0].values[0], output = node.outputs[0];
    if (input == kNoValue || output == kNoValue) return false;
    const Dims &from = before[input].meta.shape, &to = before[output].meta.shape;
    if (list.size() != to.size() || volume(from) != volume(to) || volume(to) == 0) return false;
    for (size_t i = 0; i < to.size(); ++i) {
      const int64_t* size = list[i].get_if<int64_t>();
      if (size == nullptr || (*size != to[i] && *size != -1)) return false;
    }
    const Dims& parts = behind[input].meta.shape;
    size_t next = 0;
    for (size_t i = 0; i < to.size();) {
      // The fewest dims on both sides that hold as much.
      const size_t first_from = next, first_to = i;
      int64_t held = next < from.size() ? from[next++] : 1, made = to[i++];
      while (held != made) {
        if (held < made)
          held *= from[next++];
        else
          made *= to[i++];
      }
      const bool is_joined = i - first_to == 1 && next - first_from > 1;
      int64_t joined = 1;
      for (size_t part = first_from; part < next; ++part) joined *= parts[part];
      for (size_t dim = first_to; dim < i; ++dim) {
        int64_t& size = *std::get_if<int64_t>(&list[dim].data);
        if (size != -1) size = is_joined ? joined : changed(size);
      }
    }
    return true;
  }

  std::span<const SizeChange> changes_;
  std::set<int64_t> used_;
};

bool read_size(std::string_view text, int64_t& size) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<std::vector<SizeChange>> parse_size_changes(std::string_view text) {
  std::vector<SizeChange> changes;
  for (const std::string_view part : split_top_level(text, ',')) {
    const size_t sign = part.find('=');
    SizeChange change;
    const bool is_read = sign != part.npos && read_size(trim(part.substr(0, sign)), change.from) &&
                         read_size(trim(part.substr(sign + 1)), change.to);
    if (!is_read || change.to < 1)
      return invalid_argument("{} is no change of a size; expected OLD=NEW, such as 4096=64",
                              quoted_excerpt(part));
    if (change.from < kLeastChangedSize) {
      return invalid_argument("{}: sizes below {} stand for dims and counts too and stay", part,
                              kLeastChangedSize);
    }
    for (const SizeChange& other : changes) {
      if (other.from == change.from)
        return invalid_argument("the size {} is changed twice", change.from);
    }
    changes.push_back(change);
  }
  if (!changes.empty()) return changes;
  return invalid_argument("expected sizes to change, such as 4096=64,1024=32");
}

Result<Graph> shrink_graph(const Graph& graph, const Registry& registry,
                           std::span<const SizeChange> changes) {
  Shrinker shrinker(changes);
  GraphChange change;
  change.given = [&](const GraphValue& value) { return shrinker.given(value); };
  change.attributes = [&](GraphNode& node, const std::vector<GraphValue>& before,
                          const std::vector<GraphValue>& behind) {
    return shrinker.attributes(node, before, behind);
  };
  Result<Graph> made = rewrite_graph(graph, registry, change);
  if (!made.ok()) return made;
  if (Status status = shrinker.check_used(); !status.ok()) return status;
  return made;
}

}  // namespace onedim
