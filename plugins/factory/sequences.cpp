// Tensors whose elements follow from their index: arange and linspace, eye. Each rank is told which
// global indices it holds, so every dim may be sharded in any way.
//   arange(5), S(0) over 2 ranks: rank 1 holds the indices 3 and 4, hence the values 3 and 4

#include <array>
#include <cmath>
#include <cstdio>

#include "families.hpp"

namespace factory {
namespace {

void shard_rules(const Call& call, RuleSink& rules) {
  for (int dim = 0; dim < call.output().ndim(); ++dim) {
    const Placement out = any_shard(dim);
    rules.add(std::span(&out, 1), {});
  }
}

// 0 and 1 everywhere: equal flags are a split of their product.
void flag_rules(const Call& call, RuleSink& rules) {
  shard_rules(call, rules);
  const Placement out = partial("product");
  if (is_legal_partial("product", call.output().dtype())) rules.add(std::span(&out, 1), {});
}

void write_cost(const Call& call, onedim_cost_t& cost) {
  cost.flops = static_cast<double>(call.output().element_count());
  cost.bytes = cost.flops * static_cast<double>(size_of(call.output().dtype()));
}

// A number argument of the call, or what it is where the overload has none.
onedim_value_t number_or(const Call& call, std::string_view name, int64_t otherwise) {
  const onedim_value_t* value = call.find_attribute(name);
  if (value != nullptr && value->kind != ONEDIM_VALUE_NONE) return *value;
  return always(otherwise)(call);
}
double as_double(const onedim_value_t& value) { return detail::read_value<double>(value, "range"); }
int64_t as_integer(const onedim_value_t& value) {
  return value.kind == ONEDIM_VALUE_FLOAT ? detail::to_integer<int64_t>(value.real) : value.integer;
}

std::string number_text(const onedim_value_t& value) {
  if (value.kind != ONEDIM_VALUE_FLOAT) return std::to_string(value.integer);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value.real);
  return text.data();
}

struct Range {
  onedim_value_t start, end, step;
  DType dtype = DType::kF32;

  explicit Range(const Call& call)
      : start(number_or(call, "start", 0)),
        end(number_or(call, "end", 0)),
        step(number_or(call, "step", 1)) {
    const auto is_integer = [](const onedim_value_t& value) {
      return value.kind == ONEDIM_VALUE_INT || value.kind == ONEDIM_VALUE_BOOL;
    };
    const bool all = is_integer(start) && is_integer(end) && is_integer(step);
    dtype = dtype_or(call, all ? DType::kI64 : DType::kF32);
  }
  bool counts_in_integers() const { return category(dtype) == 1; }
  int64_t length() const;
};

int64_t Range::length() const {
  require(category(dtype) == 1 || is_floating(dtype), "arange makes integers and floats only");
  double from = as_double(start), to = as_double(end), by = as_double(step);
  if (counts_in_integers()) {
    from = static_cast<double>(as_integer(start));
    to = static_cast<double>(as_integer(end));
    by = static_cast<double>(as_integer(step));
  }
  require(by > 0 || by < 0, "step must be nonzero");
  require(std::isfinite(from) && std::isfinite(to), "start and end must be finite");
  if (by > 0 ? to < from : to > from) {
    fail("step " + number_text(step) + " does not lead from start " + number_text(start) +
         " to end " + number_text(end) + ", expected a step towards the end");
  }
  if (dtype == DType::kI64) {
    const int64_t stride = as_integer(step), sign = stride > 0 ? 1 : -1;
    return (as_integer(end) - as_integer(start) + stride - sign) / stride;
  }
  const double size = std::ceil((as_double(end) - as_double(start)) / as_double(step));
  require(size >= 0 && size < 0x1p62, "the range has too many elements");
  return static_cast<int64_t>(size);
}

void compute_range(const Call& call, const onedim_execution_t&) {
  const Range range(call);
  const std::vector<int64_t> at = global_indices(call, true, 0, 0);
  if (range.counts_in_integers()) {
    std::vector<int64_t> values(at.size());
    const auto start = static_cast<uint64_t>(as_integer(range.start));
    const auto step = static_cast<uint64_t>(as_integer(range.step));
    for (size_t i = 0; i < at.size(); ++i)
      values[i] = static_cast<int64_t>(start + step * static_cast<uint64_t>(at[i]));
    return store_dense(values.data(), call.output());
  }
  std::vector<double> values(at.size());
  for (size_t i = 0; i < at.size(); ++i)
    values[i] = as_double(range.start) + as_double(range.step) * static_cast<double>(at[i]);
  store_dense(values.data(), call.output());
}

OpBuilder& declare_range(Registrar& r, std::string_view head) {
  return r.op(with_options(head))
      .position_aware()
      .infer([](const Call& call, OutputSink& outputs) {
        const Range range(call);
        outputs.add(range.dtype, local_output_shape(call, 0, {range.length()}));
      })
      .rules(shard_rules)
      .compute(kAllDTypes, compute_range)
      .cost(write_cost);
}

// Counted from both ends, so that the last element is `end` exactly.
template <typename C>
void compute_linspace(const Call& call) {
  const bool whole = category(call.output().dtype()) == 1;
  const auto bound = [&](std::string_view name) {
    const onedim_value_t value = number_or(call, name, 0);
    if constexpr (std::is_floating_point_v<C>) {
      return whole ? static_cast<C>(as_integer(value)) : static_cast<C>(as_double(value));
    } else {
      return C(detail::read_value<std::complex<double>>(value, name));
    }
  };
  const C start = bound("start"), end = bound("end");
  const int64_t steps = call.attribute<int64_t>("steps");
  using Real = decltype(std::abs(C{}));
  const C step = steps > 1 ? (end - start) / static_cast<Real>(steps - 1) : C(0);
  std::vector<C> values;
  for (const int64_t i : global_indices(call, true, 0, 0)) {
    const bool first_half = i < steps / 2 || steps == 1;
    values.push_back(first_half ? start + step * static_cast<Real>(i)
                                : end - step * static_cast<Real>(steps - 1 - i));
  }
  store_dense(values.data(), call.output());
}

void declare_linspace(Registrar& r) {
  r.op(with_options("linspace(Scalar start, Scalar end, int steps"))
      .summary("`steps` numbers from start to end, evenly spaced")
      .position_aware()
      .infer([](const Call& call, OutputSink& outputs) {
        const int64_t steps = call.attribute<int64_t>("steps");
        if (steps < 0) fail("steps is " + std::to_string(steps) + ", expected at least 0");
        const bool is_complex_range = call.find_attribute("start")->kind == ONEDIM_VALUE_COMPLEX ||
                                      call.find_attribute("end")->kind == ONEDIM_VALUE_COMPLEX;
        const DType dtype = dtype_or(call, is_complex_range ? DType::kC64 : DType::kF32);
        require(!is_bool(dtype), "linspace makes no bools");
        outputs.add(dtype, local_output_shape(call, 0, {steps}));
      })
      .rules(shard_rules)
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 const DType dtype = call.output().dtype();
                 const DType at = category(dtype) == 1 ? DType::kF64 : dtype;
                 with_compute_type<float, double, std::complex<float>, std::complex<double>>(
                     at, [&]<typename C>(C) { compute_linspace<C>(call); });
               })
      .cost(write_cost)
      .samples({"start=0; end=1; steps=5", "start=-2.5; end=3; steps=7; dtype=f64",
                "start=0; end=10; steps=6; dtype=i64", "start=1; end=5; steps=1",
                "start=3; end=-1; steps=4; dtype=bf16", "start=0; end=1; steps=5; dtype=c64"})
      .out("linspace.out");
}

