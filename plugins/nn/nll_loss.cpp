// Negative log likelihood: with t the target of a row of scores x, w its class' weight (1 without
// weights, 0 where t = ignore_index), a row's loss is -w[t] x[t]. reduction 0 keeps the rows'
// losses, 2 adds them up, 1 divides that sum by total_weight = sum w[t].
//   f32[4,6] with targets i64[4], reduction 2: `P(sum), P(sum) | S(0), S(0), R` over the batch, and
//   `P(sum), R | S(1), R, R` over the classes: the rank that owns a row's class contributes.
// A mean over a sharded batch is neither sum nor mean of the ranks' means, as weights and ignored
// rows differ; its parts (sum of losses, total weight) add up, a joint partial. A rank of sharded
// classes may hold such parts too, of the rows whose class it owns, so that cuts of both compose:
//   `P(nn.weighted_mean#0), P(nn.weighted_mean#1) | S(1), R, R` beside the same for S(0), S(0), R.
// Sum and joint do not meet on one output, so where there is a joint every cut of classes is one.
// Without reduction total_weight is 0, but for a lone row it is the row's weight.
// Scores are [N,C], [C] with one target, or [N,C,...] with a target for each place.

#include <limits>

#include "families.hpp"
#include "laws.hpp"

namespace nn {
namespace {

constexpr std::string_view kMean = "nn.weighted_mean";

enum Reduction : int64_t { kNone = 0, kAverage = 1, kSum = 2 };

int64_t reduction_of(const Call& call) {
  const auto reduction = call.attribute<int64_t>("reduction");
  require(reduction >= 0 && reduction <= 2, "reduction must be 0 (none), 1 (mean) or 2 (sum)");
  return reduction;
}

bool adds_weights(const Call& call) {
  return reduction_of(call) != kNone || call.tensor("self").ndim() == 1;
}

int class_dim(const TensorView& self) { return self.ndim() == 1 ? 0 : 1; }

// Shape of the targets that go with the scores.
Shape rows_shape(const TensorView& self) {
  Shape shape = shape_of(self);
  shape.erase(shape.begin() + class_dim(self));
  return shape;
}

void check(const Call& call, bool is_spatial) {
  const TensorView self = call.tensor("self"), target = call.tensor("target");
  if (is_spatial)
    require(self.ndim() == 4, "self needs four dims, [N,C,H,W]");
  else
    require(self.ndim() == 1 || self.ndim() == 2, "self needs one or two dims, [C] or [N,C]");
  require(target.dtype() == DType::kI64, "target must be i64");
  require_shape(target, rows_shape(self), "target");
  reduction_of(call);
  if (!call.has_tensor("weight")) return;
  const TensorView weight = call.tensor("weight");
  require(weight.dtype() == self.dtype(), "self and weight need one dtype");
  const int slot = call.slot("self"), own = call.slot("weight");
  const bool fits = weight.ndim() == 1 && call.global_size(false, own, 0) ==
                                              call.global_size(false, slot, class_dim(self));
  require(fits, "weight needs one number for each class");
}

bool cuts(const onedim_location_t& at, int slot, int tensor_dim, int mesh_dim) {
  const Placement& placement = at.inputs[slot].placements[mesh_dim];
  const bool is_shard =
      placement.kind == ONEDIM_PLACEMENT_SHARD || placement.kind == ONEDIM_PLACEMENT_STRIDED_SHARD;
  return is_shard && placement.dim == tensor_dim && at.mesh_shape[mesh_dim] > 1;
}

// Where one mesh dim cuts the classes of self and weight alike and another those of one alone, it
// depends on the order of the cuts whether each class finds its weight, and a rank is not told the
// order.
void accept_local(const Call& call) {
  const onedim_location_t* at = call.location();
  if (at == nullptr || !call.has_tensor("weight")) return;
  bool cuts_both = false, cuts_one = false;
  for (int mesh_dim = 0; mesh_dim < at->mesh_ndim; ++mesh_dim) {
    const bool self = cuts(*at, call.slot("self"), class_dim(call.tensor("self")), mesh_dim);
    const bool weight = cuts(*at, call.slot("weight"), 0, mesh_dim);
    if (self || weight) (self && weight ? cuts_both : cuts_one) = true;
  }
  require(!cuts_both || !cuts_one,
          "one mesh dim cuts the classes of self and weight, and another those of one alone");
}

// Where a global class lies in this rank's part of a dim: -1 for classes of other ranks.
std::vector<int64_t> local_classes(const Call& call, std::string_view name, int dim) {
  const int slot = call.slot(name);
  std::vector<int64_t> at(static_cast<size_t>(call.global_size(false, slot, dim)), -1);
  for (int64_t i = 0; i < call.input(slot).size(dim); ++i)
    at[static_cast<size_t>(call.global_index(false, slot, dim, i))] = i;
  return at;
}

// One row: its weight and where its score lies, as far as this rank owns them.
struct Row {
  double weight = 0;
  int64_t score = -1;  // into self
};

class Rows {
 public:
  explicit Rows(const Call& call)
      : call_(call),
        targets_(load_dense<int64_t>(call.tensor("target"))),
        ignored_(call.attribute<int64_t>("ignore_index")) {
    const TensorView self = call.tensor("self");
    const auto dim = static_cast<size_t>(class_dim(self));
    classes_ = self.size(class_dim(self));
    inner_ = product_of(self.shape().subspan(dim + 1));
    scores_ = local_classes(call, "self", class_dim(self));
    if (call.has_tensor("weight")) {
      weights_ = load(call.tensor("weight"));
      weight_at_ = local_classes(call, "weight", 0);
    }
  }
  size_t count() const { return targets_.size(); }
  Row operator[](size_t i) const {
    const int64_t target = targets_[i];
    if (target == ignored_) return {};
    if (target < 0 || target >= static_cast<int64_t>(scores_.size()))
      fail("target " + std::to_string(target) + " is out of bounds, expected a class below " +
           std::to_string(scores_.size()));
    const int64_t at = scores_[static_cast<size_t>(target)];
    const int64_t outer = static_cast<int64_t>(i) / inner_,
                  inside = static_cast<int64_t>(i) % inner_;
    return {weight_of(target), at < 0 ? -1 : (outer * classes_ + at) * inner_ + inside};
  }

