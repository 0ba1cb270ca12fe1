// Diagonals: y[.., k] = x[.., i(k), j(k), ..] with i(k) = k + max(-offset, 0), j(k) = k +
// max(offset, 0), and tensors with one replaced; triangles: y[i, j] = x[i, j] where j - i is on one
// side of `diagonal`, else 0. Dims outside take any shard. A rank that has some rows has their part
// of the diagonal, and zeros for the rest are a part of a sum: P(sum) | S*(dim1). Where the
// diagonal has one element in each row, its shard is where the row's is:
//   diagonal f32[4,6]: S*(0) | S*(0);  P(sum) | S*(1);  diag_embed f32[4]: S*(0) | S*(0), S*(0) | R
// Triangles are cut by global indices, so they take any shard of any dim.

#include "families.hpp"
#include "movement.hpp"

namespace shape {
namespace {

// A diagonal of a tensor that has rows (dim1) and columns (dim2).
struct Diagonal {
  int rows = 0, columns = 1;  // dims
  int64_t row_count = 0, column_count = 0;
  int64_t offset = 0;

  int64_t first_row() const { return std::max<int64_t>(-offset, 0); }
  int64_t first_column() const { return std::max<int64_t>(offset, 0); }
  int64_t length() const {
    return std::max<int64_t>(std::min(row_count - first_row(), column_count - first_column()), 0);
  }
  bool has_each_row() const { return length() == row_count; }
  bool has_each_column() const { return length() == column_count; }
};

Diagonal diagonal_dims(const Call& call, int ndim) {
  Diagonal at;
  at.rows = wrap_dim(call.attribute<int64_t>("dim1"), ndim);
  at.columns = wrap_dim(call.attribute<int64_t>("dim2"), ndim);
  if (ndim < 2 || at.rows == at.columns) {
    fail("dim1 and dim2 must be two dims of a tensor of " + std::to_string(ndim) + " dims");
  }
  at.offset = call.attribute<int64_t>("offset");
  return at;
}

Diagonal diagonal_of_self(const Call& call) {
  Diagonal at = diagonal_dims(call, call.input(0).ndim());
  at.row_count = call.global_size(false, 0, at.rows);
  at.column_count = call.global_size(false, 0, at.columns);
  return at;
}

// Of diag_embed's output, in which the last dim of self is the diagonal.
Diagonal embedded_diagonal(const Call& call) {
  require(call.input(0).ndim() > 0, "self needs at least one dim");
  Diagonal at = diagonal_dims(call, call.input(0).ndim() + 1);
  const int64_t length = call.global_size(false, 0, call.input(0).ndim() - 1);
  at.row_count = at.column_count = length + std::abs(at.offset);
  return at;
}

// Dims of the matrix tensor but rows and columns, in order: those of the vector tensor before its
// last, which is the diagonal.
std::vector<int> outer_dims(const Diagonal& at, int ndim) {
  std::vector<int> dims;
  for (int dim = 0; dim < ndim; ++dim) {
    if (dim != at.rows && dim != at.columns) dims.push_back(dim);
  }
  return dims;
}

// Which tensors of a call hold the diagonal as rows and columns, and as a vector.
struct Ends {
  bool matrix_is_output, vector_is_output;
  int matrix, vector;  // slots
};

// The box with its outer dims in order and without the others.
Box outer_box(const Box& box, const std::vector<int>& dims, int64_t shift) {
  Box outer{box.data + shift * box.item, box.item, {}, {}};
  for (int dim : dims) {
    outer.sizes.push_back(box.sizes[dim]);
    outer.strides.push_back(box.strides[dim]);
  }
  return outer;
}

// Copies what is here of both, one element of the diagonal after the other.
void copy_diagonal(const Call& call, const Diagonal& at, const Ends& ends) {
  const Box matrix =
      box_of(ends.matrix_is_output ? call.output(ends.matrix) : call.input(ends.matrix));
  const Box vector =
      box_of(ends.vector_is_output ? call.output(ends.vector) : call.input(ends.vector));
  const int last = static_cast<int>(vector.sizes.size()) - 1;
  const RowMap rows = local_row_of_each(call, ends.matrix_is_output, ends.matrix, at.rows);
  const RowMap columns = local_row_of_each(call, ends.matrix_is_output, ends.matrix, at.columns);
  const RowMap places = rows_here(call, ends.vector_is_output, ends.vector, last, at.length());
  const std::vector<int> outer = outer_dims(at, static_cast<int>(matrix.sizes.size()));
  std::vector<int> vector_outer;
  for (int dim = 0; dim < last; ++dim) vector_outer.push_back(dim);
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t row = rows[places[i] + at.first_row()];
    const int64_t column = columns[places[i] + at.first_column()];
    if (row == kNoRow || column == kNoRow) continue;
    const Box in_matrix = outer_box(
        matrix, outer, row * matrix.strides[at.rows] + column * matrix.strides[at.columns]);
    const Box in_vector =
        outer_box(vector, vector_outer, static_cast<int64_t>(i) * vector.strides[last]);
    if (ends.matrix_is_output)
      copy_box(in_vector, in_matrix);
    else
      copy_box(in_matrix, in_vector);
  }
}

// Whether what the output's part needs of the diagonal is here; `rows_may_lack` and
// `columns_may_lack` where elements that lie elsewhere count as 0.
bool lines_up(const Call& call, const Diagonal& at, const Ends& ends, bool rows_may_lack = false,
              bool columns_may_lack = false) {
  const TensorView vector =
      ends.vector_is_output ? call.output(ends.vector) : call.input(ends.vector);
  const RowMap rows = local_row_of_each(call, ends.matrix_is_output, ends.matrix, at.rows);
  const RowMap columns = local_row_of_each(call, ends.matrix_is_output, ends.matrix, at.columns);
  const RowMap places =
      local_row_of_each(call, ends.vector_is_output, ends.vector, vector.ndim() - 1);
  for (int64_t k = 0; k < at.length(); ++k) {
    const bool has_row = rows[k + at.first_row()] != kNoRow;
    const bool has_column = columns[k + at.first_column()] != kNoRow;
    const bool is_in_vector = places[k] != kNoRow;
    const bool has_needed =
        ends.matrix_is_output
            ? is_in_vector || !has_row || !has_column
            : !is_in_vector || ((has_row || rows_may_lack) && (has_column || columns_may_lack));
    if (!has_needed) return false;
  }
  return true;
}

constexpr Ends kTaken = {false, true, 0, 0};
constexpr Ends kEmbedded = {true, false, 0, 0};
constexpr Ends kScattered = {true, false, 0, 1};

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
  part_of_sum_rules(call, rules, 0, at.rows);
  part_of_sum_rules(call, rules, 0, at.columns);
}

