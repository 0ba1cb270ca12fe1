// Rules of updating ops, from what `op` is and how J runs over the tensors.
//
//   table S(d)    every rank writes what falls into its rows: the index tensors and the items may
//                 all be R; those that have the dim at the same length may be cut with it
//   J cut         each place is written by one rank only, so the old value must be a part too:
//                 add P(sum), multiply P(product), max P(max). With R index tensors each rank knows
//                 every element that is written, so items alone may be cut for every `op`
//   partials      old and items together where `op` is a homomorphism, and replacing is one for
//                 every kind; each alone where the other is a constant of a linear or monotone op
//
// scatter_add(self [4,6], dim 0, index [4,6], src [4,6]): `S(1) | S(1), R, S(1)`,
// `P(sum) | P(sum), S(0), S(0)`, `P(sum) | P(sum), R, S(0)`, `P(max) | P(max), R, R`.

#include "update_kinds.hpp"

namespace indexing {
namespace {

class UpdatingRules {
 public:
  UpdatingRules(const Call& call, RuleSink& sink, const IndexSpace& space, const Update& update)
      : call_(call), sink_(sink), space_(space), update_(update), kinds_(call, space, update) {
    for (int slot = 0; slot < call.input_count(); ++slot)
      replicated_.push_back(call.input(slot).present() ? replicate() : absent());
  }

  void run() {
    const TensorView table = tensor_of(call_, space_.table);
    for (int dim = 0; dim < table.ndim(); ++dim) {
      if (table.size(dim) > 1) cut_table(dim);
    }
    for (size_t dim = 0; dim < space_.sizes.size(); ++dim) cut_places(dim);
    cut_items();
    pass_partials();
  }

 private:
  using Inputs = std::vector<Placement>;

  // `base` names a dim of the table, which the base may lack where it is broadcast.
  void add(const Placement& out, Placement base, Inputs inputs) {
    if (base.kind == ONEDIM_PLACEMENT_ANY_SHARD && update_.base.present()) {
      const TensorView old = tensor_of(call_, update_.base), table = tensor_of(call_, space_.table);
      const int dim = base.dim - (table.ndim() - old.ndim());
      if (dim < 0 || old.size(dim) != table.size(base.dim)) return;
      base.dim = dim;
    }
    if (update_.base.present()) inputs[update_.base.slot] = base;
    sink_.add(std::span(&out, 1), inputs);
  }

  // Sets the index tensors that run over a dim of J; false if there is none or its length differs.
  bool cut_indices(size_t space_dim, Inputs& inputs) const {
    bool is_any = false;
    for (const IndexPart& index : space_.indices) {
      if (!index.runs_over(space_dim) || index.is_mask) continue;
      inputs[index.slot] = any_shard(index.dims[space_dim]);
      is_any = true;
    }
    return is_any;
  }

  int64_t items_size(size_t space_dim) const {
    if (!space_.items.runs_over(space_dim)) return 1;
    return global_size(call_, space_.items, space_.items.dims[space_dim]);
  }

  // Without an old value the output is as long as the items where a dim is J's own.
  bool has_length_of_items(size_t space_dim) const {
    return !update_.base.present() && space_.along(space_dim) != nullptr;
  }

  // Items whose dim is as long as the table's may be cut with it.
  void cut_along(int dim, size_t space_dim) {
    const int64_t size = global_size(call_, space_.table, dim);
    std::vector<Inputs> choices = {replicated_};
    Inputs cut = replicated_;
    if (space_.sizes[space_dim] == size && cut_indices(space_dim, cut)) choices.push_back(cut);
    for (const Inputs& inputs : choices) {
      if (!has_length_of_items(space_dim)) add(any_shard(dim), any_shard(dim), inputs);
      if (items_size(space_dim) != size) continue;
      Inputs with_items = inputs;
      with_items[space_.items.slot] = any_shard(space_.items.dims[space_dim]);
      add(any_shard(dim), any_shard(dim), with_items);
    }
  }

  void cut_table(int dim) {
    for (const Coordinate& coordinate : space_.coordinates) {
      if (coordinate.dim != dim) continue;
      if (coordinate.index < 0) return cut_along(dim, static_cast<size_t>(coordinate.space_dim));
      add(any_shard(dim), any_shard(dim), replicated_);
      const IndexPart& index = space_.indices[static_cast<size_t>(coordinate.index)];
      if (!may_cut_mask(index)) return;
      Inputs inputs = replicated_;
      inputs[index.slot] = any_shard(coordinate.mask_dim);
      add(any_shard(dim), any_shard(dim), inputs);
      return;
    }
    if (space_.is_linear) add(any_shard(dim), any_shard(dim), replicated_);
  }

