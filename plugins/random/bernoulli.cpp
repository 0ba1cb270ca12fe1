// Coins: 1 where an element's uniform draw lies below its probability. The draw is the same on
// every rank, so the coin grows with the probability, and dropout, which multiplies by coins, is
// linear in its input.
//   native_dropout(f32[4], p 0.5): (P(sum), R) | P(sum): the same mask scales every rank's part

#include <cmath>

#include "families.hpp"

namespace random_numbers {
namespace {

std::vector<bool> toss(const Call& call, int slot, double probability) {
  std::vector<bool> coins;
  for (const double draw : draw_elements(call, slot, [](const Draw& d) { return d.uniform(); }))
    coins.push_back(draw < probability);
  return coins;
}

void store_coins(const std::vector<bool>& coins, const TensorView& out) {
  const std::vector<int64_t> values(coins.begin(), coins.end());
  store_dense(values.data(), out);
}

void require_probability(double p) { require(p >= 0 && p <= 1, "p must lie between 0 and 1"); }

OpBuilder& random_op(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .position_aware()
      .flags(ONEDIM_OP_RANDOM)
      .cost([](const Call& call, onedim_cost_t& cost) { elementwise_cost(call, 40, cost); });
}

// One probability for all; self is not read.
void declare_same(Registrar& r) {
  random_op(r, "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor")
      .summary("ones with probability p, else zeros, in the shape of self")
      .infer(infer_like)
      .rules(unread_rules)
      .rules([](const Call& call, RuleSink& rules) {
        if (is_legal_partial("product", call.output().dtype()))
          add_unread(call, rules, partial("product"));
      })
      .compute(kAllDTypes,
               [](const Call& call, const onedim_execution_t&) {
                 const double p = call.attribute<double>("p");
                 require_probability(p);
                 store_coins(toss(call, 0, p), call.output());
               })
      .samples({"f32[5,7]; p=0.5", "f64[4,1,6]; p=0.25", "bool[7]; p=0.5", "i64[5,3]; p=0.75",
                "bf16[]; p=0.5"});
  r.variant(
      "bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
      "bernoulli.p");
  r.variant(
      "bernoulli.float_out(Tensor self, float p=0.5, *, Generator? generator=None, Tensor(a!) out) "
      "-> Tensor(a!)",
      "bernoulli.p");
}

bool is_partial(const Call& call, int slot) {
  const onedim_location_t* at = call.location();
  for (int i = 0; at != nullptr && i < at->mesh_ndim; ++i) {
    if (at->inputs[slot].placements[i].kind == ONEDIM_PLACEMENT_PARTIAL) return true;
  }
  return false;
}

// The elements of a tensor that is broadcast to `shape`.
std::vector<double> expanded(const TensorView& tensor, const TensorView& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.ndim()), 0);
  for (int dim = 0; dim < tensor.ndim(); ++dim) {
    const int to = dim + shape.ndim() - tensor.ndim();
    strides[to] = tensor.size(dim) == 1 ? 0 : tensor.stride(dim);
  }
  onedim_tensor_t view{};
  view.present = 1;
  view.dtype = static_cast<int32_t>(tensor.dtype());
  view.ndim = shape.ndim();
  view.shape = shape.shape().data();
  view.strides = strides.data();
  view.data = tensor.data();
  return load_dense<double>(TensorView(&view));
}

// Probabilities in the tensor of this slot, parts of which need not be probabilities.
void toss_each(const Call& call, int slot) {
  const TensorView out = call.output();
  const std::vector<double> p = expanded(call.input(slot), out);
  const bool has_parts = is_partial(call, slot);
  std::vector<bool> coins;
  for (const double draw : draw_elements(call, 0, [](const Draw& d) { return d.uniform(); })) {
    const double probability = p[coins.size()];
    if (!has_parts) require_probability(probability);
    coins.push_back(draw < probability);
  }
  store_coins(coins, out);
}