// Cut rows or columns are part of a sum, or line up.
void accept_taken(const Call& call) {
  const Diagonal at = diagonal_of_self(call);
  const bool sums_rows = is_summed(call, 0, at.rows), sums_columns = is_summed(call, 0, at.columns);
  const bool rows_pass = is_whole(call, 0, at.rows) || at.has_each_row() || sums_rows;
  const bool columns_pass = is_whole(call, 0, at.columns) || at.has_each_column() || sums_columns;
  require(rows_pass && columns_pass && lines_up(call, at, kTaken, sums_rows, sums_columns),
          "the diagonal's elements that this rank needs lie elsewhere");
}

OpBuilder& declare_taken(Registrar& r, std::string_view schema, bool is_view) {
  return r.op(schema)
      .position_aware()
      .infer([is_view](const Call& call, OutputSink& outputs) {
        const Diagonal at = diagonal_of_self(call);
        Shape shape = taken_shape(call, at);
        if (is_view && has_all_rows(call, at) && shape.back() == at.length())
          outputs.add(diagonal_view(call, at, std::move(shape)));
        else
          outputs.add(call.input(0).dtype(), std::move(shape));
      })
      .rules(taken_rules)
      .families(passes_all("self"))
      .accept_local(accept_taken)
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
      .accept_local([](const Call& call) {
        const Diagonal at = embedded_diagonal(call);
        const bool passes = is_whole(call, 0, call.input(0).ndim() - 1) ||
                            (at.offset == 0 && lines_up(call, at, kEmbedded));
        require(passes, "the diagonal's elements that this rank needs lie elsewhere");
      })
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
  outputs.add(self.dtype(), shape_of(self));
}

