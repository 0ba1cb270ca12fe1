#include "core/exec/held_tensors.hpp"

#include <algorithm>

namespace onedim {

int HeldTensors::add_storage(const Tensor& root, bool is_callers) {
  if (free_.empty()) {
    storages_.push_back({root, 0, is_callers});
    return static_cast<int>(storages_.size()) - 1;
  }
  const int number = free_.back();
  free_.pop_back();
  storages_[number] = {root, 0, is_callers};
  return number;
}

int HeldTensors::storage_of(const Tensor& tensor) const {
  for (size_t i = 0; i < storages_.size(); ++i) {
    if (storages_[i].users > 0 && storages_[i].root.shares_storage_with(tensor))
      return static_cast<int>(i);
  }
  return -1;
}

void HeldTensors::hold_given(size_t place, Tensor tensor, bool is_dropped) {
  int storage = storage_of(tensor);
  if (storage < 0) storage = add_storage(tensor, !is_dropped);
  ++storages_[storage].users;
  places_[place] = {std::move(tensor), storage};
}

void HeldTensors::hold(size_t place, Tensor tensor, std::span<const Tensor> owned) {
  int storage = storage_of(tensor);
  if (storage < 0) {
    const auto root = std::find_if(owned.begin(), owned.end(), [&](const Tensor& own) {
      return own.shares_storage_with(tensor);
    });
    storage = add_storage(root == owned.end() ? tensor : *root, false);
  }
  ++storages_[storage].users;
  places_[place] = {std::move(tensor), storage};
}

void HeldTensors::drop(size_t place) {
  Place& dropped = places_[place];
  if (dropped.storage < 0) return;
  const Tensor none;
  Storage& storage = storages_[dropped.storage];
  if (--storage.users == 0) {
    if (!storage.is_callers) memory_.release(storage.root);
    storage.root = none;
    free_.push_back(dropped.storage);
  }
  dropped.tensor = none;
  dropped.storage = -1;
}

}  // namespace onedim
