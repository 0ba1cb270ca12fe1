// Rules by letters, see rules.hpp: out[b,h,q,e] = sum_k exp(w[b,h,q,k] - lse[b,h,q]) value[b,g,k,e]
// with lse = log sum_k exp w. Each letter of out may be cut everywhere. Cut keys leave softmax's
// joint partial of out and lse, as each rank's weights add up to 1 among its own keys. Cut features
// would leave scores that are sums, of which there is no softmax. out is linear in the value; query
// and key stand in the exponent, so no partial of theirs passes.
//   _scaled_dot_product_flash_attention_for_cpu f64[2,4,5,8], f64[2,4,7,8], f64[2,4,7,3]:
//   S(2), S(2) | S(2), R, R, -;  S(3), R | R, R, S(3), -;  P(sum), R | R, R, P(sum), -;
//   P(attention.softmax#0), P(attention.softmax#1) | R, S(2), S(2), -

#include "rules.hpp"

#include "forward.hpp"

namespace attention {
namespace {

constexpr std::array<std::string_view, 2> kLinearKinds = {"sum", "avg"};

bool is_gradient(Result result) { return result >= Result::kGradQuery; }

std::string letters_of_result(const Call& call, const Backend& backend, Result result) {
  switch (result) {
    case Result::kOut:
      return "bhqe";
    case Result::kLogsumexp:
      return "bhq";
    case Result::kWeights:
    case Result::kDebugMask:
      return "bhqk";
    case Result::kGradQuery:
      return "bhqd";
    case Result::kGradKey:
      return "bgkd";
    case Result::kGradValue:
      return "bgke";
    case Result::kGradBias:
      return bias_of(call, backend).present() ? mask_letters(bias_of(call, backend)) : "";
    default:
      return "";
  }
}

std::string letters_of_input(const Call& call, const Backend& backend, std::string_view name) {
  if (name == "query") return "bhqd";
  if (name == "key") return "bgkd";
  if (name == "value") return "bgke";
  if (name == "out" || name.starts_with("grad_out")) return "bhqe";
  if (name == "logsumexp") return "bhq";
  return name == backend.bias && call.has_tensor(name) ? mask_letters(call.tensor(name)) : "";
}

class Rules {
 public:
  Rules(const Call& call, const Backend& backend, RuleSink& sink)
      : call_(call), backend_(backend), sink_(sink) {
    const onedim_call_t* raw = call.raw();
    for (uint64_t i = 0; i < raw->argument_count; ++i) {
      const onedim_argument_t& argument = raw->arguments[i];
      if (argument.first_slot < 0) continue;
      names_.push_back(view_of(argument.name));
      inputs_.push_back(letters_of_input(call, backend, names_.back()));
    }
    for (const Result result : backend.results)
      outputs_.push_back(letters_of_result(call, backend, result));
  }

  void cut(std::string_view letters, const RuleOptions& options = {}) {
    const bool is_plain = !options.requirements.empty();
    std::vector<Placement> inputs, outputs;
    for (size_t slot = 0; slot < inputs_.size(); ++slot)
      inputs.push_back(placed(input(slot), inputs_[slot], letters, is_plain, replicate()));
    for (size_t slot = 0; slot < outputs_.size(); ++slot)
      outputs.push_back(
          placed(output(slot), outputs_[slot], letters, is_plain, lacking(slot, letters)));
    sink_.add(outputs, inputs, options);
  }

  // The named inputs partial, the outputs too but those that read none of them.
  void linear(std::initializer_list<std::string_view> names, std::initializer_list<Result> deaf) {
    for (const std::string_view kind : kLinearKinds) {
      std::vector<Placement> inputs, outputs;
      for (size_t slot = 0; slot < names_.size(); ++slot) {
        const bool is_named = std::count(names.begin(), names.end(), names_[slot]) > 0;
        const Placement placement = is_named ? partial(kind) : replicate();
        inputs.push_back(input(slot).present() ? placement : absent());
      }
      for (size_t slot = 0; slot < outputs_.size(); ++slot) {
        const bool is_deaf = outputs_[slot].empty() ||
                             std::count(deaf.begin(), deaf.end(), backend_.results[slot]) > 0;
        const Placement placement = is_deaf ? replicate() : partial(kind);
        outputs.push_back(output(slot).present() ? placement : absent());
      }
      sink_.add(outputs, inputs);
    }
  }

