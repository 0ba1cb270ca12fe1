// Combinations of shards over a list. Two tensors of [4,6] and [6] have (1 + 2) (1 + 1) = 6 of
// them; of eight matrices, 3^8, only those stay that cut one dim of all.

#include "families.hpp"

namespace optim {
namespace {

constexpr size_t kMostChoices = 256;

using Choice = std::vector<Placement>;

std::vector<Placement> own_choices(const TensorView& tensor) {
  std::vector<Placement> choices = {replicate()};
  for (int dim = 0; dim < tensor.ndim(); ++dim) {
    if (tensor.size(dim) != 1) choices.push_back(any_shard(dim));
  }
  return choices;
}

bool has_dim(const TensorView& tensor, int dim) {
  return dim < tensor.ndim() && tensor.size(dim) != 1;
}

std::vector<Choice> same_dim_for_all(const std::vector<TensorView>& list) {
  int ndim = 0;
  for (const TensorView& tensor : list) ndim = std::max(ndim, tensor.ndim());
  std::vector<Choice> choices = {Choice(list.size(), replicate())};
  for (int dim = 0; dim < ndim; ++dim) {
    Choice choice;
    for (const TensorView& tensor : list)
      choice.push_back(has_dim(tensor, dim) ? any_shard(dim) : replicate());
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace

std::vector<Choice> shard_choices(const std::vector<TensorView>& list) {
  std::vector<Choice> choices = {{}};
  for (const TensorView& tensor : list) {
    const std::vector<Placement> own = own_choices(tensor);
    if (choices.size() * own.size() > kMostChoices) return same_dim_for_all(list);
    std::vector<Choice> longer;
    for (const Placement& placement : own) {
      for (const Choice& choice : choices) {
        longer.push_back(choice);
        longer.back().push_back(placement);
      }
    }
    choices = std::move(longer);
  }
  return choices;
}

}  // namespace optim
