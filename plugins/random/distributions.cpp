// Distributions whose parameters are numbers: the tensor that is written or copied in shape is not
// read, so it may be partial, and lie anywhere.
//   uniform(f32[4,6]): S(0) | R, S(0) | S(1), R | P(sum); its in-place form keeps the placement

#include <cmath>
#include <numbers>

#include "families.hpp"

namespace random_numbers {
namespace {

int digits_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 53;
    case DType::kF16:
      return 11;
    case DType::kBF16:
      return 8;
    default:
      return 24;
  }
}

void require_float(DType dtype) {
  require(is_floating(dtype), "only float tensors can be filled from this distribution");
}

double number(const Call& call, std::string_view name) { return call.attribute<double>(name); }

OpBuilder& declare_unread(Registrar& r, std::string_view schema, FillFn fill) {
  return r.op(schema)
      .position_aware()
      .flags(ONEDIM_OP_RANDOM)
      .infer(infer_like)
      .rules(unread_rules)
      .compute(kAllDTypes, [fill = std::move(fill)](const Call& call,
                                                    const onedim_execution_t&) { fill(call); })
      .cost([](const Call& call, onedim_cost_t& cost) { elementwise_cost(call, 40, cost); });
}

// `f(draw)` of every element of a float output.
template <typename F>
void fill_floats(const Call& call, F f) {
  require_float(call.output().dtype());
  store_dense(draw_elements(call, 0, f).data(), call.output());
}

void fill_exponential(const Call& call) {
  const double rate = number(call, "lambd");
  require(rate > 0, "lambd must be positive");
  fill_floats(call, [=](const Draw& draw) { return -std::log1p(-draw.uniform()) / rate; });
}

// How many trials of probability p until one succeeds.
void fill_geometric(const Call& call) {
  const double p = number(call, "p");
  require(p > 0 && p < 1, "p must lie between 0 and 1");
  require(!is_bool(call.output().dtype()) && !is_complex(call.output().dtype()),
          "self must be an integer or float tensor");
  const auto trials = [=](const Draw& draw) {
    return std::max(1.0, std::ceil(std::log1p(-draw.uniform()) / std::log1p(-p)));
  };
  store_dense(draw_elements(call, 0, trials).data(), call.output());
}

void fill_log_normal(const Call& call) {
  const double mean = number(call, "mean"), deviation = number(call, "std");
  require(deviation > 0, "std must be positive");
  fill_floats(call, [=](const Draw& draw) { return std::exp(mean + deviation * draw.normal()); });
}

void fill_cauchy(const Call& call) {
  const double median = number(call, "median"), sigma = number(call, "sigma");
  require(sigma > 0, "sigma must be positive");
  fill_floats(call, [=](const Draw& draw) {
    return median + sigma * std::tan(std::numbers::pi * (draw.uniform() - 0.5));
  });
}

constexpr const char* kGenerator = ", *, Generator? generator=None) -> Tensor";

std::string with_generator(std::string_view head) { return std::string(head) += kGenerator; }

std::string like(std::string_view head) {
  std::string schema(head);
  schema += ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? ";
  return schema += "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor";
}

void declare_in_tensor(Registrar& r) {
  declare_unread(
      r, with_generator("uniform(Tensor self, float from=0, float to=1"),
      [](const Call& call) { fill_uniform(call, number(call, "from"), number(call, "to")); })
      .summary("numbers evenly spread over [from, to)")
      .samples({"f32[5,7]", "f64[4,1,6]; from=-2; to=3", "bf16[7]", "f16[5,3]", "f64[]"})
      .in_place()
      .out("uniform.out");
  declare_unread(
      r, with_generator("normal_functional(Tensor self, float mean=0, float std=1"),
      [](const Call& call) { fill_normal(call, number(call, "mean"), number(call, "std")); })
      .summary("normally distributed numbers")
      .samples({"f32[5,7]", "f64[4,1,6]; mean=3; std=0.5", "bf16[7]", "c64[5,3]", "f64[]"})
      .in_place("normal_")
      .out("normal.out");
  declare_unread(r, with_generator("exponential(Tensor self, float lambd=1"), fill_exponential)
      .summary("exponentially distributed numbers of rate lambd")
      .samples({"f32[5,7]", "f64[4,1,6]; lambd=3", "bf16[7]", "f16[5,3]", "f64[]"})
      .in_place()
      .out("exponential.out");
  declare_unread(r, with_generator("geometric(Tensor self, float p"), fill_geometric)
      .summary("numbers of trials of probability p up to the first success")
      .samples({"f32[5,7]; p=0.25", "f64[4,1,6]; p=0.5", "i64[7]; p=0.1", "u8[5,3]; p=0.75",
                "f64[]; p=0.5"})
      .in_place()
      .out("geometric.out");
  declare_unread(r, with_generator("log_normal(Tensor self, float mean=1, float std=2"),
                 fill_log_normal)
      .summary("exponentials of normally distributed numbers")
      .samples(
          {"f32[5,7]", "f64[4,1,6]; mean=0; std=0.5", "bf16[7]; std=0.25", "f32[5,3]", "f64[]"})
      .in_place()
      .out("log_normal.out");
  declare_unread(r, with_generator("cauchy(Tensor self, float median=0, float sigma=1"),
                 fill_cauchy)
      .summary("numbers of a Cauchy distribution")
      .samples({"f32[5,7]", "f64[4,1,6]; median=2; sigma=0.5", "bf16[7]", "f32[5,3]", "f64[]"})
      .in_place()
      .out("cauchy.out");
}

