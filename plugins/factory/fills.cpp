// Tensors filled with one number: by size (full), in another tensor's shape (full_like), of another
// tensor's dtype (new_full), over a tensor (fill), and the forms whose number is 0 or 1. What an
// empty tensor holds is undefined: here it holds zeros, so it has the rules of zeros, which are all
// that undefined content could have.
//   new_full(f32[4,6], size [5,7], 3): S(1) | S(0) is the local call new_full(f32[2,6], [5,4], 3)

#include <onedim/cast_passes.hpp>
#include <onedim/memory_format.hpp>

#include "families.hpp"

namespace factory {
namespace {

using DTypeFn = std::function<DType(const Call&)>;

Shape given_size(const Call& call) {
  Shape size = call.attribute<std::vector<int64_t>>("size");
  require_sizes(size, "size");
  return size;
}

DType own_dtype(const Call& call) { return dtype_or(call, call.input(0).dtype()); }
DType default_dtype(const Call& call) { return dtype_or(call, DType::kF32); }
// full takes the dtype of its number.
DType number_dtype_of(const Call& call) {
  const DType dtype = number_dtype(*call.find_attribute("fill_value"));
  const DType otherwise = is_complex(dtype)    ? DType::kC64
                          : is_floating(dtype) ? DType::kF32
                                               : dtype;
  return dtype_or(call, otherwise);
}

// Rules and kernel of an output that is `number` everywhere.
OpBuilder& filled(OpBuilder& op, NumberFn number) {
  return op
      .rules([number](const Call& call, RuleSink& rules) {
        constant_rules(call, rules, number(call));
      })
      .compute(kAllDTypes,
               [number](const Call& call, const onedim_execution_t&) {
                 fill(call.output(), number(call));
               })
      .cost([](const Call& call, onedim_cost_t& cost) {
        cost.flops = 0;
        cost.bytes =
            static_cast<double>(call.output().element_count() * size_of(call.output().dtype()));
      });
}

void infer_like(const Call& call, OutputSink& outputs, DType dtype, const onedim_value_t& number) {
  require_fits(number, dtype);
  Output out{dtype, local_output_shape(call, 0, shape_of(call.input(0))), {}, -1, 0};
  out.strides = like_strides(call, call.input(0), out.shape);
  outputs.add(out);
}

// In the shape of self: S(0) | R is a local call too, since the kernel is told the output's shape.
OpBuilder& declare_like(Registrar& r, std::string_view schema, std::string_view summary,
                        NumberFn number, std::initializer_list<std::string_view> samples) {
  return filled(r.op(schema).summary(summary).position_aware(), number)
      .infer([number](const Call& call, OutputSink& outputs) {
        infer_like(call, outputs, own_dtype(call), number(call));
      })
      .samples(samples);
}

// Of the size given; `dtype` says what it holds.
OpBuilder& declare_sized(Registrar& r, std::string_view schema, NumberFn number, DTypeFn dtype) {
  return filled(r.op(schema).size_attribute("size"), number)
      .infer([number, dtype](const Call& call, OutputSink& outputs) {
        require_fits(number(call), dtype(call));
        outputs.add(dtype(call), given_size(call));
      });
}

// With strides of its own; a local part is dense, its dims in the order of the strides given.
OpBuilder& declare_strided(Registrar& r, std::string_view schema, DTypeFn dtype) {
  return filled(r.op(schema).size_attribute("size").position_aware(), always(0))
      .infer([dtype](const Call& call, OutputSink& outputs) {
        const Shape strides = call.attribute<std::vector<int64_t>>("stride");
        Output out{dtype(call), given_size(call), {}, -1, 0};
        require(strides.size() == out.shape.size(), "size and stride must have one length");
        require_sizes(strides, "stride");
        const bool is_whole = call.location() == nullptr;
        out.strides = is_whole ? strides : dense_strides(out.shape, dims_by_stride(strides));
        outputs.add(out);
      });
}

void declare_sizes(Registrar& r) {
  declare_sized(r, with_options("full(SymInt[] size, Scalar fill_value"), given("fill_value"),
                number_dtype_of)
      .summary("a tensor of `size` filled with a number, whose dtype it takes")
      .samples({"size=[5,7]; fill_value=1.5", "size=[4,1,6]; fill_value=0",
                "size=[7]; fill_value=1", "size=[]; fill_value=true",
                "size=[5,2]; fill_value=0.5; dtype=i64", "size=[3,4]; fill_value=1; dtype=bf16",
                "size=[6]; fill_value=-2; dtype=c64"})
      .out("full.out");
  const struct {
    std::string_view name;
    std::string_view more;
    int64_t number;
    std::string_view summary;
    std::string_view out;
    uint64_t flags;
  } plain[] = {
      {"zeros", "", 0, "a tensor of zeros", "zeros.out", 0},
      {"ones", "", 1, "a tensor of ones", "ones.out", 0},
      {"empty.memory_format", ", MemoryFormat? memory_format=None", 0,
       "a tensor of undefined content, here zeros", "empty.out", ONEDIM_OP_UNDEFINED_CONTENT}};
  for (const auto& [name, more, number, summary, out, flags] : plain) {
    declare_sized(r, with_options(std::string(name) + "(SymInt[] size", more), always(number),
                  default_dtype)
        .summary(summary)
        .flags(flags)
        .samples({"size=[5,7]", "size=[4,1,6]; dtype=f64", "size=[7]; dtype=i64", "size=[]",
                  "size=[3,4]; dtype=bool", "size=[5]; dtype=c64"})
        .out(out);
  }
  declare_strided(r, with_options("empty_strided(SymInt[] size, SymInt[] stride"), default_dtype)
      .summary("a tensor of undefined content, here zeros, with the strides given")
      .undefined_content()
      .samples({"size=[5,7]; stride=[7,1]", "size=[4,6]; stride=[1,4]; dtype=f64",
                "size=[3,1,4]; stride=[4,1,1]; dtype=i32", "size=[7]; stride=[2]",
                "size=[5,2]; stride=[2,1]; dtype=bool"})
      .out("empty_strided.out");
}

void declare_new(Registrar& r) {
  declare_sized(r, with_options("new_full(Tensor self, SymInt[] size, Scalar fill_value"),
                given("fill_value"), own_dtype)
      .summary("a tensor of `size` filled with a number, of self's dtype")
      .samples({"f32[5,7]; size=[5,7]; fill_value=1.5", "f64[4,6]; size=[7]; fill_value=0",
                "i64[5]; size=[5,3]; fill_value=1", "f32[3,2]; size=[]; fill_value=2",
                "bool[4]; size=[2,5]; fill_value=true",
                "f32[4]; size=[6]; fill_value=3; dtype=i32"})
      .out("new_full.out");
  const struct {
    std::string_view name;
    int64_t number;
    std::string_view summary;
    uint64_t flags;
  } plain[] = {{"new_zeros", 0, "a tensor of zeros, of self's dtype", 0},
               {"new_ones", 1, "a tensor of ones, of self's dtype", 0},
               {"new_empty", 0, "a tensor of undefined content, here zeros, of self's dtype",
                ONEDIM_OP_UNDEFINED_CONTENT}};
  for (const auto& [name, number, summary, flags] : plain) {
    declare_sized(r, with_options(std::string(name) + "(Tensor self, SymInt[] size"),
                  always(number), own_dtype)
        .summary(summary)
        .flags(flags)
        .samples({"f32[5,7]; size=[5,7]", "f64[4,6]; size=[7]", "i64[5]; size=[5,3]",
                  "f32[3,2]; size=[]", "bool[4]; size=[2,5]", "c64[4]; size=[6]; dtype=f16"})
        .out(std::string(name) + ".out");
  }
  declare_strided(r, with_options("new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride"),
                  own_dtype)
      .summary("a tensor of undefined content, here zeros, with the strides given")
      .undefined_content()
      .samples({"f32[5,7]; size=[5,7]; stride=[7,1]", "f64[4,6]; size=[4,6]; stride=[1,4]",
                "i32[4]; size=[3,1,4]; stride=[4,1,1]", "f32[2,3]; size=[7]; stride=[2]",
                "bool[5]; size=[5,2]; stride=[2,1]; dtype=f16"})
      .out("new_empty_strided.out");
}

void declare_likes(Registrar& r) {
  const std::string like = ", MemoryFormat? memory_format=None";
  declare_like(r, with_options("full_like(Tensor self, Scalar fill_value", like),
               "a tensor in the shape of self filled with a number", given("fill_value"),
               {"f32[5,7]; fill_value=1.5", "f64[4,1,6]; fill_value=0", "i64[7]; fill_value=1",
                "bool[4,3]; fill_value=true", "f32[5]; fill_value=0.5; dtype=i64",
                "c64[3,2]; fill_value=-2", "bf16[6]; fill_value=1", "u8[5]; fill_value=7"});
  const struct {
    std::string_view name;
    int64_t number;
    std::string_view summary;
    uint64_t flags;
  } plain[] = {{"zeros_like", 0, "zeros in the shape of self", 0},
               {"ones_like", 1, "ones in the shape of self", 0},
               {"empty_like", 0, "undefined content, here zeros, in the shape of self",
                ONEDIM_OP_UNDEFINED_CONTENT}};
  for (const auto& [name, number, summary, flags] : plain) {
    declare_like(
        r, with_options(std::string(name) + "(Tensor self", like), summary, always(number),
        {"f32[5,7]", "f64[4,1,6]", "i64[7]", "bool[4,3]", "c64[5]", "f16[6]; dtype=i32", "f64[]"})
        .flags(flags);
  }
}

// Over a tensor, in place or not: its elements do not matter.
OpBuilder& declare_fill(Registrar& r, std::string_view schema, NumberFn number) {
  return filled(r.op(schema).position_aware(), number)
      .infer([number](const Call& call, OutputSink& outputs) {
        infer_like(call, outputs, call.input(0).dtype(), number(call));
      });
}

// The one element of `value` becomes every element: partials of it pass as through a cast.
void declare_fill_tensor(Registrar& r) {
  r.op("fill.Tensor(Tensor self, Tensor value) -> Tensor")
      .summary("self filled with the one element of `value`")
      .position_aware()
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView value = call.tensor("value");
        require(!value.present() || value.ndim() == 0, "value must be a tensor of no dims");
        outputs.add(call.input(0).dtype(), local_output_shape(call, 0, shape_of(call.input(0))));
      })
      .rules([](const Call& call, RuleSink& rules) {
        if (!call.has_tensor("value"))
          return constant_rules(call, rules, *call.find_attribute("value"));
        const Placement whole = replicate();
        add_unread(call, rules, replicate(), std::span(&whole, 1));
        for (int dim = 0; dim < call.output().ndim(); ++dim)
          add_unread(call, rules, any_shard(dim), std::span(&whole, 1));
        for (const Pass& pass : cast_passes(call.tensor("value").dtype(), call.output().dtype())) {
          const Placement value = pass.in.empty() ? replicate() : partial(pass.in);
          if (!is_legal_partial(pass.out, call.output().dtype())) continue;
          if (!pass.in.empty() && !is_legal_partial(pass.in, call.tensor("value").dtype()))
            continue;
          add_unread(call, rules, partial(pass.out), std::span(&value, 1));
        }
      })
      .compute(
          kAllDTypes,
          [](const Call& call, const onedim_execution_t&) {
            const std::array in = {operand(call, "value")};
            if (!in[0].tensor.present()) return fill(call.output(), *in[0].value);
            const DType from = in[0].tensor.dtype();
            const DType at = is_complex(call.output().dtype()) ? to_complex(from) : from;
            with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
                at,
                [&]<typename C>(C) { map_elements<C>(call.output(), in, [](C x) { return x; }); });
          })
      .samples({"f32[5,7]; f32[]", "f64[4,1,6]; f64[]", "i64[7]; f32[]", "f16[5]; i32[]",
                "bool[3,4]; f32[]", "f32[5]; bool[]", "c64[4]; f32[]"})
      .in_place()
      .out("fill.Tensor_out");
}

}  // namespace

