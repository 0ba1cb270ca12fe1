// Diagonals: y[.., k] = x[.., i(k), j(k), ..] with i(k) = k + max(-offset, 0) and j(k) = k +
// max(offset, 0), and tensors with one replaced. Dims outside take any shard. A rank that has some
// rows has their part of the diagonal, and zeros for the rest are a part of a sum: P(sum) |
// S*(dim1). Where the diagonal has one element in each row, its shard is where the row's is:
//   diagonal f32[4,6]: S*(0) | S*(0);  P(sum) | S*(1);  diag_embed f32[4]: S*(0) | S*(0), S*(0) | R

#include "diagonal.hpp"
#include "families.hpp"

namespace shape {
namespace {

constexpr const char* kLiesElsewhere =
    "elements of the diagonal that this rank needs lie elsewhere";

// The diagonal's local length, as the output is placed.
Shape taken_shape(const Call& call, const Diagonal& at) {
  Shape shape;
  const std::vector<int> outer = outer_dims(at, call.input(0).ndim());
  for (int dim : outer) shape.push_back(call.input(0).size(dim));
  const int last = static_cast<int>(outer.size());
  shape.push_back(static_cast<int64_t>(rows_here(call, true, 0, last, at.length()).size()));
  return shape;
}

bool has_all_rows(const Call& call, const Diagonal& at) {
  return is_whole(call, 0, at.rows) && is_whole(call, 0, at.columns);
}

Output diagonal_view(const Call& call, const Diagonal& at, Shape shape) {
  const TensorView self = call.input(0);
  Output view = shared_view(self, std::move(shape), {});
  for (int dim : outer_dims(at, self.ndim())) view.strides.push_back(self.stride(dim));
  view.strides.push_back(self.stride(at.rows) + self.stride(at.columns));
  if (self.element_count() > 0 && at.length() > 0) {
    view.storage_offset =
        at.first_row() * self.stride(at.rows) + at.first_column() * self.stride(at.columns);
  }
  return view;
}

// A shard of rows or columns that has one element each of the diagonal.
void lined_up_rules(RuleSink& rules, const Diagonal& at, int last) {
  const Placement output = any_shard(last);
  const Placement rows = any_shard(at.rows), columns = any_shard(at.columns);
  if (at.has_each_row()) rules.add(std::span(&output, 1), std::span(&rows, 1));
  if (at.has_each_column()) rules.add(std::span(&output, 1), std::span(&columns, 1));
}

void taken_rules(const Call& call, RuleSink& rules) {
  const Diagonal at = diagonal_of_self(call);
  std::vector<int> from = outer_dims(at, call.input(0).ndim());
  const int last = static_cast<int>(from.size());
  from.push_back(-1);
  kept_dims_rules(call, rules, from);
  rules.add_named(any_shard(last), {});
  lined_up_rules(rules, at, last);
  if (!at.has_each_row()) part_of_sum_rules(call, rules, 0, at.rows);
  if (!at.has_each_column()) part_of_sum_rules(call, rules, 0, at.columns);
}

// Cut rows or columns are part of a sum, or line up.
void require_taken(const Call& call, const Diagonal& at) {
  const bool sums_rows = !at.has_each_row() && is_summed(call, 0, at.rows);
  const bool sums_columns = !at.has_each_column() && is_summed(call, 0, at.columns);
  require(lines_up(call, at, kTaken, sums_rows, sums_columns), kLiesElsewhere);
}

OpBuilder& declare_taken(Registrar& r, std::string_view schema, bool is_view) {
  return r.op(schema)
      .position_aware()
      .infer([is_view](const Call& call, OutputSink& outputs) {
        const Diagonal at = diagonal_of_self(call);
        require_taken(call, at);
        Shape shape = taken_shape(call, at);
        if (is_view && has_all_rows(call, at) && shape.back() == at.length())
          outputs.add(diagonal_view(call, at, std::move(shape)));
        else
          outputs.add(call.input(0).dtype(), std::move(shape));
      })
      .rules(taken_rules)
      .families(passes_all("self"))
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 const Box out = box_of(call.output());
                 fill_box(out, neutral_of_sum(call.output().dtype()).data());
                 copy_diagonal(call, diagonal_of_self(call), kTaken);
               })
      .samples({"f64[5,7]", "f32[4,4]; offset=1", "i64[3,2,5]; offset=-1; dim1=0; dim2=2",
                "bool[6,3]; dim1=1; dim2=0", "c64[2,4,4]; dim1=-1; dim2=-2", "u8[3,5]; offset=2"});
}