  // A rank with part of a mask does not know which of the items its true elements meet, so there
  // must be one for all, and no other index beside them.
  bool may_cut_mask(const IndexPart& index) const {
    if (!index.is_mask || !index.expanded.empty() || space_.items.is_linear) return false;
    for (size_t dim = 0; dim < space_.sizes.size(); ++dim) {
      if (!index.runs_over(dim)) continue;
      if (space_.items.runs_over(dim)) return false;
      for (const IndexPart& other : space_.indices) {
        if (other.slot != index.slot && other.runs_over(dim)) return false;
      }
    }
    return true;
  }

  // Every choice of the index tensors that run over a dim of J, with the items or without them.
  void cut_places(size_t dim) {
    const Kinds kinds = kinds_.of_cut_places();
    std::vector<Inputs> choices = {replicated_};
    for (const IndexPart& index : space_.indices) {
      if (!index.runs_over(dim)) continue;
      if (index.is_mask && !may_cut_mask(index)) continue;
      const size_t count = choices.size();
      const int first = index.dims[dim];
      const int last = index.is_mask ? tensor_of(call_, index).ndim() - 1 : first;
      for (size_t i = 0; i < count; ++i) {
        for (int own = first; own <= last; ++own) {
          if (global_size(call_, index, own) < 2) continue;
          choices.push_back(choices[i]);
          choices.back()[index.slot] = any_shard(own);
        }
      }
    }
    const bool takes_items = space_.items.runs_over(dim) && !space_.is_masked(dim) &&
                             items_size(dim) == space_.sizes[dim];
    for (size_t i = 1; i < choices.size(); ++i) {
      add_cut(static_cast<int64_t>(dim), kinds, choices[i]);
      if (!takes_items) continue;
      choices[i][space_.items.slot] = any_shard(space_.items.dims[dim]);
      add_cut(static_cast<int64_t>(dim), kinds, choices[i]);
    }
  }

  // Whether a cut of J leaves all items of an element of the table on one rank.
  bool is_on_one_rank(int64_t space_dim) const {
    return space_.is_injective() ||
           (space_dim >= 0 && space_.along(static_cast<size_t>(space_dim)) != nullptr);
  }

  void add_cut(int64_t space_dim, const Kinds& kinds, const Inputs& inputs) {
    for (std::string_view kind : kinds) add(partial(kind), partial(kind), inputs);
    if (!is_on_one_rank(space_dim)) return;
    for (std::string_view kind : kinds_.of_one_way()) add(partial(kind), replicate(), inputs);
  }

  int64_t space_dim_of_items(int own) const {
    const auto at = std::find(space_.items.dims.begin(), space_.items.dims.end(), own);
    return at == space_.items.dims.end() ? -1 : at - space_.items.dims.begin();
  }

  void cut_items() {
    if (!space_.items.present()) return;
    for (int own = 0; own < tensor_of(call_, space_.items).ndim(); ++own) {
      if (global_size(call_, space_.items, own) < 2) continue;
      const int64_t space_dim = space_dim_of_items(own);
      if (space_dim >= 0 && has_length_of_items(static_cast<size_t>(space_dim))) continue;
      Inputs inputs = replicated_;
      inputs[space_.items.slot] = any_shard(own);
      add_cut(space_dim, kinds_.of_cut_items(is_on_one_rank(space_dim)), inputs);
    }
  }

  void pass_partials() {
    const Passes passes = kinds_.passes();
    const bool is_tensor = space_.items.present();
    const bool same_dtype =
        is_tensor && tensor_of(call_, space_.items).dtype() == call_.output().dtype();
    for (std::string_view kind : passes.base) {
      if (update_.base.present()) add(partial(kind), partial(kind), replicated_);
    }
    if (!same_dtype) return;
    const auto with_items = [&](std::string_view kind) {
      Inputs inputs = replicated_;
      inputs[space_.items.slot] = partial(kinds_.items_in(kind));
      return inputs;
    };
    for (std::string_view kind : passes.items) add(partial(kind), replicate(), with_items(kind));
    for (std::string_view kind : passes.both) {
      Inputs inputs = replicated_;
      inputs[space_.items.slot] = partial(kind);
      add(partial(kind), partial(kind), inputs);
    }
  }

  const Call& call_;
  RuleSink& sink_;
  const IndexSpace& space_;
  const Update& update_;
  UpdateKinds kinds_;
  Inputs replicated_;
};

}  // namespace

void updating_rules(const Call& call, RuleSink& rules, const IndexSpace& space,
                    const Update& update) {
  UpdatingRules(call, rules, space, update).run();
}

}  // namespace indexing