void declare_fills(Registrar& r) {
  declare_sizes(r);
  declare_likes(r);
  declare_new(r);
  declare_fill(r, "fill.Scalar(Tensor self, Scalar value) -> Tensor", given("value"))
      .summary("self filled with a number")
      .samples({"f32[5,7]; value=1.5", "f64[4,1,6]; value=0", "i64[7]; value=1",
                "bool[4,3]; value=true", "c64[5]; value=-2", "bf16[6]; value=1.0"})
      .in_place()
      .out("fill.Scalar_out");
  declare_fill(r, "zero(Tensor self) -> Tensor", always(0))
      .summary("zeros over self")
      .samples({"f32[5,7]", "f64[4,1,6]", "i64[7]", "bool[4,3]", "c64[5]"})
      .in_place()
      .out("zero.out")
      .over_lists("_foreach_zero(Tensor[] self) -> Tensor[]");
  declare_fill_tensor(r);
  filled(r.op(with_options("scalar_tensor(Scalar s")), given("s"))
      .summary("a number as a tensor of no dims")
      .infer([](const Call& call, OutputSink& outputs) {
        require_fits(*call.find_attribute("s"), default_dtype(call));
        outputs.add(default_dtype(call), {});
      })
      .samples({"s=0.0", "s=1", "s=-2.5; dtype=f64", "s=true; dtype=bool", "s=3; dtype=i64",
                "s=1.5; dtype=c64"})
      .out("scalar_tensor.out");
}

}  // namespace factory
