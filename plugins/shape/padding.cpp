// Rows of a constant before and behind: y[i, j, ..] = x[i - before, j - .., ..], the constant where
// x has no such row. Dims that are not padded take any shard; padded ones may be sharded where the
// input is whole. The constant is on every rank: P(sum) passes where it is 0, P(product) where it
// is 0 or 1.
//   constant_pad_nd f32[5,7] by [1,2] is f32[5,10]: S*(0) | S*(0), S*(1) | R, P(sum) | P(sum)

#include "families.hpp"
#include "movement.hpp"

namespace shape {
namespace {

Movement pad_movement(const Call& call) {
  const auto pad = call.attribute<std::vector<int64_t>>("pad");
  const int ndim = call.input(0).ndim();
  if (pad.size() % 2 != 0 || static_cast<int>(pad.size()) > 2 * ndim) {
    fail("pad " + format_shape(pad) + " must have two numbers for each padded dim, of at most " +
         std::to_string(ndim));
  }
  std::vector<std::optional<RowMap>> rows(static_cast<size_t>(ndim));
  for (int i = 0; i < static_cast<int>(pad.size()) / 2; ++i) {
    const int dim = ndim - 1 - i;
    const int64_t length = call.global_size(false, 0, dim), before = pad[2 * i];
    const int64_t padded = length + before + pad[2 * i + 1];
    if (padded < 0) {
      fail("pad " + format_shape(pad) + " takes more rows than dim " + std::to_string(dim) +
           " of size " + std::to_string(length) + " has");
    }
    rows[dim].emplace(static_cast<size_t>(padded), kNoRow);
    for (int64_t row = 0; row < padded; ++row) {
      if (row >= before && row - before < length) (*rows[dim])[row] = row - before;
    }
  }
  return with_rows(call, std::move(rows));
}

bool has_padding(const Call& call) {
  for (int64_t count : call.attribute<std::vector<int64_t>>("pad")) {
    if (count > 0) return true;
  }
  return false;
}

std::array<std::byte, 16> padding(const Call& call) {
  return element_of(*call.find_attribute("value"), call.input(0).dtype());
}

// The constant as an element of the dtype is what every rank adds.
void padded_partials(const Call& call, RuleSink& rules) {
  const DType dtype = call.input(0).dtype();
  const std::array<std::byte, 16> element = padding(call);
  std::complex<double> value;
  load_row(dtype, element.data(), 1, 1, &value);
  const onedim_value_t number{ONEDIM_VALUE_COMPLEX, 0,  0,       value.real(),
                              value.imag(),         {}, nullptr, 0};
  for (const auto& [kind, out] : kIdentity) {
    if (has_padding(call) && !is_split_of_itself(kind, number)) continue;
    add_partial_rule(call, rules, out, {{"self", kind}});
  }
}

}  // namespace

void declare_padding(Registrar& r) {
  declare_movement(r, "constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
                   pad_movement, padding)
      .summary("self with rows of a constant before and behind, the last dim first; negative: cut")
      .rules(padded_partials)
      .out("constant_pad_nd.out")
      .samples({"f64[5,7]; pad=[1,2]", "f32[4,3]; pad=[0,0,2,1]; value=1.5",
                "i64[3,1,4]; pad=[1,0]; value=1", "bool[2,4]; pad=[1,1]; value=true",
                "c64[2,3]; pad=[0,1]", "f64[6,5]; pad=[-1,2]; value=3.0",
                "bf16[4,6]; pad=[0,0]; value=2.0", "i32[5,3]; pad=[0,2]; value=-1"});
}

}  // namespace shape
