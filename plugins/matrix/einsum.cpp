// einsum of any equation: sums, over the letters that the output lacks, of products of one element
// of each operand. A letter that is cut everywhere cuts the output, or leaves a sum of parts where
// it is summed. Each operand may be P(sum) alone, not two, whose cross terms between ranks would be
// missing. Products pass in all at once, where nothing is summed. Operands are contracted from left
// to right, letters that nothing needs any more are summed at once.
//   "ij,jk->ik" of f64[4,6], f64[6,3]: S(0) | S(0), R;  P(sum) | S(1), S(0);  P(sum) | P(sum), R.
//   "ij,ij->ij" of f64[4,6] twice: S(0) | S(0), S(0);  P(product) | P(product), P(product)

#include <onedim/memory_format.hpp>

#include "families.hpp"
#include "product.hpp"

namespace matrix {
namespace {

constexpr std::string_view kSchema =
    "einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor";

Einsum bind(const Call& call) {
  std::vector<std::span<const int64_t>> shapes;
  for (const TensorView& tensor : call.tensors("tensors")) shapes.push_back(tensor.shape());
  require(!shapes.empty(), "an einsum needs at least one tensor");
  return bind_einsum(call.attribute<std::string_view>("equation"), std::move(shapes),
                     operand_names(call));
}

bool has(const std::string& letters, char letter) { return letters.find(letter) != letters.npos; }
std::string intersect(const std::string& a, const std::string& b) {
  std::string both;
  for (char letter : a) both += has(b, letter) ? std::string(1, letter) : "";
  return both;
}
std::string subtract(const std::string& a, const std::string& b) {
  std::string rest;
  for (char letter : a) rest += has(b, letter) ? "" : std::string(1, letter);
  return rest;
}

// Dense elements with one dim a letter, each of the equation's size.
template <typename C>
struct Term {
  std::string letters;
  std::vector<C> values;
};

int64_t count_of(const Einsum& einsum, const std::string& letters) {
  int64_t count = 1;
  for (char letter : letters) count *= einsum.size(letter);
  return count;
}

Shape shape_in(const Einsum& einsum, const std::string& letters) {
  Shape shape;
  for (char letter : letters) shape.push_back(einsum.size(letter));
  return shape;
}

// An operand with its repeated letters on the diagonal and size 1 stretched.
template <typename C>
Term<C> load_term(const Einsum& einsum, size_t k, const TensorView& tensor) {
  const std::string& dims = einsum.operands[k];
  std::string letters;
  for (char letter : dims) letters += has(letters, letter) ? "" : std::string(1, letter);
  std::vector<int64_t> strides(letters.size(), 0);
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (tensor.size(static_cast<int>(dim)) != 1)
      strides[letters.find(dims[dim])] += tensor.stride(static_cast<int>(dim));
  }
  const Rearranged view(tensor.dtype(), tensor.data(), shape_in(einsum, letters), strides);
  return {letters, load_dense<C>(view.view())};
}

template <typename C>
Term<C> permute(const Einsum& einsum, const Term<C>& term, const std::string& letters) {
  if (term.letters == letters) return term;
  std::vector<int64_t> strides(letters.size());
  int64_t step = 1;
  for (size_t dim = term.letters.size(); dim-- > 0;) {
    strides[letters.find(term.letters[dim])] = step;
    step *= einsum.size(term.letters[dim]);
  }
  const Rearranged view(dtype_of<C>(), term.values.data(), shape_in(einsum, letters), strides);
  return {letters, load_dense<C>(view.view())};
}

template <typename C>
Term<C> sum_all_but(const Einsum& einsum, const Term<C>& term, const std::string& needed) {
  const std::string kept = intersect(term.letters, needed), summed = subtract(term.letters, needed);
  if (summed.empty()) return term;
  const Term<C> rows = permute(einsum, term, kept + summed);
  const int64_t length = count_of(einsum, summed);
  Term<C> sums{kept, std::vector<C>(static_cast<size_t>(count_of(einsum, kept)))};
  const C* row = rows.values.data();
  for (C& sum : sums.values) {
    Accumulator<C> total(0);
    for (int64_t i = 0; i < length; ++i) total = plus(total, Accumulator<C>(row[i]));
    sum = static_cast<C>(total);
    row += length;
  }
  return sums;
}

template <typename C>
Term<C> contract(const Einsum& einsum, const Term<C>& left, const Term<C>& right,
                 const std::string& needed, int threads) {
  const Term<C> a = sum_all_but(einsum, left, needed + right.letters);
  const Term<C> b = sum_all_but(einsum, right, needed + left.letters);
  const std::string shared = intersect(a.letters, b.letters);
  const std::string batch = intersect(shared, needed), inner = subtract(shared, needed);
  const std::string rows = subtract(a.letters, shared), columns = subtract(b.letters, shared);
  const Term<C> x = permute(einsum, a, batch + rows + inner);
  const Term<C> y = permute(einsum, b, batch + inner + columns);
  Term<C> product{batch + rows + columns, {}};
  product.values.resize(static_cast<size_t>(count_of(einsum, product.letters)));
  multiply(x.values.data(), y.values.data(), product.values.data(), count_of(einsum, batch),
           count_of(einsum, rows), count_of(einsum, columns), count_of(einsum, inner), threads);
  return product;
}

void compute_einsum(const Call& call, const onedim_execution_t& execution) {
  const Einsum einsum = bind(call);
  const std::vector<TensorView> tensors = call.tensors("tensors");
  with_product_type(call.output().dtype(), [&]<typename C>(C) {
    Term<C> term = load_term<C>(einsum, 0, tensors[0]);
    for (size_t k = 1; k < tensors.size(); ++k) {
      std::string needed = einsum.output;
      for (size_t later = k + 1; later < tensors.size(); ++later) needed += einsum.operands[later];
      term = contract(einsum, term, load_term<C>(einsum, k, tensors[k]), needed,
                      execution.thread_count);
    }
    term = permute(einsum, sum_all_but(einsum, term, einsum.output), einsum.output);
    store_dense(term.values.data(), call.output());
  });
}

// Whether the letter is summed within one operand, before any product.
bool is_summed_alone(const Einsum& einsum, char letter) {
  const size_t count = einsum.operands.size();
  size_t holders = 0;
  for (size_t k = 0; k < count; ++k) {
    const size_t dim = einsum.operands[k].find(letter);
    holders += dim != std::string::npos && (count == 1 || einsum.shapes[k][dim] != 1);
  }
  return einsum.is_summed(letter) && holders == 1;
}

// Such sums of integers are i64, as ATen's sum is; products keep their dtype.
DType einsum_dtype(const Call& call, const Einsum& einsum) {
  const DType dtype = call.input(0).dtype();
  if (einsum.operands.size() > 1 && is_bool(dtype))
    fail("no product of bools", ONEDIM_STATUS_UNIMPLEMENTED);
  const std::string letters = einsum.letters();
  const bool sums = std::any_of(letters.begin(), letters.end(),
                                [&](char letter) { return is_summed_alone(einsum, letter); });
  return sums && category(dtype) < 2 ? DType::kI64 : dtype;
}

// Those of ATen's bmm of what came before with the last operand, seen in the output's order: dims
// of both lie outermost, then those of what came before, then those of the last operand alone.
// Newer ATen at times turns the two around; exported graphs have weights' gradients `abn,abk->kn`
// as here, so that their transposes lie as the weights do.
Shape einsum_strides(const Einsum& einsum, const Shape& shape) {
  const size_t last = einsum.operands.size() - 1;
  if (last == 0) return {};
  const auto has_dim = [&](size_t k, char letter) {
    const size_t dim = einsum.operands[k].find(letter);
    return dim != std::string::npos && (einsum.shapes[k][dim] != 1 || einsum.size(letter) == 1);
  };
  std::array<std::vector<int>, 3> groups;
  for (size_t dim = 0; dim < einsum.output.size(); ++dim) {
    const char letter = einsum.output[dim];
    bool is_before = false;
    for (size_t k = 0; k < last; ++k) is_before = is_before || has_dim(k, letter);
    const size_t group = !is_before ? 2 : has_dim(last, letter) ? 0 : 1;
    groups[group].push_back(static_cast<int>(dim));
  }
  std::vector<int> order;
  for (const std::vector<int>& group : groups)
    order.insert(order.end(), group.begin(), group.end());
  std::reverse(order.begin(), order.end());
  return dense_strides(shape, order);
}

}  // namespace

