#include "core/graph/storages.hpp"

#include <numeric>

namespace onedim {

Storages::Storages(const Graph& graph)
    : roots_(graph.values.size()), offsets_(graph.values.size(), 0) {
  std::iota(roots_.begin(), roots_.end(), 0);
  bytes_.reserve(graph.values.size());
  for (const GraphValue& value : graph.values)
    bytes_.push_back(value.meta.storage_length() * size_of(value.meta.dtype));
}

void Storages::add_view(ValueId value, ValueId source, int64_t offset) {
  roots_[value] = roots_[source];
  offsets_[value] = offsets_[source] + offset;
}

}  // namespace onedim