  // Weights need the sum over all keys.
  bool can_cut_keys() const {
    bool has_lse = backend_.is_backward();
    for (size_t slot = 0; slot < outputs_.size(); ++slot) {
      if (!output(slot).present()) continue;
      has_lse |= backend_.results[slot] == Result::kLogsumexp;
      if (!backend_.is_backward() && outputs_[slot] == "bhqk") return false;
    }
    return has_lse;
  }

 private:
  TensorView input(size_t slot) const { return call_.input(static_cast<int>(slot)); }
  TensorView output(size_t slot) const { return call_.output(static_cast<int>(slot)); }

  Placement lacking(size_t slot, std::string_view letters) const {
    const Result result = backend_.results[slot];
    if (is_gradient(result)) return partial("sum");
    const bool is_state = result == Result::kOut || result == Result::kLogsumexp;
    if (!is_state || letters != "k") return replicate();
    return partial(kPartialKind, result == Result::kOut ? 0 : 1);
  }

  static Placement placed(const TensorView& tensor, const std::string& own,
                          std::string_view letters, bool is_plain, const Placement& otherwise) {
    if (!tensor.present()) return absent();
    const size_t dim = own.find_first_of(letters);
    if (dim == std::string::npos) return otherwise;
    return is_plain ? shard(static_cast<int>(dim)) : any_shard(static_cast<int>(dim));
  }

  const Call& call_;
  const Backend& backend_;
  RuleSink& sink_;
  std::vector<std::string_view> names_;
  std::vector<std::string> inputs_, outputs_;
};

bool cuts_heads(const onedim_location_t& at, int slot, int mesh_dim) {
  const onedim_placement_t& placement = at.inputs[slot].placements[mesh_dim];
  const bool is_shard =
      placement.kind == ONEDIM_PLACEMENT_SHARD || placement.kind == ONEDIM_PLACEMENT_STRIDED_SHARD;
  return is_shard && placement.dim == 1 && at.mesh_shape[mesh_dim] > 1;
}

}  // namespace

void emit_rules(const Call& call, const Backend& backend, RuleSink& sink) {
  Rules rules(call, backend, sink);
  const int64_t group = group_size(call);
  rules.cut("b");
  // Strided shards of query and key heads would tear groups apart, and so would other lengths.
  RuleOptions whole_groups;
  if (group > 1) whole_groups.requirements = {{0, call.slot("query"), 1, 0, group}};
  rules.cut("hg", whole_groups);
  rules.cut("h");
  rules.cut("q");
  if (rules.can_cut_keys()) rules.cut("k");
  if (!backend.is_backward() && sees_one_key(call, backend))
    return emit_single_key_rules(call, backend, sink);
  rules.cut("e");
  if (!backend.is_backward())
    return rules.linear({"value"}, {Result::kLogsumexp, Result::kWeights, Result::kDebugMask});
  rules.linear({"grad_out", "grad_out_"}, {});
  rules.linear({"value", "out"}, {Result::kGradValue});
}

void accept_local(const Call& call) {
  const onedim_location_t* at = call.location();
  bool cuts_both = false, cuts_queries = false;
  // Whether each query head finds its key head depends on the order of such cuts, and a rank is not
  // told the order.
  for (int mesh_dim = 0; at != nullptr && mesh_dim < at->mesh_ndim; ++mesh_dim) {
    if (!cuts_heads(*at, call.slot("query"), mesh_dim)) continue;
    (cuts_heads(*at, call.slot("key"), mesh_dim) ? cuts_both : cuts_queries) = true;
  }
  require(!cuts_both || !cuts_queries,
          "one mesh dim cuts query and key heads, and another the query heads alone");
}

}  // namespace attention
