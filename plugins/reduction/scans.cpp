// cumsum, cumprod and logcumsumexp: the scans of a sum, a product and a sum of exponentials.
//   cumprod(i64[4], 0) of 1 2 | 3 4, S(0) over 2 ranks: 1 2 2 2 times 1 1 3 12 = 1 2 6 24,
//   P(product) | S(0)

#include <onedim/arithmetic.hpp>

#include "log_sum.hpp"
#include "scan.hpp"

namespace reduction {
namespace {

DType scan_dtype(const Call& call) {
  const DType dtype = sum_dtype(call);
  require(!is_bool(dtype), "a scan makes no bools");
  return dtype;
}

OpBuilder& declare_scan(Registrar& r, std::string_view schema, OpBuilder::RulesFn rules) {
  return r.op(schema)
      .position_aware()
      .infer([](const Call& call, OutputSink& outputs) {
        outputs.add(scan_dtype(call), scan_shape(call));
      })
      .rules(std::move(rules))
      .cost(reduction_cost);
}

template <typename Op>
void compute_scan(const Call& call, int identity, Op op) {
  const TensorView out = call.output();
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      out.dtype(), [&]<typename C>(C) {
        using Acc = Accumulator<C>;
        const auto step = [op](const Acc& acc, const C& x, int64_t) { return op(acc, Acc(x)); };
        const std::vector<C> values = load_cast<C>(call.input(0), out.dtype());
        store_dense(scan(call, values, Acc(identity), step).data(), out);
      });
}

void declare_sum_scan(Registrar& r) {
  declare_scan(r, "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
               [](const Call& call, RuleSink& rules) {
                 scan_rules(call, rules, "sum");
                 const bool single = global_length(call) == 1;
                 add_passes(call, rules,
                            [&](const Pass& pass) { return single || pass.is_linear(); });
               })
      .summary("sums of the elements up to each one, along a dim")
      .compute(kReducible,
               [](const Call& call, const onedim_execution_t&) {
                 compute_scan(call, 0, [](const auto& a, const auto& b) { return plus(a, b); });
               })
      .samples({"f32[5,7]; dim=1", "f64[4,1,6]; dim=0", "f64[4,1,6]; dim=1", "i64[7]; dim=-1",
                "bool[5,3]; dim=0", "c64[3,5]; dim=1", "f32[5,4]; dim=0; dtype=i64",
                "bf16[6,3]; dim=0", "i32[5,2]; dim=0; dtype=f64"})
      .in_place()
      .out("cumsum.out");
}

void declare_product_scan(Registrar& r) {
  declare_scan(r, "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
               [](const Call& call, RuleSink& rules) {
                 scan_rules(call, rules, "product");
                 const bool single = global_length(call) == 1;
                 const bool is_all = is_bool(call.input(0).dtype());  // products of 0 and 1
                 if (is_all) scan_rules(call, rules, "min");
                 add_passes(call, rules, [&](const Pass& pass) {
                   return single || pass.in == "product" ||
                          (is_all && pass.in != "max" && pass.out != "max");
                 });
               })
      .summary("products of the elements up to each one, along a dim")
      .compute(kReducible,
               [](const Call& call, const onedim_execution_t&) {
                 compute_scan(call, 1, [](const auto& a, const auto& b) { return times(a, b); });
               })
      .samples({"f32[5,3]; dim=1", "f64[4,1,6]; dim=0", "f64[4,1,6]; dim=1", "i64[5]; dim=-1",
                "bool[5,3]; dim=0", "c64[3,4]; dim=1", "f32[4,2]; dim=0; dtype=i64",
                "f16[3,2]; dim=0"})
      .in_place()
      .out("cumprod.out");
}

// Complex logarithms are added one by one, as in ATen: their imaginary part is not brought back
// into one turn, so it depends on the order, and no merge over ranks gives the same.
std::complex<double> add_logs(const std::complex<double>& a, const std::complex<double>& b) {
  if (b.real() < a.real()) return add_logs(b, a);
  if (std::isnan(a.real()) || std::isnan(a.imag())) return a;
  if (std::isinf(a.real()) && a.real() < 0) return b;
  return b + std::log(1.0 + std::exp(a - b));
}

// Calls use(sums) with the (max, sum of exp) up to each element.
template <typename Use>
void scan_log_sums(const Call& call, Use use) {
  const auto step = [](const LogSum<double>& acc, double x, int64_t) {
    return merge(acc, LogSum<double>(x));
  };
  use(scan(call, load_dense<double>(call.input(0)), LogSum<double>(), step));
}

void compute_log_scan(const Call& call, const onedim_execution_t&) {
  if (!is_complex(call.output().dtype()))
    return scan_log_sums(call, [&](const auto& sums) { store_logs(sums, call.output()); });
  using Complex = std::complex<double>;
  const auto step = [](const Complex& acc, const Complex& x, int64_t) { return add_logs(acc, x); };
  const Complex nothing = -std::numeric_limits<double>::infinity();
  store_dense(scan(call, load_dense<Complex>(call.input(0)), nothing, step).data(), call.output());
}

void declare_log_scan(Registrar& r) {
  declare_log_sum_kind(r, "reduction.logcumsumexp", [](const Call& call, States states) {
    scan_log_sums(call, [&](const auto& sums) { store_log_sums(sums, states); });
  });
  declare_scan(r, "logcumsumexp(Tensor self, int dim) -> Tensor",
               [](const Call& call, RuleSink& rules) {
                 const bool merges = !is_complex(call.output().dtype());
                 scan_rules(call, rules, merges ? "reduction.logcumsumexp" : "");
                 const bool single = global_length(call) == 1;
                 add_passes(call, rules, [&](const Pass&) { return single; });
               })
      .infer([](const Call& call, OutputSink& outputs) {
        const DType dtype = call.input(0).dtype();
        require(category(dtype) >= 2, "self must be a float or complex tensor");
        outputs.add(dtype, scan_shape(call));
      })
      .summary("logarithms of the sums of exponentials up to each element, along a dim")
      .compute(kReducible, compute_log_scan)
      .samples({"f32[5,7]; dim=1", "f64[4,1,6]; dim=0", "f64[4,1,6]; dim=1", "f64[7]; dim=-1",
                "bf16[5,3]; dim=0", "c64[3,4]; dim=1"})
      .out("logcumsumexp.out");
}

}  // namespace

void declare_scans(Registrar& r) {
  declare_sum_scan(r);
  declare_product_scan(r);
  declare_log_scan(r);
}

}  // namespace reduction