void declare_each(Registrar& r) {
  random_op(r, "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor")
      .summary("ones with the probabilities in self, else zeros")
      .infer(infer_like)
      .rules(pointwise_rules)
      .families({{kFlagIncreasing, {"self"}}, {kFlagResult, {}}})
      .compute(dtype_mask<float, double>() & ~kF8DTypes,
               [](const Call& call, const onedim_execution_t&) { toss_each(call, 0); })
      .samples({"f32[5,7]:probability", "f64[4,1,6]:probability", "f64[7]:probability",
                "bf16[5,3]:probability", "f64[]:probability"})
      .out("bernoulli.out");
  random_op(r, "bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor")
      .summary("ones with the probabilities in p, which is broadcast to self, else zeros")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self"), p = call.tensor("p");
        require(is_floating(p.dtype()), "p must be a float tensor");
        Shape shape = local_output_shape(call, 0, shape_of(self));
        require(broadcast(shape, p.shape()) == shape, "p must broadcast to self");
        outputs.add(self.dtype(), std::move(shape));
      })
      .rules([](const Call& call, RuleSink& rules) {
        const Placement whole = replicate();
        add_unread(call, rules, whole, std::span(&whole, 1));
        for (int dim = 0; dim < call.output().ndim(); ++dim) {
          const Placement p = pointwise_inputs(call, dim)[1];
          add_unread(call, rules, any_shard(dim), std::span(&p, 1));
        }
        const bool has_order = !is_complex(call.output().dtype());
        const bool is_flag = is_bool(call.output().dtype());
        for (const KindPair& pair : kFlagIncreasing) {
          const Placement p = partial(pair.in);
          if (!has_order || (is_flag && pair.out == "product")) continue;
          add_unread(call, rules, partial(pair.out), std::span(&p, 1));
        }
        if (!is_flag) add_unread(call, rules, partial("product"), std::span(&whole, 1));
      })
      .compute(kAllDTypes, [](const Call& call, const onedim_execution_t&) { toss_each(call, 1); })
      .samples({"f32[5,7]; f32[5,7]:probability", "f64[4,1,6]; f64[6]:probability",
                "bool[7]; f32[]:probability", "i64[5,3]; f64[5,1]:probability",
                "f32[4]; f64[1]:probability"});
  r.variant(
      "bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
      "bernoulli.Tensor");
}

// Whether elements are dropped: always but where train says no.
bool drops(const Call& call) {
  return !call.has_attribute("train") || call.attribute<bool>("train");
}

void compute_dropout(const Call& call, const onedim_execution_t&) {
  const double p = call.attribute<double>("p");
  std::vector<bool> kept(static_cast<size_t>(call.output(1).element_count()), true);
  if (drops(call)) kept = toss(call, 1, 1 - p);
  const double scale = !drops(call) ? 1 : p < 1 ? 1 / (1 - p) : 0;
  store_coins(kept, call.output(1));
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      call.input(0).dtype(), [&]<typename C>(C) {
        std::vector<C> values = load_dense<C>(call.input(0));
        for (size_t i = 0; drops(call) && i < values.size(); ++i)
          values[i] = kept[i] ? values[i] * static_cast<C>(scale) : values[i] * C(0);
        store_dense(values.data(), call.output(0));
      });
}

// `output, mask | input`: linear and, since nothing is scaled by less than 0, monotone.
void dropout_rules(const Call& call, RuleSink& rules) {
  pointwise_rules(call, rules);
  const bool keeps_products = !drops(call) || call.attribute<double>("p") == 0;
  for (const KindPair& kind : kIdentity) {
    if (kind.in == "product" && !keeps_products) continue;
    if (!is_legal_partial(kind.in, call.input(0).dtype())) continue;
    const Placement outputs[] = {partial(kind.out), replicate()}, in = partial(kind.in);
    rules.add(outputs, std::span(&in, 1));
  }
}

