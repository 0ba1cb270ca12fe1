// Elements read in another way: complex numbers conjugated, as pairs of reals and back, or the
// bytes as another dtype. Dims stay; view_as_real adds one of size 2, view.dtype has a longer or
// shorter last one. conj is linear and multiplicative, parts are linear; bits of another dtype add
// up only as integers of the same width do, modulo 2^w.
//   view.dtype f64[3,2] as f32 is f32[3,4]: S(1) | S(1) where the pieces are multiples of 2.

#include "families.hpp"
#include "view_strides.hpp"

namespace shape {
namespace {

void all_dims_rules(const Call& call, RuleSink& rules) {
  kept_dims_rules(call, rules, first_dims(call.input(0).ndim()));
}

void declare_conjugate(Registrar& r) {
  r.op("_conj(Tensor(a) self) -> Tensor(a)")
      .summary("complex conjugate of self")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        require(is_complex(self.dtype()), "_conj needs a complex tensor");
        outputs.add(
            {self.dtype(), shape_of(self), dense_like(shape_of(self), strides_of(self)), -1, 0});
      })
      .rules(all_dims_rules)
      .families({{kLinear, {"self"}}, {kMultiplicative, {"self"}}})
      .compute(dtype_mask<std::complex<float>, std::complex<double>>(),
               [](const Call& call, const onedim_execution_t&) {
                 with_compute_type<std::complex<float>, std::complex<double>>(
                     call.output().dtype(), [&]<typename C>(C) {
                       const std::array in = {operand(call, "self")};
                       map_elements<C>(call.output(), in, [](C x) { return std::conj(x); });
                     });
               })
      .samples({"c64[5,7]", "c128[3,1,4]", "c64[6]", "c128[]", "c64[2,5]"});
}

void declare_complex_views(Registrar& r) {
  r.op("view_as_real(Tensor(a) self) -> Tensor(a)")
      .summary("real and imaginary parts in one more dim of size 2, without a copy")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        require(is_complex(self.dtype()), "view_as_real needs a complex tensor");
        Shape sizes = shape_of(self), strides = strides_of(self);
        for (int64_t& stride : strides) stride *= 2;
        sizes.push_back(2);
        strides.push_back(1);
        outputs.add({to_real(self.dtype()), sizes, strides, 0, 0});
      })
      .rules(all_dims_rules)
      .families({{kLinear, {"self"}}})
      .compute(dtype_mask<std::complex<float>, std::complex<double>>(), no_work)
      .samples({"c64[5,7]", "c128[3,1,4]", "c64[6]", "c128[]", "c64[2,5]"});
  r.op("view_as_complex(Tensor(a) self) -> Tensor(a)")
      .summary("complex numbers of the pairs in the last dim, without a copy")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        const int last = self.ndim() - 1;
        require(self.dtype() == DType::kF32 || self.dtype() == DType::kF64,
                "view_as_complex needs f32 or f64");
        require(last >= 0 && self.size(last) == 2, "the last dim must have size 2");
        require(self.stride(last) == 1, "the last dim must have stride 1");
        Shape sizes = shape_of(self), strides = strides_of(self);
        sizes.pop_back();
        strides.pop_back();
        for (int64_t& stride : strides) {
          require(stride % 2 == 0, "the strides of all dims but the last must be even");
          stride /= 2;
        }
        outputs.add({to_complex(self.dtype()), sizes, strides, 0, 0});
      })
      .rules([](const Call& call, RuleSink& rules) {
        kept_dims_rules(call, rules, first_dims(call.input(0).ndim() - 1));
      })
      .families({{kLinear, {"self"}}})
      .compute(exact_dtypes<float, double>(), no_work)
      .samples({"f32[5,7,2]", "f64[3,1,2]", "f32[6,2]", "f64[2]", "f32[4,3,2]"});
}

// Sizes of items in bytes: the last dim grows by `from` / `to`, or shrinks by `to` / `from`.
struct Items {
  int64_t from, to;
};

Items items_of(const Call& call) {
  return {size_of(call.input(0).dtype()), size_of(call.attribute<DType>("dtype"))};
}

void infer_other_dtype(const Call& call, OutputSink& outputs) {
  const TensorView self = call.input(0);
  const DType dtype = call.attribute<DType>("dtype");
  const auto [from, to] = items_of(call);
  Shape sizes = shape_of(self), strides = strides_of(self);
  require(from == to || self.ndim() > 0, "a 0-dim tensor has no other item size");
  if (from != to) {
    require(strides.back() == 1, "another item size needs a last dim of stride 1");
    if (sizes.back() * from % to != 0) {
      fail("the last dim of " + std::to_string(sizes.back()) + " items of " + std::to_string(from) +
           " bytes is not a multiple of " + std::to_string(to) + " bytes");
    }
    sizes.back() = sizes.back() * from / to;
    for (size_t dim = 0; dim + 1 < strides.size(); ++dim) {
      // No element of an empty tensor lies anywhere: an empty shard passes.
      require(strides[dim] * from % to == 0 || self.element_count() == 0,
              "the strides must be multiples of the new item");
      strides[dim] = strides[dim] * from / to;
    }
  }
  outputs.add({dtype, sizes, strides, 0, 0});
}

void other_dtype_rules(const Call& call, RuleSink& rules) {
  const auto [from, to] = items_of(call);
  const int ndim = call.input(0).ndim();
  kept_dims_rules(call, rules, first_dims(from == to ? ndim : ndim - 1));
  if (from == to) return;
  const Placement last = shard(ndim - 1);
  const int64_t ratio = std::max(from, to) / std::min(from, to);
  RuleOptions options{0, 0, {{from > to ? 1 : 0, 0, ndim - 1, 0, ratio}}};
  rules.add(std::span(&last, 1), std::span(&last, 1), options);
  rules.add(std::span(&last, 1), std::span(&last, 1), {ONEDIM_RULE_EVEN_ONLY, 0, {}});
}

Families other_dtype_families(const Call& call) {
  const DType from = call.input(0).dtype(), to = call.attribute<DType>("dtype");
  if (from == to) return passes_all("self");
  if (is_integral(from) && is_integral(to) && size_of(from) == size_of(to)) {
    static constexpr std::array<KindPair, 2> kModular = {{{"sum", "sum"}, {"product", "product"}}};
    return {{kModular, {"self"}}};
  }
  const bool splits_parts = is_complex(from) != is_complex(to) && to_real(from) == to_real(to);
  if (splits_parts) return {{kLinear, {"self"}}};
  return {};
}

void declare_other_dtype(Registrar& r) {
  r.op("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)")
      .summary("the same bytes read as another dtype, without a copy")
      .infer(infer_other_dtype)
      .rules(other_dtype_rules)
      .families(other_dtype_families)
      .compute(kAllDTypes, no_work)
      .samples({"f64[3,2]; dtype=i32", "f32[5,7]; dtype=f32", "i32[3,8]; dtype=i64",
                "c64[4,3]; dtype=f32", "i8[5,4]; dtype=u8", "f16[6,2]; dtype=i16",
                "f32[4,6]; dtype=c64"});
}

}  // namespace

void declare_reinterpretations(Registrar& r) {
  declare_conjugate(r);
  declare_complex_views(r);
  declare_other_dtype(r);
}

}  // namespace shape
