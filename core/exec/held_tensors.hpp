#pragma once
// HeldTensors: the values and copies that one rank holds in a run of a graph, and the storages that
// they lie in. A storage is released, which the rank's memory log sees, the moment nothing that is
// held lies in it; so its memory serves what comes next. Storage that the caller gave is the
// caller's and never released. Places are numbers from 0 on: values first, then copies.

#include <vector>

#include "core/exec/rank_memory.hpp"

namespace onedim {

class HeldTensors {
 public:
  // `memory` is borrowed.
  HeldTensors(size_t places, RankMemory& memory) : places_(places), memory_(memory) {}

  // The caller's storage, that does not end with the run; `is_dropped`: it ends like any other.
  void hold_given(size_t place, Tensor tensor, bool is_dropped);
  // One that was made here: it lies in one of `owned`, or in storage that is held already.
  void hold(size_t place, Tensor tensor, std::span<const Tensor> owned);
  bool holds(size_t place) const { return places_[place].storage >= 0; }
  Tensor& at(size_t place) { return places_[place].tensor; }
  const Tensor& at(size_t place) const { return places_[place].tensor; }
  void drop(size_t place);

 private:
  struct Place {
    Tensor tensor;
    int storage = -1;
  };
  struct Storage {
    Tensor root;
    int users = 0;
    bool is_callers = false;
  };

  int storage_of(const Tensor& tensor) const;
  int add_storage(const Tensor& root, bool is_callers);

  std::vector<Place> places_;
  std::vector<Storage> storages_;
  std::vector<int> free_;  // numbers of storages that are no more
  RankMemory& memory_;
};

}  // namespace onedim
