// batch_norm of [N,C,...]: each channel is a set (normalisation.hpp). In training its statistics
// are those of the batch, and running statistics r move towards them, r' = (1 - momentum) r +
// momentum s, the variance unbiased there; in evaluation y follows the running ones. Channels may
// be sharded: native_batch_norm of f32[4,6,2] is `S(1), S(0), S(0) | S(1), S(0), S(0), S(0), S(0)`.
// In training cuts of the batch leave a joint partial (normalisation_joint.hpp), but in forms that
// also move running statistics: those that write them cannot, as no argument holds a joint's
// state, and those that give them out are kept to the same rules, so that they replace each other.
// In evaluation every other dim may be cut too, and y is linear in (input, running_mean, bias).
// The gradient in training needs sums over a channel, so cuts of the batch leave it joint as well
// (normalisation_gradient.hpp): of f32[4,6], with the statistics and weight of all channels,
// `P(nn.batch_norm_gradient#0), P(sum), P(sum) | S(0), S(0), R, -, -, R, R`.

#include "normalisation_gradient.hpp"
#include "normalisation_joint.hpp"

namespace nn {
namespace {

// What distinguishes the forms of the op.
struct Form {
  enum class Training { kAttribute, kAlways, kNever } training = Training::kAttribute;
  bool has_reserve = false;  // a fourth output, empty on the CPU
  enum class Running { kIgnored, kReturned, kWritten } running = Running::kIgnored;
};

bool is_training(const Call& call, const Form& form) {
  if (form.training == Form::Training::kAttribute) return call.attribute<bool>("training");
  return form.training == Form::Training::kAlways;
}

Grouping grouping_of(const TensorView& input) {
  const Index channel{product_of(input.shape().subspan(2)), input.size(1), {}};
  return {channel, channel};
}

constexpr const char* kBatchNorm = "nn.batch_norm";
constexpr const char* kGradient = "nn.batch_norm_gradient";

// Only outputs can be joint that are given out, and made of the batch alone.
bool can_be_joint(const Call& call, const Form& form) {
  return is_training(call, form) && form.running == Form::Running::kIgnored;
}

Sets batch_norm_sets(const Call& call) {
  Sets sets;
  sets.span = global_shape(call, "input");
  sets.span[1] = 1;
  sets.parameter.assign(sets.span.size(), false);
  sets.parameter[1] = true;
  sets.parameters = {"weight", "bias"};
  sets.eps = call.attribute<double>("eps");
  return sets;
}

void check_channels(const Call& call, std::initializer_list<const char*> names) {
  const TensorView input = call.tensor("input");
  require(input.ndim() >= 2, "the input needs at least two dims, batch and channels");
  for (const char* name : names) {
    if (call.has_tensor(name)) require_shape(call.tensor(name), Shape{input.size(1)}, name);
  }
}

void infer(const Call& call, OutputSink& outputs, const Form& form) {
  check_channels(call, {"weight", "bias", "running_mean", "running_var"});
  const bool trains = is_training(call, form);
  const bool has_running = call.has_tensor("running_mean") && call.has_tensor("running_var");
  require(trains || has_running, "running_mean and running_var are needed in evaluation");
  require(call.has_tensor("running_mean") == call.has_tensor("running_var"),
          "running_mean and running_var go together");
  const TensorView input = call.tensor("input");
  const DType dtype = statistics_dtype(call, {"weight", "bias", "running_mean", "running_var"});
  outputs.add(input.dtype(),
              can_be_joint(call, form) ? norm_shape(call, batch_norm_sets(call)) : shape_of(input));
  for (int i = 0; i < 2; ++i) outputs.add(dtype, {trains ? input.size(1) : 0});
  if (form.has_reserve) outputs.add(DType::kU8, {0});
  if (form.running != Form::Running::kReturned) return;
  for (const char* name : {"running_mean", "running_var"})
    outputs.add(call.tensor(name).dtype(), shape_of(call.tensor(name)));
}

// (1 - momentum) * running + momentum * statistic of the batch.
Law running_law(const Call& call, std::string_view running) {
  const double kept = 1 - call.attribute<double>("momentum");
  if (kept == 0) return {{"input"}, {}};
  const KindTable monotone = kept > 0 ? KindTable(kIncreasing) : KindTable(kDecreasing);
  return {{"input", running}, {{kAffine, {running}}, {monotone, {running}}}};
}

std::vector<Law> training_laws(const Call& call, const Form& form) {
  std::vector<Law> laws = {
      {{"input", "weight", "bias"}, affine_families(call)}, {{"input"}, {}}, {{"input"}, {}}};
  if (form.has_reserve) laws.push_back({{}, {}});
  for (const std::string_view running : {"running_mean", "running_var"}) {
    if (form.running == Form::Running::kReturned) laws.push_back(running_law(call, running));
    if (form.running == Form::Running::kWritten)
      laws.push_back({{"input", running}, {{kAffine, {running}}}});
  }
  return laws;
}

std::vector<Law> evaluation_laws(const Call& call, const Form& form) {
  Families families = affine_families(call);
  families.push_back({kLinear, {"input", "running_mean", "bias"}});
  if (!call.has_tensor("weight")) {
    families.push_back({kIncreasing, {"input"}});
    families.push_back({kDecreasing, {"running_mean"}});
  }
  std::vector<Law> laws = {
      {{"input", "weight", "bias", "running_mean", "running_var"}, families}, {{}, {}}, {{}, {}}};
  if (form.has_reserve) laws.push_back({{}, {}});
  if (form.running == Form::Running::kReturned) {
    for (const std::string_view name : {"running_mean", "running_var"})
      laws.push_back({{name}, {{kIdentity, {name}}}});
  }
  return laws;
}

void emit_rules(const Call& call, RuleSink& sink, const Form& form) {
  const bool trains = is_training(call, form);
  LawRules rules(call, sink, trains ? training_laws(call, form) : evaluation_laws(call, form));
  rules.add_partials();
  const Placement channel = any_shard(0);
  const Placement saved = trains ? channel : replicate();
  std::vector<Placement> outputs = {any_shard(1), saved, saved};
  if (form.has_reserve) outputs.push_back(replicate());
  if (form.running == Form::Running::kReturned) outputs.insert(outputs.end(), 2, channel);
  rules.add_cut(outputs, {{"input", any_shard(1)},
                          {"weight", channel},
                          {"bias", channel},
                          {"running_mean", channel},
                          {"running_var", channel}});
  if (trains && !can_be_joint(call, form)) return;
  for (int dim = 0; dim < call.tensor("input").ndim(); ++dim) {
    if (dim == 1) continue;
    std::vector<Placement> others(outputs.size(), replicate());
    others[0] = any_shard(dim);
    for (int i = 0; trains && i < 3; ++i) others[static_cast<size_t>(i)] = partial(kBatchNorm, i);
    rules.add_cut(others, {{"input", any_shard(dim)}});
  }
}

std::vector<double> moved(const std::vector<double>& running, const std::vector<double>& towards,
                          double momentum, double factor) {
  std::vector<double> result = running;
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = (1 - momentum) * running[i] + momentum * factor * towards[i];
  return result;
}

// The running statistics after the call, into outputs or into the arguments.
void store_running(const Call& call, const Form& form, const Statistics& batch, size_t set_size) {
  if (form.running == Form::Running::kIgnored || !call.has_tensor("running_mean")) return;
  const bool trains = is_training(call, form);
  const bool writes = form.running == Form::Running::kWritten;
  if (writes && !trains) return;
  const double momentum = trains ? call.attribute<double>("momentum") : 0;
  const double count = static_cast<double>(set_size);
  const std::vector<double> mean =
      moved(load(call.tensor("running_mean")), batch.mean, momentum, 1);
  const std::vector<double> variance =
      moved(load(call.tensor("running_var")), batch.variance, momentum, count / (count - 1));
  const int first = call.output_count() - 2;
  store(trains ? mean : load(call.tensor("running_mean")),
        writes ? call.tensor("running_mean") : call.output(first));
  store(trains ? variance : load(call.tensor("running_var")),
        writes ? call.tensor("running_var") : call.output(first + 1));
}

void compute(const Call& call, const Form& form) {
  const TensorView input = call.tensor("input");
  const Grouping grouping = grouping_of(input);
  const bool trains = is_training(call, form);
  std::vector<double> x = load(input);
  const Statistics statistics =
      trains ? statistics_of(x, grouping.set, Centre::kMean)
             : Statistics{load(call.tensor("running_mean")), load(call.tensor("running_var"))};
  const std::vector<double> rstd = statistics.rstd(call.attribute<double>("eps"));
  normalise(x, grouping, statistics.mean, rstd, load_optional(call, "weight"),
            load_optional(call, "bias"));
  store(x, call.output(0));
  if (trains) {
    store(statistics.mean, call.output(1));
    store(rstd, call.output(2));
  }
  const size_t channels = static_cast<size_t>(input.size(1));
  store_running(call, form, statistics, channels == 0 ? 0 : x.size() / channels);
}

// Forms that write the running statistics: a partial one must stay right when it is written, which
// nothing else would tell, as no output shows it.
void accept_written(const Call& call, const Form& form) {
  const onedim_location_t* at = call.location();
  if (at == nullptr || !is_training(call, form)) return;
  for (const char* name : {"running_mean", "running_var"}) {
    if (!call.has_tensor(name)) continue;
    for (int dim = 0; dim < at->mesh_ndim; ++dim) {
      const Placement& placement = at->inputs[call.slot(name)].placements[dim];
      const bool is_partial = placement.kind == ONEDIM_PLACEMENT_PARTIAL;
      require(!is_partial || view_of(placement.partial) == "avg",
              "running statistics that are written may be partial averages only");
    }
  }
}

OpBuilder& declare(Registrar& r, std::string_view schema, const Form& form) {
  return r.op(schema)
      .infer([form](const Call& call, OutputSink& outputs) { infer(call, outputs, form); })
      .rules([form](const Call& call, RuleSink& rules) { emit_rules(call, rules, form); })
      .compute(kFloats,
               [form](const Call& call, const onedim_execution_t&) { compute(call, form); })
      .cost(cost_per_element(8))
      .gradient({"native_batch_norm_backward"});
}

// Forms whose outputs may be joint.
OpBuilder& declare_joint(Registrar& r, std::string_view schema, const Form& form) {
  return declare(r, schema, form).position_aware();  // a part of a batch stands among all of it
}

OpBuilder& declare_writing(Registrar& r, std::string_view schema, const Form& form) {
  return declare(r, schema, form)
      .position_aware()  // to see how the running statistics are placed
      .accept_local([form](const Call& call) { accept_written(call, form); });
}

constexpr Form kAttribute{};
constexpr Form kFunctional{Form::Training::kAttribute, false, Form::Running::kReturned};
constexpr Form kWriting{Form::Training::kAttribute, false, Form::Running::kWritten};
constexpr Form kUpdating{Form::Training::kAlways, true, Form::Running::kWritten};
constexpr Form kUpdatingFunctional{Form::Training::kAlways, true, Form::Running::kReturned};
constexpr Form kInference{Form::Training::kNever, false, Form::Running::kIgnored};

void declare_forms_without_running(Registrar& r) {
  declare_norm_kind(r, kBatchNorm, 3, batch_norm_sets);
  declare_joint(
      r,
      "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
      "Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, "
      "Tensor)",
      kAttribute)
      .summary("channels made to mean 0 and variance 1, by their own or the running statistics")
      .samples({"f32[4,3,2]; f32[3]; f32[3]; -; -; training=true; momentum=0.1; eps=1e-05",
                "f64[5,2]; -; -; f64[2]; f64[2]:positive; training=false; momentum=0.1; eps=0.001",
                "f64[3,2]; f64[2]; f64[2]; f64[2]; f64[2]:positive; training=false; momentum=0.1; "
                "eps=0.5",
                "f64[3,2,2]; -; f64[2]; -; -; training=true; momentum=0.1; eps=0.1",
                "bf16[3,4]; f32[4]; -; f32[4]; f32[4]:positive; training=false; momentum=0.1; "
                "eps=1e-05"});
  declare_joint(
      r,
      "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool "
      "training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
      kAttribute)
      .summary("channels made to mean 0 and variance 1")
      .samples({"f32[4,3,2]; f32[3]; f32[3]; training=true; momentum=0.1; eps=1e-05",
                "f64[5,2]; -; -; training=true; momentum=0.1; eps=0.001",
                "f64[3,2]; f64[2]; -; training=true; momentum=0.1; eps=0.5",
                "f64[3,1,2]; -; f64[1]; training=true; momentum=0.1; eps=0.1",
                "bf16[3,4]; f32[4]; f32[4]; training=true; momentum=0.1; eps=1e-05"});
  declare(
      r,
      "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor "
      "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
      kInference)
      .summary("channels normalised by the running statistics")
      .samples({"f32[4,3,2]; f32[3]; f32[3]; f32[3]; f32[3]:positive; momentum=0.1; eps=1e-05",
                "f64[5,2]; -; -; f64[2]; f64[2]:positive; momentum=0.1; eps=0.001",
                "f64[3,2]; f64[2]; -; f64[2]; f64[2]:positive; momentum=0.1; eps=0.5",
                "f64[3,1,2]; -; f64[1]; f64[1]; f64[1]:positive; momentum=0.1; eps=0.1",
                "bf16[3,4]; f32[4]; -; f32[4]; f32[4]:positive; momentum=0.1; eps=1e-05"});
}

void declare_functional_forms(Registrar& r) {
  declare(r,
          "_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
          "running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, "
          "Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
          kFunctional)
      .summary("batch_norm that returns the running statistics it leaves")
      .samples(
          {"f32[4,3]; f32[3]; -; f32[3]; f32[3]:positive; training=true; momentum=0.1; "
           "eps=1e-05",
           "f64[5,2]; -; -; f64[2]; f64[2]:positive; training=false; momentum=0.1; eps=0.001",
           "f64[3,2]; -; -; f64[2]; f64[2]:positive; training=true; momentum=1.5; "
           "eps=0.5",
           "f64[3,2,2]; -; f64[2]; f64[2]; f64[2]:positive; training=true; momentum=1.0; "
           "eps=0.1",
           "bf16[3,4]; -; -; f32[4]; f32[4]:positive; training=true; momentum=0.1; eps=1e-05"});
  declare(
      r,
      "_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
      "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, "
      "Tensor, Tensor running_mean_out, Tensor running_var_out)",
      kUpdatingFunctional)
      .summary("batch_norm in training that returns the running statistics it leaves")
      .samples({"f32[4,3]; f32[3]; -; f32[3]; f32[3]:positive; momentum=0.1; eps=1e-05",
                "f64[5,2]; -; -; f64[2]; f64[2]:positive; momentum=0.5; eps=0.001",
                "f64[3,2]; -; -; f64[2]; f64[2]:positive; momentum=-1.2; eps=0.5",
                "f64[3,2,2]; -; f64[2]; f64[2]; f64[2]:positive; momentum=0.5; eps=0.1",
                "bf16[3,4]; -; -; f32[4]; f32[4]:positive; momentum=0.1; eps=1e-05"});
}

void declare_writing_forms(Registrar& r) {
  declare_writing(
      r,
      "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) "
      "running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> "
      "(Tensor, Tensor, Tensor)",
      kWriting)
      .summary("batch_norm that writes the running statistics it leaves into its arguments")
      .samples(
          {"f32[4,3]; f32[3]; -; f32[3]; f32[3]:positive; training=true; momentum=0.1; "
           "eps=1e-05",
           "f64[5,2]; -; -; f64[2]; f64[2]:positive; training=false; momentum=0.1; eps=0.001",
           "f64[3,2]; -; -; f64[2]; f64[2]:positive; training=true; momentum=1.5; "
           "eps=0.5",
           "f64[3,2,2]; -; f64[2]; f64[2]; f64[2]:positive; training=true; momentum=0.5; "
           "eps=0.1",
           "bf16[3,4]; -; -; f32[4]; f32[4]:positive; training=true; momentum=0.1; eps=1e-05"});
  declare_writing(
      r,
      "_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) "
      "running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, "
      "Tensor, Tensor)",
      kUpdating)
      .summary("batch_norm in training that writes the running statistics it leaves")
      .samples({"f32[4,3]; f32[3]; -; f32[3]; f32[3]:positive; momentum=0.1; eps=1e-05",
                "f64[5,2]; -; -; f64[2]; f64[2]:positive; momentum=0.5; eps=0.001",
                "f64[3,2]; -; -; f64[2]; f64[2]:positive; momentum=-1.2; eps=0.5",
                "f64[3,2,2]; -; f64[2]; f64[2]; f64[2]:positive; momentum=0.5; eps=0.1",
                "bf16[3,4]; -; -; f32[4]; f32[4]:positive; momentum=0.1; eps=1e-05"});
}

// Of the two kinds of statistics the gradient reads one.
struct GradientNames {
  std::string_view mean, spread;
};
GradientNames names_of(const Call& call) {
  if (call.attribute<bool>("train")) return {"save_mean", "save_invstd"};
  return {"running_mean", "running_var"};
}

void infer_gradient(const Call& call, OutputSink& outputs) {
  const std::vector<bool> mask = output_mask(call, 3);
  const TensorView input = call.tensor("input");
  const auto [mean, spread] = names_of(call);
  require(call.has_tensor(mean) && call.has_tensor(spread),
          "the statistics that train chooses are absent");
  check_channels(call, {"weight", "running_mean", "running_var"});
  if (call.attribute<bool>("train")) check_channels(call, {"save_mean", "save_invstd"});
  require_shape(call.tensor("grad_out"), input.shape(), "grad_out");
  require(call.tensor("grad_out").dtype() == input.dtype(), "grad_out and input need one dtype");
  const DType parameters = call.tensor(call.has_tensor("weight") ? "weight" : mean).dtype();
  for (size_t slot = 0; slot < 3; ++slot) {
    if (!mask[slot])
      outputs.add_absent();
    else if (slot == 0)
      outputs.add(input.dtype(), call.attribute<bool>("train")
                                     ? norm_shape(call, batch_norm_sets(call))
                                     : shape_of(input));
    else
      outputs.add(parameters, {input.size(1)});
  }
}

std::vector<Law> gradient_laws(const Call& call) {
  const bool trains = call.attribute<bool>("train");
  const auto [mean, spread] = names_of(call);
  const TensorView input = call.tensor("input");
  Law grad_input = {{"grad_out", "weight", spread},
                    {{kLinear, {"grad_out"}}, {kLinear, {"weight"}}}};
  if (trains) grad_input.reads.insert(grad_input.reads.end(), {"input", mean});
  Law weight = {{"grad_out", "input", mean, spread},
                {{kLinear, {"grad_out"}}, {kLinear, {"input", mean}}}};
  if (trains) weight.families.push_back({kLinear, {spread}});
  Law bias = {{"grad_out"}, {{kLinear, {"grad_out"}}}};
  if (input.element_count() == input.size(1)) bias.families.push_back({kIdentity, {"grad_out"}});
  return {grad_input, weight, bias};
}

void emit_gradient_rules(const Call& call, RuleSink& sink) {
  const bool trains = call.attribute<bool>("train");
  LawRules rules(call, sink, gradient_laws(call));
  rules.add_partials();
  const Placement channel = any_shard(0);
  std::vector<RuleSink::Named> cut = {{"grad_out", any_shard(1)},
                                      {"input", any_shard(1)},
                                      {"weight", channel},
                                      {"running_mean", channel},
                                      {"running_var", channel}};
  if (trains) cut.insert(cut.end(), {{"save_mean", channel}, {"save_invstd", channel}});
  rules.add_cut({any_shard(1), channel, channel}, cut);
  for (int dim = 0; dim < call.tensor("input").ndim(); ++dim) {
    const Placement area = any_shard(dim);
    if (dim != 1)
      rules.add_cut({trains ? partial(kGradient) : area, partial("sum"), partial("sum")},
                    {{"grad_out", area}, {"input", area}});
  }
}

GradientParts parts_of(const Call& call) {
  const auto [mean, spread] = names_of(call);
  const Statistics statistics{load(call.tensor(mean)), load(call.tensor(spread))};
  GradientParts parts;
  parts.grad = load(call.tensor("grad_out"));
  parts.x = load(call.tensor("input"));
  parts.mean = statistics.mean;
  parts.rstd = call.attribute<bool>("train") ? statistics.variance
                                             : statistics.rstd(call.attribute<double>("eps"));
  parts.weight = load_optional(call, "weight");
  parts.grouping = grouping_of(call.tensor("input"));
  return parts;
}

void declare_gradient(Registrar& r) {
  declare_norm_gradient_kind(r, kGradient, batch_norm_sets, parts_of);
  r.op("native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? "
       "running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, "
       "float eps, bool[3] output_mask) -> (Tensor?, Tensor?, Tensor?)")
      .summary("gradients of batch_norm: of its input, weight and bias, as the mask wants")
      .position_aware()  // a part of a batch stands among all of it
      .infer(infer_gradient)
      .rules(emit_gradient_rules)
      .compute(kFloats,
               [](const Call& call, const onedim_execution_t&) {
                 const From from =
                     call.attribute<bool>("train") ? From::kOwnElements : From::kGiven;
                 store_gradient(call, differentiate(parts_of(call), from));
               })
      .cost(cost_per_element(14))
      .samples({"f32[4,3]; f32[4,3]; f32[3]; -; -; f32[3]; f32[3]; train=true; eps=1e-05; "
                "output_mask=[true,true,true]",
                "f64[5,2]; f64[5,2]; f64[2]; f64[2]; f64[2]:positive; -; -; train=false; "
                "eps=0.001; output_mask=[true,true,true]",
                "f64[2,2,3]; f64[2,2,3]; -; -; -; f64[2]; f64[2]; train=true; eps=0.1; "
                "output_mask=[true,false,false]",
                "f64[3,2,2]; f64[3,2,2]; -; -; -; f64[2]; f64[2]; train=true; eps=0.1; "
                "output_mask=[false,true,true]",
                "bf16[3,4]; bf16[3,4]; f32[4]; -; -; f32[4]; f32[4]; train=true; eps=1e-05; "
                "output_mask=[true,true,false]"});
}

}  // namespace

void declare_batch_norm(Registrar& r) {
  declare_forms_without_running(r);
  declare_functional_forms(r);
  declare_writing_forms(r);
  declare_gradient(r);
}

}  // namespace nn
