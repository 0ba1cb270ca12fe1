#include "selecting.hpp"

#include "acceptance.hpp"
#include "walk.hpp"

#include <cstring>

namespace indexing {
namespace {

class SelectingRules {
 public:
  SelectingRules(const Call& call, RuleSink& sink, const IndexSpace& space)
      : call_(call), sink_(sink), space_(space) {
    for (int slot = 0; slot < call.input_count(); ++slot)
      replicated_.push_back(call.input(slot).present() ? replicate() : absent());
  }

  void run() {
    for (size_t dim = 0; dim < space_.sizes.size(); ++dim) {
      if (space_.sizes[dim] > 1) cut_places(dim);
    }
    const TensorView table = tensor_of(call_, space_.table);
    for (int dim = 0; dim < table.ndim(); ++dim) {
      if (table.size(dim) > 1 && is_searched(dim)) mask_table(dim, table.dtype());
    }
    for (std::string_view kind : {"sum", "avg", "max", "min", "product"})
      add(partial(kind), partial(kind), replicated_);
  }

 private:
  bool index_runs_over(size_t dim) const {
    return std::any_of(space_.indices.begin(), space_.indices.end(),
                       [&](const IndexPart& index) { return index.runs_over(dim); });
  }

  void cut_places(size_t dim) {
    std::vector<Placement> inputs = replicated_;
    for (const IndexPart& index : space_.indices) {
      if (index.runs_over(dim)) inputs[index.slot] = any_shard(index.dims[dim]);
    }
    const Placement out = any_shard(space_.items.dims[dim]);
    if (index_runs_over(dim)) add(out, replicate(), inputs);
    const Coordinate* own = space_.along(dim);
    const bool follows = own != nullptr && own->dim >= 0 &&
                         global_size(call_, space_.table, own->dim) == space_.sizes[dim];
    if (follows) add(out, any_shard(own->dim), inputs);
  }

  // Whether a rank that holds some rows of the table still has to fill all items.
  bool is_searched(int table_dim) const {
    for (const Coordinate& coordinate : space_.coordinates) {
      if (coordinate.dim != table_dim) continue;
      return coordinate.index >= 0 || index_runs_over(static_cast<size_t>(coordinate.space_dim));
    }
    return space_.is_linear;
  }

  void mask_table(int dim, DType dtype) {
    add(partial("sum"), any_shard(dim), replicated_);
    if (is_bool(dtype) || dtype == DType::kU8) add(partial("max"), any_shard(dim), replicated_);
  }

  void add(const Placement& out, const Placement& table, std::vector<Placement> inputs) {
    inputs[space_.table.slot] = table;
    sink_.add(std::span(&out, 1), inputs);
  }

  const Call& call_;
  RuleSink& sink_;
  const IndexSpace& space_;
  std::vector<Placement> replicated_;
};

template <size_t kBytes>
void copy_pairs(std::span<const Pair> row, const std::byte* from, std::byte* to) {
  for (const Pair& pair : row) {
    if (pair.table < 0) continue;
    std::memcpy(to + pair.items * static_cast<int64_t>(kBytes),
                from + pair.table * static_cast<int64_t>(kBytes), kBytes);
  }
}

auto copier_of(int64_t bytes) {
  switch (bytes) {
    case 1:
      return copy_pairs<1>;
    case 2:
      return copy_pairs<2>;
    case 4:
      return copy_pairs<4>;
    case 8:
      return copy_pairs<8>;
    default:
      return copy_pairs<16>;
  }
}

void fill_with_zero(const TensorView& out) {
  const int64_t bytes = size_of(out.dtype());
  for_each_row(out, [&](int64_t offset, int64_t count, int64_t stride) {
    std::byte* row = out.data_as<std::byte>() + offset * bytes;
    for (int64_t i = 0; i < count; ++i)
      std::memset(row + i * stride * bytes, 0, static_cast<size_t>(bytes));
  });
}

}  // namespace

void selecting_rules(const Call& call, RuleSink& rules, const IndexSpace& space) {
  SelectingRules(call, rules, space).run();
}

void select_items(const Call& call, const IndexSpace& space) {
  const TensorView table = tensor_of(call, space.table), items = tensor_of(call, space.items);
  fill_with_zero(items);
  const auto* from = table.data_as<const std::byte>();
  auto* to = items.data_as<std::byte>();
  const auto copy = copier_of(size_of(items.dtype()));
  walk(call, space, {strides_of(table), strides_of(items)},
       [&](std::span<const Pair> row) { copy(row, from, to); });
}

OpBuilder& selecting(OpBuilder& op, SpaceFn space_of) {
  return op.position_aware()
      .accept_local([space_of](const Call& call) { accept_shards(call, space_of(call)); })
      .rules([space_of](const Call& call, RuleSink& rules) {
        selecting_rules(call, rules, space_of(call));
      })
      .compute(kIndexable,
               [space_of](const Call& call, const onedim_execution_t&) {
                 select_items(call, space_of(call));
               })
      .cost([space_of](const Call& call, onedim_cost_t& cost) {
        const TensorView items = call.output();
        cost.bytes = 2.0 * static_cast<double>(items.element_count() * size_of(items.dtype()));
        for (const IndexPart& index : space_of(call).indices) {
          const TensorView tensor = tensor_of(call, index);
          cost.bytes += static_cast<double>(tensor.element_count() * size_of(tensor.dtype()));
        }
      });
}

}  // namespace indexing
