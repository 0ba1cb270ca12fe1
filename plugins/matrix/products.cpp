// t, mm, bmm, mv, dot, vdot, outer: each is one equation (onedim/einsum.hpp), as mm is mk,kn->mn. A
// cut m or n cuts the output, a cut k leaves parts of its sum. A product is linear in each operand
// beside a whole other one; max and min do not pass, as a factor of unknown sign may turn the
// order. outer sums nothing, so products pass in both; t is a view, which passes every partial.
//   mm f64[4,6], f64[6,3] -> [4,3]: S(0) | S(0), R;  S(1) | R, S(1);  P(sum) | S(1), S(0);
//   P(sum) | R, P(sum);  no P(sum) | P(sum), P(sum).  outer f64[5], f64[3] -> [5,3]:
//   P(product) | P(product), P(product)

#include "families.hpp"
#include "product.hpp"

namespace matrix {
namespace {

// Operands as batches of matrices: the last two dims of 2-D and 3-D tensors.
void compute_matmul(const Call& call, const onedim_execution_t& execution) {
  const TensorView a = call.input(0), b = call.input(1), out = call.output();
  const int last = a.ndim() - 1;
  const int64_t batch = last == 2 ? a.size(0) : 1;
  with_product_type(a.dtype(), [&]<typename C>(C) {
    std::vector<C> product(static_cast<size_t>(out.element_count()));
    multiply(Dense<C>(a).data(), Dense<C>(b).data(), product.data(), batch, a.size(last - 1),
             b.size(last), a.size(last), execution.thread_count);
    store_dense(product.data(), out);
  });
}

// A vector as a matrix of one column, or two vectors as a column and a row.
void compute_with_vector(const Call& call, const onedim_execution_t& execution) {
  const TensorView a = call.input(0), b = call.input(1), out = call.output();
  const int64_t k = a.ndim() == 2 ? a.size(1) : 1, n = a.ndim() == 2 ? 1 : b.size(0);
  with_product_type(a.dtype(), [&]<typename C>(C) {
    std::vector<C> product(static_cast<size_t>(out.element_count()));
    multiply(Dense<C>(a).data(), Dense<C>(b).data(), product.data(), 1, a.size(0), n, k,
             execution.thread_count);
    store_dense(product.data(), out);
  });
}

template <typename Acc>
Acc conjugate(const Acc& value) {
  if constexpr (std::is_integral_v<Acc> || std::is_floating_point_v<Acc>)
    return value;
  else
    return std::conj(value);
}

// The sum of products; of the conjugates of the first where `is_conjugated`.
void compute_dot(const Call& call, bool is_conjugated) {
  const TensorView a = call.input(0), b = call.input(1);
  with_product_type(a.dtype(), [&]<typename C>(C) {
    using Acc = Accumulator<C>;
    const Dense<C> left(a), right(b);
    Acc sum(0);
    for (int64_t i = 0; i < a.size(0); ++i) {
      const Acc first(left.data()[i]);
      sum = plus(sum, times(is_conjugated ? conjugate(first) : first, Acc(right.data()[i])));
    }
    store_dense(&sum, call.output());
  });
}

OpBuilder& declare(Registrar& r, std::string_view schema, std::string equation) {
  return r.op(schema)
      .einsum(equation)
      .compute(kMultipliable, compute_matmul)
      .cost([equation](const Call& call, onedim_cost_t& cost) {
        einsum_cost(call, bind_einsum(equation, call), cost);
      });
}

void declare_transpose(Registrar& r) {
  r.op("t(Tensor(a) self) -> Tensor(a)")
      .summary("view with the two dims swapped; 0-D and 1-D tensors stay as they are")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.input(0);
        require(self.ndim() <= 2, "self has more than two dims, expected a matrix");
        Output view{
            self.dtype(), shape_of(self), {self.strides().begin(), self.strides().end()}, 0, 0};
        std::reverse(view.shape.begin(), view.shape.end());
        std::reverse(view.strides.begin(), view.strides.end());
        outputs.add(view);
      })
      .rules([](const Call& call, RuleSink& rules) {
        const int ndim = call.input(0).ndim();
        einsum_rules(call, rules, ndim == 2 ? "ij->ji" : ndim == 1 ? "i->i" : "->");
      })
      .compute(kAllDTypes, [](const Call&, const onedim_execution_t&) {})
      .cost([](const Call&, onedim_cost_t&) {})
      .samples({"f32[5,7]", "f64[4,6]", "i64[5,3]", "bool[4,5]", "c64[3,5]", "bf16[4,1]", "f64[7]",
                "f64[]"});
}

}  // namespace