OpBuilder& declare_eye(Registrar& r, std::string_view head) {
  return r.op(with_options(head))
      .summary("ones on the diagonal, zeros elsewhere")
      .position_aware()
      .infer([](const Call& call, OutputSink& outputs) {
        const int64_t n = call.attribute<int64_t>("n");
        const int64_t m = call.has_attribute("m") ? call.attribute<int64_t>("m") : n;
        if (n < 0 || m < 0)
          fail("the matrix would be " + format_shape(Shape{n, m}) +
               ", expected n and m of at least 0");
        outputs.add(dtype_or(call, DType::kF32), local_output_shape(call, 0, {n, m}));
      })
      .rules(flag_rules)
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 const std::vector<int64_t> columns = global_indices(call, true, 0, 1);
                 std::vector<float> values;
                 for (const int64_t row : global_indices(call, true, 0, 0)) {
                   for (const int64_t column : columns) values.push_back(row == column ? 1 : 0);
                 }
                 store_dense(values.data(), call.output());
               })
      .cost(write_cost);
}

}  // namespace

void declare_sequences(Registrar& r) {
  declare_range(r, "arange(Scalar end")
      .summary("0, 1, 2, ... below end")
      .samples({"end=5", "end=7; dtype=f32", "end=4.5", "end=6; dtype=bf16", "end=1", "end=0"});
  declare_range(r, "arange.start(Scalar start, Scalar end")
      .summary("start, start + 1, ... below end")
      .samples({"start=2; end=7", "start=-3; end=4; dtype=f64", "start=0.5; end=6",
                "start=1; end=7; dtype=i32", "start=3; end=4"});
  declare_range(r, "arange.start_step(Scalar start, Scalar end, Scalar step=1")
      .summary("start, start + step, ... before end")
      .samples({"start=0; end=10; step=2", "start=5; end=-2; step=-1", "start=0; end=7",
                "start=0; end=1; step=0.25; dtype=f64", "start=1; end=20; step=3; dtype=i16",
                "start=0; end=8; step=1; dtype=f16"});
  r.variant("arange.out(Scalar end, *, Tensor(a!) out) -> Tensor(a!)", "arange");
  r.variant(
      "arange.start_out(Scalar start, Scalar end, Scalar step=1, "
      "*, Tensor(a!) out) -> Tensor(a!)",
      "arange.start_step");
  declare_linspace(r);
  declare_eye(r, "eye(SymInt n")
      .samples({"n=5", "n=4; dtype=f64", "n=7; dtype=i64", "n=1", "n=3; dtype=bool",
                "n=6; dtype=c64", "n=6"});
  r.variant("eye.out(SymInt n, *, Tensor(a!) out) -> Tensor(a!)", "eye");
  declare_eye(r, "eye.m(SymInt n, SymInt m")
      .samples({"n=5; m=7", "n=4; m=1; dtype=f64", "n=7; m=2; dtype=i64", "n=1; m=6",
                "n=3; m=5; dtype=bool", "n=6; m=3; dtype=f16", "n=2; m=4"});
  r.variant("eye.m_out(SymInt n, SymInt m, *, Tensor(a!) out) -> Tensor(a!)", "eye.m");
}

}  // namespace factory
