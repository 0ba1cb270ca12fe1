#pragma once
// Storages: which values share memory. A view lies in the storage of the value it is a view of; the
// storage is as large as what its root, the value that is no view, reaches. Values that only the
// packs know to be views (see infer_graph) are roots until `add_view` says otherwise.

#include "core/graph/graph.hpp"

namespace onedim {

class Storages {
 public:
  // Every value is a root.
  explicit Storages(const Graph& graph);

  // `value` begins `offset` bytes behind the begin of `source`, which must be made before it.
  void add_view(ValueId value, ValueId source, int64_t offset);

  int value_count() const { return static_cast<int>(roots_.size()); }
  ValueId root_of(ValueId value) const { return roots_[value]; }
  bool is_root(ValueId value) const { return roots_[value] == value; }
  int64_t offset_of(ValueId value) const { return offsets_[value]; }  // bytes, within the storage
  int64_t bytes_of(ValueId root) const { return bytes_[root]; }       // of the storage

 private:
  std::vector<ValueId> roots_;
  std::vector<int64_t> offsets_;
  std::vector<int64_t> bytes_;
};

}  // namespace onedim