void declare_einsum(Registrar& r) {
  r.op(kSchema)
      .summary("sum of products by an equation over dims")
      .infer([](const Call& call, OutputSink& outputs) {
        require_one_dtype(call);
        const Einsum einsum = bind(call);
        Shape shape = einsum.output_shape();
        Shape strides = einsum_strides(einsum, shape);
        outputs.add(
            Output{einsum_dtype(call, einsum), std::move(shape), std::move(strides), -1, 0});
      })
      .rules([](const Call& call, RuleSink& rules) {
        for (const EinsumStrategy& strategy : einsum_strategies(bind(call)))
          rules.add(std::span(&strategy.output, 1), strategy.operands);
      })
      .compute(kMultipliable | uint64_t{1} << ONEDIM_DTYPE_BOOL, compute_einsum)
      .cost([](const Call& call, onedim_cost_t& cost) { einsum_cost(call, bind(call), cost); })
      .samples({R"([f32[5,7]; f32[7,3]]; equation="ij,jk->ik")",
                R"([f64[2,3,5]; f64[4,5]]; equation="...k,nk->...n")",
                R"([f64[4,2,3]; f64[4,3,5]]; equation="bij, bjk")",
                R"([f64[5,4]]; equation="ij->ji")", R"([f64[5,4]]; equation="ij->i")",
                R"([f64[5,5]]; equation="ii->i")", R"([f64[5,5]]; equation="ii")",
                R"([f64[4,3]; f64[4,3]]; equation="Ij,Ij->")",
                R"([f64[4,3]; f64[4,3]]; equation="ij,ij->ij")",
                R"([f64[5]; f64[4]]; equation="i,j->ij")",
                R"([f64[3,4]; f64[4,2]; f64[2,5]]; equation="ij,jk,kl->il")",
                R"([f64[4,1]; f64[4,5]]; equation="ij,ij->j")",
                R"([f64[3,1,4]; f64[2,4]]; equation="...i,...i->...")",
                R"([i64[5,3]; i64[3,4]]; equation="ij,jk->ki")", R"([i64[4,3]]; equation="ij->j")",
                R"([c64[3,4]; c64[4,2]]; equation="ij,jk->ik")",
                R"([bool[4,3]]; equation="ij->ji")", R"([bf16[3,4]; bf16[4]]; equation="ij,j")"});
}

}  // namespace matrix