void declare_dropout(Registrar& r) {
  random_op(r, "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)")
      .summary(
          "elements dropped with probability p, the others scaled by 1 / (1 - p), and the mask")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView input = call.input(0);
        require_probability(call.attribute<double>("p"));
        require(!drops(call) || category(input.dtype()) >= 2,
                "input must be a float or complex tensor to be scaled");
        outputs.add(input.dtype(), shape_of(input));
        outputs.add(DType::kBool, shape_of(input));
      })
      .rules(dropout_rules)
      .compute(kAllDTypes & ~kF8DTypes, compute_dropout)
      .gradient({"native_dropout_backward"})
      .samples({"f32[5,7]; p=0.5; train=true", "f64[4,1,6]; p=0.25; train=true",
                "bf16[7]; p=0.5; train=null", "f64[5,3]; p=0.5; train=false",
                "c64[4,3]; p=0.5; train=true", "f64[6]; p=0.0; train=true"});
  r.variant(
      "native_dropout.out(Tensor input, float p, bool? train, *, Tensor(a!) out0, Tensor(b!) out1) "
      "-> (Tensor(a!), Tensor(b!))",
      "native_dropout");
}

// grad_output * mask * scale is linear in the gradient, and monotone by the sign of scale. If no
// gradient is negative it is so in the mask too, and keeps both minima together, since a mask is 0
// or 1: the least product is 0 where any mask is. With scale 1 products stay products.
void dropout_gradient_rules(const Call& call, RuleSink& rules) {
  const double scale = call.attribute<double>("scale");
  const DType grad = call.tensor("grad_output").dtype();
  const KindTable monotone = scale < 0 ? KindTable(kDecreasing) : KindTable(kIncreasing);
  Families families = {{kLinear, {"grad_output"}}, {monotone, {"grad_output"}}};
  if (is_bool(grad) || grad == DType::kU8) {
    const KindTable least = scale < 0 ? KindTable(kDecreasingFromBelow) : KindTable(kMinPreserving);
    families.push_back({monotone, {"mask"}});
    families.push_back({least, {"grad_output", "mask"}});
  }
  if (scale == 1 && is_bool(grad)) families.push_back({kFlagResult, {}});
  add_families(call, rules, families);
  if (scale != 1) return;
  const std::string_view factor = is_bool(grad) ? "min" : "product";
  add_partial_rule(call, rules, "product", {{"grad_output", factor}, {"mask", "min"}});
}

void declare_dropout_backward(Registrar& r) {
  r.op("native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor")
      .summary("grad_output * mask * scale")
      .pointwise(Promotion::kFloating, {"grad_output"})
      .rules(dropout_gradient_rules)
      .elementwise<2>(FloatComplexTypes{}, {"grad_output", "mask"},
                      [](const Call& call) {
                        const double scale = call.attribute<double>("scale");
                        return [scale](auto grad, auto mask) {
                          return grad * (mask * static_cast<decltype(mask)>(scale));
                        };
                      })
      .samples({"f32[5,7]; bool[5,7]; scale=2.0", "f64[4,1,6]; bool[4,1,6]; scale=1.25",
                "f64[7]; bool[7]; scale=0.0", "f64[5,3]; bool[5,3]; scale=1.0",
                "c64[4,3]; bool[4,3]; scale=2.0", "bf16[6]; bool[6]; scale=2.0",
                "f64[5]; bool[5]; scale=-0.5", "i64[5]; bool[5]; scale=1.0",
                "bool[5]; bool[5]; scale=1.0", "u8[5]; bool[5]; scale=2.0",
                "u8[5]; bool[5]; scale=-1.0"})
      .out("native_dropout_backward.out");
}

}  // namespace

void declare_bernoulli(Registrar& r) {
  declare_same(r);
  declare_each(r);
  declare_dropout(r);
  declare_dropout_backward(r);
}

}  // namespace random_numbers