 private:
  double weight_of(int64_t target) const {
    if (!call_.has_tensor("weight")) return 1;
    const int64_t at = weight_at_[static_cast<size_t>(target)];
    return at < 0 ? 0 : weights_[static_cast<size_t>(at)];
  }

  const Call& call_;
  std::vector<int64_t> targets_, scores_, weight_at_;
  std::vector<double> weights_;
  int64_t ignored_, classes_ = 0, inner_ = 1;
};

// Sum of the losses and of the weights of this rank's rows.
struct Totals {
  double loss = 0, weight = 0;
};
// Whose rows a weight is counted of: all that are here, or those whose score this rank owns.
enum class Counted { kAll, kOwned };
Totals totals_of(const Call& call, Counted counted, std::vector<double>* losses = nullptr) {
  const Rows rows(call);
  const std::vector<double> scores = load(call.tensor("self"));
  Totals totals;
  for (size_t i = 0; i < rows.count(); ++i) {
    const Row row = rows[i];
    const double loss = row.score < 0 ? 0 : -row.weight * scores[static_cast<size_t>(row.score)];
    totals.loss += loss;
    if (counted == Counted::kAll || row.score >= 0) totals.weight += row.weight;
    if (losses != nullptr) losses->push_back(loss);
  }
  return totals;
}

void compute_forward(const Call& call) {
  const int64_t reduction = reduction_of(call);
  std::vector<double> losses;
  const Totals totals = totals_of(call, Counted::kAll, &losses);
  if (reduction == kNone) {
    store(losses, call.output(0));
  } else {
    const double loss = reduction == kSum ? totals.loss : totals.loss / totals.weight;
    store({loss}, call.output(0));
  }
  store({adds_weights(call) ? totals.weight : 0}, call.output(1));
}

std::vector<Law> forward_laws(const Call& call) {
  const int64_t reduction = reduction_of(call);
  const bool has_weight = call.has_tensor("weight");
  const bool is_row = call.tensor("target").element_count() == 1;
  Law loss{{"self", "target", "weight"}, {{kLinear, {"self"}}}};
  Law total{{"target", "weight"}, {{kLinear, {"weight"}}}};
  if (!adds_weights(call)) total = {{}, {}};
  if (reduction != kAverage) loss.families.push_back({kLinear, {"weight"}});
  const bool is_score = has_weight ? reduction == kAverage && is_row : reduction == kNone || is_row;
  if (is_score) loss.families.push_back({kDecreasing, {"self"}});
  return {loss, total};
}

// The mean of one row is that row's score whatever its weight is, short of 0, which a factor of a
// product that is not 0 cannot be.
void pass_single_weight(const Call& call, RuleSink& sink) {
  LawRules rules(call, sink,
                 {{{"self", "target"}, {{kLinear, {"self"}}}},
                  {{"target", "weight"}, {{kMultiplicative, {"weight"}}}}});
  const Placement classes = any_shard(class_dim(call.tensor("self"))), product = partial("product");
  if (!call.has_tensor("weight")) return;
  const std::pair<Placement, Placement> scores[] = {
      {replicate(), replicate()},       {partial("sum"), classes},
      {partial("sum"), partial("sum")}, {partial("avg"), partial("avg")},
      {partial("max"), partial("min")}, {partial("min"), partial("max")}};
  for (const auto& [loss, self] : scores)
    rules.add_cut({loss, product}, {{"self", self}, {"weight", product}});
}

void emit_forward_rules(const Call& call, RuleSink& sink) {
  LawRules rules(call, sink, forward_laws(call));
  rules.add_partials();
  const TensorView self = call.tensor("self");
  const int64_t reduction = reduction_of(call);
  if (reduction == kAverage && call.tensor("target").element_count() == 1)
    pass_single_weight(call, sink);
  const bool has_weight = call.has_tensor("weight");
  const int classes = class_dim(self);
  const Placement sum = partial("sum"), R = replicate();
  for (int dim = 0, row = 0; dim < self.ndim(); ++dim) {
    if (dim == classes) continue;
    std::vector<Placement> outputs = {sum, sum};
    if (reduction == kNone) outputs = {any_shard(row), R};
    if (reduction == kAverage) outputs = {partial(kMean, 0), partial(kMean, 1)};
    rules.add_cut(outputs, {{"self", any_shard(dim)}, {"target", any_shard(row)}});
    ++row;
  }
  rules.add_cut({sum, R}, {{"self", any_shard(classes)}});
  std::vector<Placement> outputs = {sum, adds_weights(call) ? sum : R};
  if (reduction == kAverage) {
    outputs = {partial(kMean, 0), partial(kMean, 1)};
    rules.add_cut(outputs, {{"self", any_shard(classes)}});
  }
  if (!has_weight) return;
  rules.add_cut(outputs, {{"self", any_shard(classes)}, {"weight", any_shard(0)}});
  rules.add_cut(outputs, {{"weight", any_shard(0)}});
}

OpBuilder& declare_forward(Registrar& r, const std::string& name, bool is_spatial) {
  return r
      .op(name +
          "_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
          "ignore_index) -> (Tensor output, Tensor total_weight)")
      .position_aware()
      .infer([is_spatial](const Call& call, OutputSink& outputs) {
        check(call, is_spatial);
        const TensorView self = call.tensor("self");
        outputs.add(self.dtype(), reduction_of(call) == kNone ? rows_shape(self) : Shape{});
        outputs.add(self.dtype(), {});
      })
      .rules(emit_forward_rules)
      .accept_local(accept_local)
      .compute(kFloats | kIntegerDTypes,
               [](const Call& call, const onedim_execution_t&) { compute_forward(call); })
      .cost(cost_per_element(1))
      .gradient({name + "_backward"});
}

// The gradient of a row's score is -w[t] g, g being the row's own without reduction.
void compute_gradient(const Call& call) {
  const int64_t reduction = reduction_of(call);
  const Rows rows(call);
  const std::vector<double> grad = load(call.tensor("grad_output"));
  const double divisor = reduction == kAverage ? load(call.tensor("total_weight"))[0] : 1;
  std::vector<double> result(static_cast<size_t>(call.output().element_count()), 0);
  for (size_t i = 0; i < rows.count(); ++i) {
    const Row row = rows[i];
    if (row.score < 0) continue;
    const double own = grad[reduction == kNone ? i : 0];
    result[static_cast<size_t>(row.score)] = -row.weight * own / divisor;
  }
  store(result, call.output());
}

void emit_gradient_rules(const Call& call, RuleSink& sink) {
  const int64_t reduction = reduction_of(call);
  Law law{{"grad_output", "target", "weight"}, {{kLinear, {"grad_output"}}, {kLinear, {"weight"}}}};
  if (reduction == kAverage) law.reads.push_back("total_weight");
  if (!call.has_tensor("weight") && reduction != kAverage)
    law.families.push_back({kDecreasing, {"grad_output"}});
  LawRules rules(call, sink, {law});
  rules.add_partials();
  const TensorView self = call.tensor("self");
  const int classes = class_dim(self);
  for (int dim = 0, row = 0; dim < self.ndim(); ++dim) {
    if (dim == classes) continue;
    std::vector<RuleSink::Named> cut = {{"self", any_shard(dim)}, {"target", any_shard(row)}};
    if (reduction == kNone) cut.push_back({"grad_output", any_shard(row)});
    rules.add_cut({any_shard(dim)}, cut);
    ++row;
  }
  rules.add_cut({any_shard(classes)}, {{"self", any_shard(classes)}});
  if (!call.has_tensor("weight")) return;
  rules.add_cut({any_shard(classes)}, {{"self", any_shard(classes)}, {"weight", any_shard(0)}});
  rules.add_cut({partial("sum")}, {{"weight", any_shard(0)}});
}

OpBuilder& declare_gradient(Registrar& r, const std::string& name, bool is_spatial) {
  return r
      .op(name +
          "_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int "
          "reduction, SymInt ignore_index, Tensor total_weight) -> Tensor")
      .position_aware()
      .infer([is_spatial](const Call& call, OutputSink& outputs) {
        check(call, is_spatial);
        const TensorView self = call.tensor("self");
        const bool is_reduced = reduction_of(call) != kNone;
        require_shape(call.tensor("grad_output"), is_reduced ? Shape{} : rows_shape(self),
                      "grad_output");
        require(call.tensor("total_weight").element_count() == 1,
                "total_weight must hold one number");
        outputs.add(self.dtype(), shape_of(self));
      })
      .rules(emit_gradient_rules)
      .accept_local(accept_local)
      .compute(kFloats | kIntegerDTypes,
               [](const Call& call, const onedim_execution_t&) { compute_gradient(call); })
      .cost(cost_per_element(1));
}

void declare_weighted_mean(Registrar& r) {
  r.partial(kMean, {"loss", "weight"})
      .state([](const Call&, OutputSink& states) {
        for (int i = 0; i < 2; ++i) states.add(DType::kF64, {});
      })
      .local([](const Call& call, States states) {
        const Totals totals = totals_of(call, Counted::kOwned);
        store({totals.loss}, TensorView(&states[0]));
        store({totals.weight}, TensorView(&states[1]));
      })
      .identity({0, 0})
      .combine([](States into, States from) {
        for (size_t i = 0; i < into.size(); ++i) {
          const TensorView to(&into[i]);
          store({load(to)[0] + load(TensorView(&from[i]))[0]}, to);
        }
      })
      .finish([](States states, States outputs) {
        const double loss = load(TensorView(&states[0]))[0];
        const double weight = load(TensorView(&states[1]))[0];
        store({loss / weight}, TensorView(&outputs[0]));
        store({weight}, TensorView(&outputs[1]));
      });
}

}  // namespace

void declare_nll_loss(Registrar& r) {
  declare_weighted_mean(r);
  declare_forward(r, "nll_loss", false)
      .summary("negative log likelihood of target classes, and the weight it was divided by")
      .samples({"f32[5,3]; i64[5]:values(0,1,2,-100); f32[3]:positive; reduction=1; "
                "ignore_index=-100",
                "f64[4,6]; i64[4]:values(0,1,2,3,4,5,-100); -; reduction=1; ignore_index=-100",
                "f64[5,4]; i64[5]:values(0,1,2,3); f64[4]; reduction=2; ignore_index=1",
                "f64[4,5]; i64[4]:index(5); -; reduction=0; ignore_index=-100",
                "f64[5]; i64[]:index(5); f64[5]; reduction=1; ignore_index=-1",
                "bf16[4,3]; i64[4]:index(3); bf16[3]; reduction=0; ignore_index=-100",
                "f64[4]; i64[]:index(4); f64[4]; reduction=0; ignore_index=-1",
                "f32[1,4]; i64[1]:index(4); -; reduction=2; ignore_index=-100"});
  declare_forward(r, "nll_loss2d", true)
      .summary("negative log likelihood of a target class at every place")
      .samples({"f32[3,4,2,1]; i64[3,2,1]:values(0,1,2,3,-100); f32[4]:positive; reduction=1; "
                "ignore_index=-100",
                "f64[2,3,1,5]; i64[2,1,5]:values(0,1,2,-100); -; reduction=1; ignore_index=-100",
                "f64[3,5,2,2]; i64[3,2,2]:index(5); f64[5]; reduction=2; ignore_index=2",
                "f64[2,4,3,1]; i64[2,3,1]:index(4); -; reduction=0; ignore_index=-100",
                "f32[2,3,1,2]; i64[2,1,2]:index(3); f32[3]; reduction=0; ignore_index=-100"});
  declare_gradient(r, "nll_loss", false)
      .summary("gradient of nll_loss: -w[t] g at each row's target class")
      .samples({"f32[]; f32[5,3]; i64[5]:values(0,1,2,-100); f32[3]; f32[]; reduction=1; "
                "ignore_index=-100",
                "f64[4]; f64[4,6]; i64[4]:index(6); -; f64[]; reduction=0; ignore_index=-100",
                "f64[]; f64[5,4]; i64[5]:index(4); f64[4]; f64[]; reduction=2; ignore_index=1",
                "f64[]; f64[4,3]; i64[4]:values(0,1,2); f64[3]; f64[]; reduction=1; ignore_index=0",
                "f64[]; f64[5]; i64[]:index(5); -; f64[]; reduction=1; ignore_index=-100",
                "bf16[]; bf16[3,4]; i64[3]:index(4); -; bf16[]; reduction=1; ignore_index=-100"});
  declare_gradient(r, "nll_loss2d", true)
      .summary("gradient of nll_loss2d: -w[t] g at each place's target class")
      .samples(
          {"f64[]; f64[3,3,2,1]; i64[3,2,1]:values(0,1,2,-100); f64[3]; f64[]; "
           "reduction=1; ignore_index=-100",
           "f64[2,1,3]; f64[2,4,1,3]; i64[2,1,3]:index(4); -; f64[]; reduction=0; "
           "ignore_index=-100",
           "f32[]; f32[2,5,1,1]; i64[2,1,1]:index(5); f32[5]; f32[]; reduction=2; ignore_index=1",
           "f64[]; f64[3,2,1,2]; i64[3,1,2]:index(2); -; f64[]; reduction=1; ignore_index=1",
           "f32[]; f32[2,3,1,2]; i64[2,1,2]:index(3); -; f32[]; reduction=1; "
           "ignore_index=-100"});
}

}  // namespace nn
