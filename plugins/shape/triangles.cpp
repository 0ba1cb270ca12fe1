// Triangles: y[i, j] = x[i, j] where j - i is on one side of `diagonal`, else 0. They are cut by
// global indices, so any shard of any dim passes; zeros are zeros under every reduction over ranks.
//   tril f32[5,7] over 2 ranks, S(0): rank 1 has rows 3 and 4, and keeps their first 4 and 5
//   columns

#include "families.hpp"
#include "movement.hpp"

namespace shape {
namespace {

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

void declare_triangles(Registrar& r) {
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