void accept_scattered(const Call& call) {
  const Diagonal at = diagonal_of_self(call);
  const int last = call.tensor("src").ndim() - 1;
  const bool may_line_up = (is_whole(call, 0, at.rows) || at.has_each_row()) &&
                           (is_whole(call, 0, at.columns) || at.has_each_column());
  require(is_whole(call, 1, last) || (may_line_up && lines_up(call, at, kScattered)),
          "the diagonal's elements that this rank needs lie elsewhere");
}

void declare_scattered(Registrar& r) {
  r.op("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor")
      .summary("self with src as a diagonal of dim1 and dim2")
      .position_aware()
      .infer(infer_scattered)
      .rules(scattered_rules)
      .families({{kIdentity, {"self", "src"}}})
      .accept_local(accept_scattered)
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

// `keeps` tells of column - row whether the element stays.
template <typename Keeps>
void copy_triangle(const Call& call, Keeps keeps) {
  const Box from = box_of(call.input(0)), to = box_of(call.output());
  const int rows = call.input(0).ndim() - 2, columns = rows + 1;
  const std::array<std::byte, 16> zero{};
  fill_box(to, zero.data());
  const RowMap at_row = rows_here(call, true, 0, rows, to.sizes[rows]);
  const RowMap at_column = rows_here(call, true, 0, columns, to.sizes[columns]);
  for (int64_t i = 0; i < to.sizes[rows]; ++i) {
    for (int64_t j = 0; j < to.sizes[columns];) {
      int64_t end = j;
      while (end < to.sizes[columns] && keeps(at_column[end] - at_row[i])) ++end;
      Box part_from = from, part_to = to;
      for (Box* part : {&part_from, &part_to}) {
        part->data += (i * part->strides[rows] + j * part->strides[columns]) * part->item;
        part->sizes[rows] = 1;
        part->sizes[columns] = end - j;
      }
      if (end > j) copy_box(part_from, part_to);
      j = end + 1;
    }
  }
}

OpBuilder& declare_triangle(Registrar& r, std::string_view schema, OpBuilder::ComputeFn kernel) {
  return r.op(schema)
      .position_aware()
      .infer([](const Call& call, OutputSink& outputs) {
        require(call.input(0).ndim() >= 2, "a triangle needs a tensor of at least two dims");
        outputs.add(call.input(0).dtype(), shape_of(call.input(0)));
      })
      .rules(pointwise_rules)
      .families(passes_all("self"))
      .compute(kAllDTypes, std::move(kernel))
      .in_place()
      .samples({"f64[5,7]", "f32[4,4]; diagonal=1", "i64[3,2,5]; diagonal=-1", "bool[6,3]",
                "c64[2,4,4]; diagonal=2", "bf16[1,5]; diagonal=-7"});
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
  declare_triangle(r, "tril(Tensor self, SymInt diagonal=0) -> Tensor",
                   [](const Call& call, const onedim_execution_t&) {
                     const int64_t last = call.attribute<int64_t>("diagonal");
                     copy_triangle(call, [last](int64_t at) { return at <= last; });
                   })
      .summary("self with zeros above a diagonal of its last two dims")
      .out("tril.out");
  declare_triangle(r, "triu(Tensor self, SymInt diagonal=0) -> Tensor",
                   [](const Call& call, const onedim_execution_t&) {
                     const int64_t first = call.attribute<int64_t>("diagonal");
                     copy_triangle(call, [first](int64_t at) { return at >= first; });
                   })
      .summary("self with zeros below a diagonal of its last two dims")
      .out("triu.out");
}

}  // namespace shape
