// addmm, baddbmm, linear: beta times a bias that broadcasts, plus alpha times a product. The
// product is a sum over k and linear in each operand beside a whole other one; where it is P(sum),
// the bias must be too, for a whole one would be added once a rank. A max or min of the bias is
// only shifted by a whole product. A factor of 0 leaves its side out.
//   addmm f64[3], f64[4,6], f64[6,3]: S(0) | R, S(0), R;  S(1) | S(0), R, S(1);
//   P(sum) | P(sum), S(1), S(0);  P(max) | P(max), R, R;  no P(sum) | R, S(1), S(0)

#include "biased.hpp"
#include "families.hpp"
#include "product.hpp"

namespace matrix {
namespace {

// beta and alpha of a call; integers take integer factors only, as in ATen.
Bias factors(const Call& call) {
  Bias bias;
  for (const char* name : {"beta", "alpha"}) {
    const onedim_value_t* value = call.find_attribute(name);
    const DType dtype = number_dtype(*value);
    const DType self = call.input(0).dtype();
    require(category(dtype) <= std::max(category(self), 1),
            "beta and alpha must not be of a wider kind than the tensors");
    (name[0] == 'b' ? bias.beta : bias.alpha) = call.attribute<std::complex<double>>(name);
  }
  return bias;
}

template <typename C>
C factor_as(const std::complex<double>& factor) {
  if constexpr (std::is_integral_v<C> || std::is_floating_point_v<C>)
    return static_cast<C>(factor.real());
  else
    return C(factor);
}

// `bias` with the dims of `out`: strides 0 where it is broadcast.
template <typename C>
std::vector<C> broadcast_dense(const TensorView& bias, const TensorView& out) {
  std::vector<int64_t> strides(static_cast<size_t>(out.ndim()), 0);
  for (int own = 0; own < bias.ndim(); ++own) {
    if (bias.size(own) != 1) strides[own + out.ndim() - bias.ndim()] = bias.stride(own);
  }
  return load_dense<C>(
      Rearranged(bias.dtype(), bias.data(), shape_of(out), std::move(strides)).view());
}

struct Sizes {
  int64_t batch = 1, m = 1, n = 1, k = 1;
};

// out = beta * bias + alpha * product; a factor of 0 leaves its side unread.
template <typename C>
void store_affine(const Call& call, const Bias& bias, std::vector<C> product) {
  const TensorView out = call.output();
  const C alpha = factor_as<C>(bias.alpha), beta = factor_as<C>(bias.beta);
  if (alpha != C(1)) {
    for (C& value : product) value = times(alpha, value);
  }
  if (bias.slot >= 0 && bias.beta != 0.0) {
    const std::vector<C> added = broadcast_dense<C>(call.input(bias.slot), out);
    for (size_t i = 0; i < product.size(); ++i)
      product[i] = plus(product[i], times(beta, added[i]));
  }
  store_dense(product.data(), out);
}

void require_broadcast(const Call& call, int slot, const Shape& shape) {
  if (slot < 0 || broadcast(shape, call.input(slot).shape()) == shape) return;
  fail("a bias of shape " + format_shape(call.input(slot).shape()) +
       " does not broadcast to the product's shape " + format_shape(shape));
}

void compute_affine(const Call& call, const onedim_execution_t& execution) {
  const Bias bias = factors(call);
  const TensorView a = call.input(1), b = call.input(2);
  const int last = a.ndim() - 1;
  const Sizes size{last == 2 ? a.size(0) : 1, a.size(last - 1), b.size(last), a.size(last)};
  with_product_type(a.dtype(), [&]<typename C>(C) {
    std::vector<C> product(static_cast<size_t>(size.batch * size.m * size.n), C(0));
    if (bias.alpha != 0.0)
      multiply(Dense<C>(a).data(), Dense<C>(b).data(), product.data(), size.batch, size.m, size.n,
               size.k, execution.thread_count);
    store_affine(call, bias, std::move(product));
  });
}

OpBuilder& declare(Registrar& r, std::string_view schema, std::string equation) {
  return r.op(schema)
      .infer([equation](const Call& call, OutputSink& outputs) {
        require_one_dtype(call);
        const Shape shape = product_shape(call, equation, 1);
        require_broadcast(call, 0, shape);
        outputs.add(call.input(0).dtype(), shape);
      })
      .rules([equation](const Call& call, RuleSink& rules) {
        biased_rules(call, rules, equation, factors(call));
      })
      .compute(kMultipliable, compute_affine)
      .cost([equation](const Call& call, onedim_cost_t& cost) {
        einsum_cost(call, bind_einsum(equation, call, 1), cost);
      })
      .in_place();
}

// The weight is a matrix of out x in features, or one row of them.
std::string_view linear_equation(const Call& call) {
  return call.tensor("weight").ndim() == 1 ? "...k,k->..." : "...k,nk->...n";
}

Bias linear_bias(const Call& call) {
  return {call.has_tensor("bias") ? call.slot("bias") : -1, 0, 1, 1};
}

void compute_linear(const Call& call, const onedim_execution_t& execution) {
  const TensorView input = call.input(0), weight = call.input(1);
  const bool is_row = weight.ndim() == 1;
  const int64_t n = is_row ? 1 : weight.size(0), k = weight.size(weight.ndim() - 1);
  const int64_t stride_k = weight.stride(weight.ndim() - 1);
  const int64_t stride_n = is_row ? 0 : weight.stride(0);
  int64_t m = 1;
  for (int dim = 0; dim + 1 < input.ndim(); ++dim) m *= input.size(dim);
  const Rearranged transposed(weight.dtype(), weight.data(), {k, n}, {stride_k, stride_n});
  with_product_type(input.dtype(), [&]<typename C>(C) {
    std::vector<C> product(static_cast<size_t>(m * n));
    multiply(Dense<C>(input).data(), Dense<C>(transposed.view()).data(), product.data(), 1, m, n, k,
             execution.thread_count);
    store_affine(call, linear_bias(call), std::move(product));
  });
}

void declare_linear(Registrar& r) {
  r.op("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
      .summary("input times the transposed weight, plus bias")
      .infer([](const Call& call, OutputSink& outputs) {
        require_one_dtype(call);
        const int ndim = call.tensor("weight").ndim();
        require(call.tensor("input").ndim() > 0,
                "input has no dims, expected features in the last");
        require(ndim == 1 || ndim == 2, "the weight must have one or two dims");
        const Shape shape = product_shape(call, linear_equation(call));
        require_broadcast(call, linear_bias(call).slot, shape);
        outputs.add(call.input(0).dtype(), shape);
      })
      .rules([](const Call& call, RuleSink& rules) {
        const Bias bias = linear_bias(call);
        if (bias.slot < 0) return einsum_rules(call, rules, linear_equation(call));
        biased_rules(call, rules, linear_equation(call), bias);
      })
      .compute(kMultipliable, compute_linear)
      .cost([](const Call& call, onedim_cost_t& cost) {
        einsum_cost(call, bind_einsum(linear_equation(call), call), cost);
      })
      .samples({"f32[5,7]; f32[3,7]; f32[3]", "f64[4,6]; f64[5,6]", "f64[2,3,5]; f64[4,5]; f64[4]",
                "f64[4,1]; f64[3,1]", "f32[7]; f32[5,7]; f32[5]", "f64[4,5]; f64[1,5]; f64[1]",
                "f64[4,5]; f64[5]", "c64[3,4]; c64[5,4]; c64[5]", "i64[4,3]; i64[5,3]; i64[5]",
                "bf16[3,1,4]; bf16[5,4]; bf16[5]"})
      .out("linear.out");
}

}  // namespace

void declare_affine(Registrar& r) {
  declare(r,
          "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> "
          "Tensor",
          "mk,kn->mn")
      .summary("beta * self + alpha * product of two matrices")
      .samples({"f32[5,3]; f32[5,7]; f32[7,3]", "f64[5]; f64[4,6]; f64[6,5]",
                "f64[4,1]; f64[4,3]; f64[3,5]; beta=-1", "f64[4,5]; f64[4,3]; f64[3,5]; beta=0",
                "f64[5]; f64[4,3]; f64[3,5]; beta=0", "f64[4,5]; f64[4,3]; f64[3,5]; alpha=0",
                "f64[4,5]; f64[4,3]; f64[3,5]; beta=0.5; alpha=-2",
                "i64[4,3]; i64[4,5]; i64[5,3]; beta=3; alpha=2",
                "c64[3,4]; c64[3,2]; c64[2,4]; beta=2; alpha=-1",
                "f64[4,3]; f64[4,1]; f64[1,3]; beta=0", "f64[4,3]; f64[4,1]; f64[1,3]",
                "bf16[3]; bf16[4,5]; bf16[5,3]", "f64[]; f64[4,5]; f64[5,3]; beta=2"})
      .out("addmm.out");
  declare(r,
          "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) "
          "-> Tensor",
          "bmk,bkn->bmn")
      .summary("beta * self + alpha * products of two batches of matrices")
      .samples({"f32[3,4,2]; f32[3,4,5]; f32[3,5,2]", "f64[4,1,3]; f64[4,2,5]; f64[4,5,3]",
                "f64[3]; f64[4,2,5]; f64[4,5,3]; beta=-2",
                "f64[2,3]; f64[4,2,5]; f64[4,5,3]; beta=0",
                "i8[2,3,2]; i8[2,3,3]; i8[2,3,2]; alpha=0",
                "f64[4,2,3]; f64[4,2,5]; f64[4,5,3]; beta=-1",
                "i64[3,2,4]; i64[3,2,3]; i64[3,3,4]; beta=2", "c64[2,3,2]; c64[2,3,4]; c64[2,4,2]"})
      .out("baddbmm.out");
  declare_linear(r);
}

}  // namespace matrix