void declare_products(Registrar& r) {
  declare_transpose(r);
  declare(r, "mm(Tensor self, Tensor mat2) -> Tensor", "mk,kn->mn")
      .summary("product of two matrices")
      .samples({"f32[5,7]; f32[7,3]", "f64[4,6]; f64[6,5]", "i64[5,4]; i64[4,3]",
                "c64[3,5]; c64[5,2]", "f64[4,5]; f64[5,1]", "f64[5,1]; f64[1,4]",
                "i64[4,1]; i64[1,3]", "bf16[4,3]; bf16[3,5]", "f64[1,5]; f64[5,1]"})
      .out("mm.out");
  declare(r, "bmm(Tensor self, Tensor mat2) -> Tensor", "bmk,bkn->bmn")
      .summary("products of two batches of matrices")
      .samples({"f32[5,3,4]; f32[5,4,2]", "f64[4,2,5]; f64[4,5,3]", "i64[3,4,2]; i64[3,2,5]",
                "c128[2,3,5]; c128[2,5,2]", "f64[1,4,5]; f64[1,5,3]", "f64[3,4,1]; f64[3,1,5]"})
      .out("bmm.out");
  declare(r, "dot(Tensor self, Tensor tensor) -> Tensor", "i,i->")
      .summary("sum of the products of two vectors' elements")
      .compute(kMultipliable,
               [](const Call& call, const onedim_execution_t&) { compute_dot(call, false); })
      .samples({"f32[5]; f32[5]", "f64[12]; f64[12]", "i64[7]; i64[7]", "c64[4]; c64[4]",
                "f64[1]; f64[1]", "f16[6]; f16[6]"})
      .out("dot.out");
  declare(r, "vdot(Tensor self, Tensor other) -> Tensor", "i,i->")
      .summary("sum of the products of one vector's conjugates with another's elements")
      .compute(kMultipliable,
               [](const Call& call, const onedim_execution_t&) { compute_dot(call, true); })
      .samples({"f32[5]; f32[5]", "c64[7]; c64[7]", "c128[4]; c128[4]", "i64[6]; i64[6]",
                "c64[1]; c64[1]", "bf16[6]; bf16[6]"})
      .out("vdot.out");
  declare(r, "mv(Tensor self, Tensor vec) -> Tensor", "mk,k->m")
      .summary("product of a matrix and a vector")
      .compute(kMultipliable, compute_with_vector)
      .samples({"f32[5,7]; f32[7]", "f64[4,6]; f64[6]", "i64[5,3]; i64[3]", "c64[3,4]; c64[4]",
                "f64[4,1]; f64[1]", "bf16[1,5]; bf16[5]"})
      .out("mv.out");
  declare(r, "outer(Tensor self, Tensor vec2) -> Tensor", "m,n->mn")
      .summary("products of each element of one vector with each of another")
      .compute(kMultipliable, compute_with_vector)
      .samples({"f32[5]; f32[7]", "f64[4]; f64[6]", "i64[5]; i64[3]", "c64[3]; c64[4]",
                "f64[1]; f64[5]", "f16[6]; f16[1]"})
      .out("outer.out");
}

}  // namespace matrix
