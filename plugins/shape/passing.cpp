// Ops under which every index stays where it is, y[i] = x[i], or nearly: view_as_real adds a dim of
// two, view.dtype reads the last dim in larger or smaller items. Any shard of a dim that stays
// passes, and every partial kind that the change of values allows: conj is linear and
// multiplicative; bits of another dtype add up only as integers of the same width do, modulo 2^w.
//   view.dtype f64[3,2] as f32 is f32[3,4]: S(1) | S(1) where the pieces are multiples of 2.

#include <numeric>

#include "box.hpp"
#include "casts.hpp"
#include "families.hpp"
#include "view_strides.hpp"

namespace shape {
namespace {

std::vector<int> first_dims(int count) {
  std::vector<int> dims(static_cast<size_t>(count));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

void same_dims_rules(const Call& call, RuleSink& rules) {
  kept_dims_rules(call, rules, first_dims(call.input(0).ndim()));
}

void copy_whole(const Call& call, const onedim_execution_t&) {
  copy_box(box_of(call.input(0)), box_of(call.output()));
}

void infer_alias(const Call& call, OutputSink& outputs) {
  const TensorView self = call.input(0);
  outputs.add(shared_view(self, shape_of(self), strides_of(self)));
}

// Row-major strides if asked, else the order in memory that the input has; channels-last formats
// need four or five dims.
Shape strides_in_format(const Call& call) {
  const TensorView self = call.input(0);
  const auto format = call.attribute<std::optional<std::string_view>>("memory_format");
  if (!format || *format == "preserve_format") return dense_like(shape_of(self), strides_of(self));
  if (*format == "contiguous_format") return row_major_strides(shape_of(self));
  const int ndim = *format == "channels_last" ? 4 : *format == "channels_last_3d" ? 5 : -1;
  if (ndim < 0)
    fail("memory_format is \"" + std::string(*format) +
         "\", expected contiguous_format, preserve_format, channels_last or channels_last_3d");
  if (self.ndim() != ndim)
    fail(std::string(*format) + " needs a tensor of " + std::to_string(ndim) + " dims");
  Shape outer_to_inner = shape_of(self);  // the channel dim goes last
  std::rotate(outer_to_inner.begin() + 1, outer_to_inner.begin() + 2, outer_to_inner.end());
  Shape strides = row_major_strides(outer_to_inner);
  std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  return strides;
}

OpBuilder& declare_same(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .rules(same_dims_rules)
      .families(passes_all("self"))
      .samples({"f32[5,7]", "f64[3,1,4]", "i64[6]", "bool[2,5]", "c64[4,3]", "bf16[7]", "u8[]"});
}

void declare_copies(Registrar& r) {
  declare_same(r, "alias(Tensor(a) self) -> Tensor(a)").summary("self").infer(infer_alias);
  declare_same(r, "detach(Tensor(a) self) -> Tensor(a)")
      .summary("self without its history of gradients")
      .infer(infer_alias);
  declare_same(r, "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
      .summary("a copy of self")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        outputs.add({self.dtype(), shape_of(self), strides_in_format(call), -1, 0});
      })
      .compute(kAllDTypes, copy_whole);
  declare_same(r,
               "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> "
               "Tensor(a)")
      .summary("self if its memory is in that order, else a copy that is")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        const auto format = call.attribute<std::string_view>("memory_format");
        require(format != "preserve_format", "contiguous needs an order, not preserve_format");
        const Shape strides = strides_in_format(call);
        bool is_there = true;
        for (int dim = 0; dim < self.ndim(); ++dim)
          is_there = is_there && (self.size(dim) == 1 || self.stride(dim) == strides[dim]);
        if (is_there || self.element_count() == 0)
          outputs.add(shared_view(self, shape_of(self), strides_of(self)));
        else
          outputs.add({self.dtype(), shape_of(self), strides, -1, 0});
      })
      .compute(kAllDTypes, copy_whole);
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
      .rules(same_dims_rules)
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
      .rules(same_dims_rules)
      .families({{kLinear, {"self"}}})
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
      .samples({"f32[5,7,2]", "f64[3,1,2]", "f32[6,2]", "f64[2]", "f32[4,3,2]"});
}

// The values of self do not matter; those of src are cast.
void copy_partials(const Call& call, RuleSink& rules) {
  const DType from = call.tensor("src").dtype(), to = call.tensor("self").dtype();
  constexpr int kSelf[] = {0};
  add_with_unread(call, rules, replicate(), {replicate(), replicate()}, kSelf);
  for (const auto& [out, same] : kIdentity) {
    const std::string_view kind = kind_before_cast(out, from, to);
    if (kind.empty() || !is_legal_partial(out, to)) continue;
    add_with_unread(call, rules, partial(out), {replicate(), partial(kind)}, kSelf,
                    {cast_flags(out, from, to), 0, {}});
  }
}

void declare_copy(Registrar& r) {
  r.op("copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor")
      .summary("src broadcast to self's shape and cast to its dtype")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self"), src = call.tensor("src");
        if (broadcast(shape_of(self), src.shape()) != shape_of(self)) {
          fail("src of shape " + format_shape(src.shape()) +
               " does not broadcast to self of shape " + format_shape(self.shape()));
        }
        outputs.add(self.dtype(), shape_of(self));
      })
      .rules(pointwise_rules)
      .rules(copy_partials)
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 convert(call.tensor("src"), call.output());
               })
      .in_place()
      .samples({"f64[5,7]; f64[5,7]", "f32[4,3]; f32[3]", "i64[3,4]; f32[3,1]", "f32[6]; c64[6]",
                "u8[4,2]; bool[4,2]", "f16[5]; f32[1]", "f32[2,3]; bool[2,3]", "i32[4]; i64[4]"});
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

}  // namespace

void declare_passing(Registrar& r) {
  declare_copies(r);
  declare_conjugate(r);
  declare_complex_views(r);
  declare_copy(r);
  r.op("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)")
      .summary("the same bytes read as another dtype, without a copy")
      .infer(infer_other_dtype)
      .rules(other_dtype_rules)
      .families(other_dtype_families)
      .samples({"f64[3,2]; dtype=i32", "f32[5,7]; dtype=f32", "i32[3,8]; dtype=i64",
                "c64[4,3]; dtype=f32", "i8[5,4]; dtype=u8", "f16[6,2]; dtype=i16",
                "f32[4,6]; dtype=c64"});
}

}  // namespace shape