void declare_likes(Registrar& r) {
  const auto integers = [](const Call& call) {
    const bool has_low = call.find_attribute("low") != nullptr;
    fill_integers(call, has_low ? call.attribute<int64_t>("low") : 0,
                  call.attribute<int64_t>("high"));
  };
  declare_unread(r, like("rand_like(Tensor self"),
                 [](const Call& call) { fill_uniform(call, 0, 1); })
      .summary("numbers evenly spread over [0, 1), in the shape of self")
      .samples({"f32[5,7]", "f64[4,1,6]", "i64[7]; dtype=f32", "bf16[5,3]", "f64[]"})
      .out("rand_like.out");
  declare_unread(r, like("randn_like(Tensor self"),
                 [](const Call& call) { fill_normal(call, 0, 1); })
      .summary("normally distributed numbers in the shape of self")
      .samples({"f32[5,7]", "f64[4,1,6]", "bool[7]; dtype=f16", "c64[5,3]", "f64[]"})
      .out("randn_like.out");
  declare_unread(r, like("randint_like(Tensor self, SymInt high"), integers)
      .summary("integers of [0, high) in the shape of self")
      .samples({"f32[5,7]; high=10", "i64[4,1,6]; high=100", "u8[7]; high=256", "f64[5,3]; high=3",
                "i32[]; high=5"})
      .out("randint_like.out");
  declare_unread(r, like("randint_like.low_dtype(Tensor self, SymInt low, SymInt high"), integers)
      .summary("integers of [low, high) in the shape of self")
      .samples({"f32[5,7]; low=-5; high=10", "i64[4,1,6]; low=90; high=100",
                "i8[7]; low=-128; high=128", "f64[5,3]; low=0; high=3", "i32[]; low=2; high=5"})
      .out("randint_like.low_dtype_out");
}

}  // namespace

double Draw::uniform(DType dtype) const {
  const uint64_t bits = (uint64_t{words_[0]} << 21) ^ (uint64_t{words_[1]} >> 11);
  const double number = static_cast<double>(bits & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
  const int digits = digits_of(dtype);
  return digits == 53 ? number : std::ldexp(std::floor(std::ldexp(number, digits)), -digits);
}

double Draw::angle() const {
  const uint64_t bits = (uint64_t{words_[2]} << 32) | words_[3];
  return 2 * std::numbers::pi * (static_cast<double>(bits >> 11) * 0x1p-53);
}

uint64_t Draw::integer(uint64_t range) const {
  const uint64_t bits = (uint64_t{words_[0]} << 32) | words_[1];
  return range == 0 ? bits : bits % range;
}

void infer_like(const Call& call, OutputSink& outputs) {
  const TensorView self = call.input(0);
  Output out{dtype_or(call, self.dtype()), local_output_shape(call, 0, shape_of(self)), {}, -1, 0};
  out.strides = like_strides(call, self, out.shape);
  outputs.add(out);
}

void fill_uniform(const Call& call, double from, double to) {
  require(from <= to, "from must not be more than to");
  const DType dtype = call.output().dtype();
  fill_floats(call, [=](const Draw& draw) { return from + (to - from) * draw.uniform(dtype); });
}

void fill_normal(const Call& call, double mean, double deviation) {
  require(deviation >= 0, "std must not be negative");
  if (!is_complex(call.output().dtype()))
    return fill_floats(call, [=](const Draw& draw) { return mean + deviation * draw.normal(); });
  const auto values = draw_elements(
      call, 0, [=](const Draw& draw) { return mean + deviation * draw.complex_normal(); });
  store_dense(values.data(), call.output());
}

void fill_integers(const Call& call, int64_t low, int64_t high) {
  require(low < high, "low must be less than high");
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const auto values = draw_elements(call, 0, [=](const Draw& draw) {
    return static_cast<int64_t>(static_cast<uint64_t>(low) + draw.integer(range));
  });
  store_dense(values.data(), call.output());
}

void declare_distributions(Registrar& r) {
  declare_in_tensor(r);
  declare_likes(r);
}

}  // namespace random_numbers