void embedded_rules(const Call& call, RuleSink& rules) {
  const Diagonal at = embedded_diagonal(call);
  const int ndim = call.output().ndim(), last = call.input(0).ndim() - 1;
  const std::vector<int> outer = outer_dims(at, ndim);
  for (int dim = 0; dim < last; ++dim)
    rules.add_named(any_shard(outer[dim]), {{"self", any_shard(dim)}});
  for (int dim : {at.rows, at.columns}) {
    rules.add_named(any_shard(dim), {});
    if (at.offset == 0) rules.add_named(any_shard(dim), {{"self", any_shard(last)}});
  }
}

void infer_embedded(const Call& call, OutputSink& outputs) {
  const Diagonal at = embedded_diagonal(call);
  require(lines_up(call, at, kEmbedded), kLiesElsewhere);
  const int ndim = call.input(0).ndim() + 1;
  const std::vector<int> outer = outer_dims(at, ndim);
  Shape shape(static_cast<size_t>(ndim), at.row_count);
  for (size_t i = 0; i < outer.size(); ++i)
    shape[outer[i]] = call.input(0).size(static_cast<int>(i));
  for (int dim : {at.rows, at.columns})
    shape[dim] = static_cast<int64_t>(rows_here(call, true, 0, dim, at.row_count).size());
  outputs.add(call.input(0).dtype(), std::move(shape));
}

void declare_embedded(Registrar& r) {
  r.op("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor")
      .summary("zeros with the last dim of self as a diagonal of dim1 and dim2")
      .position_aware()
      .infer(infer_embedded)
      .rules(embedded_rules)
      .families(passes_all("self"))
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 const std::array<std::byte, 16> zero{};
                 fill_box(box_of(call.output()), zero.data());
                 copy_diagonal(call, embedded_diagonal(call), kEmbedded);
               })
      .out("diag_embed.out")
      .samples({"f64[5]", "f32[3,4]; offset=1", "i64[3,2]; offset=-1; dim1=0; dim2=2", "bool[4]",
                "c64[2,3]; dim1=-1; dim2=-2"});
}

void scattered_rules(const Call& call, RuleSink& rules) {
  const Diagonal at = diagonal_of_self(call);
  const int last = call.tensor("src").ndim() - 1;
  const std::vector<int> outer = outer_dims(at, call.input(0).ndim());
  for (int dim = 0; dim < last; ++dim) {
    rules.add_named(any_shard(outer[dim]),
                    {{"self", any_shard(outer[dim])}, {"src", any_shard(dim)}});
  }
  for (int dim : {at.rows, at.columns}) {
    rules.add_named(any_shard(dim), {{"self", any_shard(dim)}});
    if (dim == at.rows ? at.has_each_row() : at.has_each_column())
      rules.add_named(any_shard(dim), {{"self", any_shard(dim)}, {"src", any_shard(last)}});
  }
}

void infer_scattered(const Call& call, OutputSink& outputs) {
  const TensorView self = call.tensor("self"), src = call.tensor("src");
  const Diagonal at = diagonal_of_self(call);
  require(self.dtype() == src.dtype(), "self and src must have one dtype");
  const std::vector<int> outer = outer_dims(at, self.ndim());
  bool fits =
      src.ndim() == self.ndim() - 1 && call.global_size(false, 1, src.ndim() - 1) == at.length();
  for (size_t i = 0; fits && i < outer.size(); ++i)
    fits = src.size(static_cast<int>(i)) == self.size(outer[i]);
  if (!fits) {
    fail("src of shape " + format_shape(src.shape()) + " is no diagonal of " +
         std::to_string(at.length()) + " elements of self of shape " + format_shape(self.shape()));
  }
  require(lines_up(call, at, kScattered), kLiesElsewhere);
  outputs.add(self.dtype(), shape_of(self));
}

void declare_scattered(Registrar& r) {
  r.op("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor")
      .summary("self with src as a diagonal of dim1 and dim2")
      .position_aware()
      .infer(infer_scattered)
      .rules(scattered_rules)
      .families({{kIdentity, {"self", "src"}}})
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 copy_box(box_of(call.tensor("self")), box_of(call.output()));
                 copy_diagonal(call, diagonal_of_self(call), kScattered);
               })
      .out("diagonal_scatter.out")
      .samples({"f64[5,7]; f64[5]", "f32[4,4]; f32[3]; offset=1",
                "i64[3,2,5]; i64[2,2]; offset=-1; dim1=0; dim2=2", "bool[6,3]; bool[3]",
                "c64[2,4,4]; c64[2,4]; dim1=-1; dim2=-2"});
}

}  // namespace

void declare_diagonals(Registrar& r) {
  declare_taken(r, "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
                true)
      .summary("a diagonal of two dims as the last dim, as a view");
  declare_taken(r, "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
                false)
      .summary("a copy of a diagonal of two dims as the last dim")
      .out("diagonal_copy.out");
  declare_embedded(r);
  declare_scattered(r);
}

}  // namespace shape
