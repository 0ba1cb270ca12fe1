#pragma once
// How an OpBuilder meets the host: the C descriptor, the callbacks' trampolines, the derived
// in-place and out= forms. Nothing here is for pack authors to call.

#include <onedim/inline.hpp>
#include <onedim/op_builder.hpp>

namespace onedim::api {

ONEDIM_INLINE std::vector<onedim_text_t> texts_of(const std::vector<std::string>& strings) {
  std::vector<onedim_text_t> texts;
  for (const std::string& string : strings) texts.push_back(text_of(string));
  return texts;
}

ONEDIM_INLINE int32_t OpBuilder::infer_thunk(const onedim_host_t* host, void* user,
                                             const onedim_call_t* raw,
                                             onedim_sink_t* sink) noexcept {
  return guarded(host, [&] {
    OutputSink outputs(host, sink);
    self(user).infer_(Call(raw), outputs);
  });
}
ONEDIM_INLINE int32_t OpBuilder::rules_thunk(const onedim_host_t* host, void* user,
                                             const onedim_call_t* raw,
                                             onedim_sink_t* sink) noexcept {
  return guarded(host, [&] {
    const Call call(raw);
    RuleSink rules(host, sink, call);
    for (const RulesFn& emit : self(user).rules_) emit(call, rules);
  });
}
ONEDIM_INLINE int32_t OpBuilder::accept_thunk(const onedim_host_t* host, void* user,
                                              const onedim_call_t* raw) noexcept {
  return guarded(host, [&] { self(user).accept_(Call(raw)); });
}
ONEDIM_INLINE int32_t OpBuilder::cost_thunk(const onedim_host_t* host, void* user,
                                            const onedim_call_t* raw,
                                            onedim_cost_t* cost) noexcept {
  return guarded(host, [&] { self(user).cost_(Call(raw), *cost); });
}
ONEDIM_INLINE int32_t OpBuilder::samples_thunk(const onedim_host_t* host, void* user,
                                               onedim_sink_t* sink) noexcept {
  return guarded(host, [&] {
    SampleSink samples(host, sink);
    self(user).samples_fn_(samples);
  });
}
ONEDIM_INLINE int32_t OpBuilder::workspace_thunk(const onedim_host_t* host, void* user,
                                                 const onedim_call_t* raw,
                                                 uint64_t* bytes) noexcept {
  return guarded(host, [&] { *bytes = self(user).workspace_(Call(raw)); });
}
ONEDIM_INLINE int32_t OpBuilder::compute_thunk(const onedim_host_t* host, void* user,
                                               const onedim_call_t* raw,
                                               const onedim_execution_t* execution) noexcept {
  return guarded(host, [&] { self(user).compute_(Call(raw), *execution); });
}

// `add_.Tensor(Tensor(a!) self, ...) -> Tensor(a!)`, or `add.out(..., *, Tensor(a!) out) ->
// Tensor(a!)`.
ONEDIM_INLINE std::string OpBuilder::variant_schema(std::string_view variant_name,
                                                    bool in_place) const {
  const size_t open = schema_.find('(');
  const size_t arrow = schema_.find("->");
  const size_t close = schema_.rfind(')', arrow);
  std::string arguments = schema_.substr(open + 1, close - open - 1);
  if (in_place) {
    require(arguments.starts_with("Tensor "), "an in-place form needs a Tensor as first argument");
    arguments = "Tensor(a!)" + arguments.substr(6);
  } else {
    const bool has_keywords = arguments.find("*,") != std::string::npos;
    arguments += has_keywords ? ", Tensor(a!) out" : ", *, Tensor(a!) out";
  }
  return std::string(variant_name) + "(" + arguments + ") -> Tensor(a!)";
}

ONEDIM_INLINE int32_t OpBuilder::register_kernel(const onedim_host_t* host,
                                                 onedim_registrar_t* registrar,
                                                 std::string_view op) {
  onedim_kernel_t kernel{};
  kernel.struct_size = sizeof kernel;
  kernel.op = text_of(op);
  kernel.device = ONEDIM_DEVICE_CPU;
  kernel.dtypes = accepted_ ? pointwise_input_dtypes() : dtypes_;
  kernel.user = this;
  kernel.compute = compute_thunk;
  kernel.workspace = workspace_ ? workspace_thunk : nullptr;
  return host->register_kernel(registrar, &kernel);
}

// A form of a plain op of this or another pack, by its whole schema: in-place, out= with one or
// more outputs, over lists. It writes the arguments that its schema marks with `!`, takes the
// others by name from the plain op, and shares the plain op's infer, rules, samples and kernels.
class VariantBuilder {
 public:
  VariantBuilder(std::string_view schema, std::string_view plain)
      : schema_(schema), plain_(plain) {}
  VariantBuilder& summary(std::string_view text) { return summary_ = text, *this; }
  VariantBuilder& example(std::string_view text) { return example_ = text, *this; }

  int32_t register_with(const onedim_host_t* host, onedim_registrar_t* registrar) {
    onedim_op_t op{};
    op.struct_size = sizeof op;
    op.schema = text_of(schema_);
    op.summary = text_of(summary_);
    op.example = text_of(example_);
    op.variant_of = text_of(plain_);
    return host->register_op(registrar, &op);
  }

 private:
  std::string schema_, plain_, summary_, example_;
};

ONEDIM_INLINE int32_t OpBuilder::register_variant(const onedim_host_t* host,
                                                  onedim_registrar_t* registrar,
                                                  const std::string& schema,
                                                  std::string_view plain) {
  return VariantBuilder(schema, plain).summary(summary_).register_with(host, registrar);
}

// Forms over lists return nothing where they write: `_foreach_add_.List(Tensor(a!)[] self, ...) ->
// ()`, `_foreach_add.List_out(..., *, Tensor(a!)[] out) -> ()`, `_foreach_abs.out`.
ONEDIM_INLINE int32_t OpBuilder::register_list_form(const onedim_host_t* host,
                                                    onedim_registrar_t* registrar,
                                                    std::string_view schema, ListForms forms) {
  const size_t open = schema.find('('), close = schema.rfind(')', schema.find("->"));
  const std::string form(schema.substr(0, open));
  const std::string arguments(schema.substr(open + 1, close - open - 1));
  const bool has_keywords = arguments.find("*,") != std::string::npos;
  int32_t status = register_variant(host, registrar, std::string(schema), name());
  if (status == ONEDIM_OK) {
    const std::string out = form.find('.') == std::string::npos ? ".out" : "_out";
    status = register_variant(
        host, registrar,
        form + out + "(" + arguments + (has_keywords ? ", " : ", *, ") + "Tensor(a!)[] out) -> ()",
        name());
  }
  if (status != ONEDIM_OK || forms == ListForms::kNotInPlace) return status;
  require(arguments.starts_with("Tensor[] "),
          "an in-place list form needs a list as first argument");
  return register_variant(host, registrar,
                          in_place_name(form) + "(Tensor(a!)" + arguments.substr(6) + ") -> ()",
                          name());
}

ONEDIM_INLINE int32_t OpBuilder::register_op(const onedim_host_t* host,
                                             onedim_registrar_t* registrar,
                                             const std::string& schema) {
  if (example_.empty() && !samples_.empty()) example_ = samples_.front();
  const std::vector<onedim_text_t> table = texts_of(rule_table_);
  const std::vector<onedim_text_t> samples = texts_of(samples_);
  const std::vector<onedim_text_t> gradient = texts_of(gradient_);
  std::vector<onedim_size_attribute_t> sizes;
  for (const SizeAttribute& size : size_attributes_) {
    sizes.push_back({text_of(size.attribute), size.slot, size.first_dim});
  }
  onedim_op_t op{};
  op.struct_size = sizeof op;
  op.schema = text_of(schema);
  op.summary = text_of(summary_);
  op.example = text_of(example_);
  op.flags = flags_;
  op.user = this;
  op.infer = infer_ ? infer_thunk : nullptr;
  op.rules = rules_.empty() ? nullptr : rules_thunk;
  op.accept_local = accept_ ? accept_thunk : nullptr;
  op.cost = cost_ ? cost_thunk : nullptr;
  op.samples = samples_fn_ ? samples_thunk : nullptr;
  op.rule_table = table.data();
  op.rule_table_count = table.size();
  op.sample_table = samples.data();
  op.sample_table_count = samples.size();
  op.size_attributes = sizes.data();
  op.size_attribute_count = sizes.size();
  op.gradient_ops = gradient.data();
  op.gradient_op_count = gradient.size();
  return host->register_op(registrar, &op);
}

ONEDIM_INLINE int32_t OpBuilder::register_forms(const onedim_host_t* host,
                                                onedim_registrar_t* registrar) {
  int32_t status = ONEDIM_OK;
  if (!in_place_.empty())
    status = register_variant(host, registrar, variant_schema(in_place_, true), name());
  if (status == ONEDIM_OK && !out_.empty())
    status = register_variant(host, registrar, variant_schema(out_, false), name());
  for (const auto& [form, forms] : list_forms_) {
    if (status == ONEDIM_OK) status = register_list_form(host, registrar, form, forms);
  }
  return status;
}

ONEDIM_INLINE int32_t OpBuilder::register_with(const onedim_host_t* host,
                                               onedim_registrar_t* registrar) {
  int32_t status = register_op(host, registrar, schema_);
  if (status == ONEDIM_OK && compute_) status = register_kernel(host, registrar, name());
  if (status == ONEDIM_OK) status = register_forms(host, registrar);
  for (const auto& [other, in_place] : other_names_) {
    if (status != ONEDIM_OK) break;
    status = register_op(host, registrar, other + schema_.substr(name().size()));
    if (status == ONEDIM_OK && compute_) status = register_kernel(host, registrar, other);
    if (status == ONEDIM_OK && in_place)
      status = register_variant(host, registrar, variant_schema(in_place_name(other), true), other);
  }
  return status;
}

// A kernel for an op that is declared elsewhere.
class KernelBuilder {
 public:
  KernelBuilder(std::string_view op, int32_t device) : op_(op), device_(device) {}
  KernelBuilder& compute(uint64_t dtypes, OpBuilder::ComputeFn fn) {
    dtypes_ = dtypes;
    compute_ = std::move(fn);
    return *this;
  }
  KernelBuilder& workspace(std::function<uint64_t(const Call&)> fn) {
    return workspace_ = std::move(fn), *this;
  }
  int32_t register_with(const onedim_host_t* host, onedim_registrar_t* registrar) {
    onedim_kernel_t kernel{};
    kernel.struct_size = sizeof kernel;
    kernel.op = text_of(op_);
    kernel.device = device_;
    kernel.dtypes = dtypes_;
    kernel.user = this;
    kernel.compute = [](const onedim_host_t* h, void* user, const onedim_call_t* raw,
                        const onedim_execution_t* execution) noexcept {
      return guarded(h,
                     [&] { static_cast<KernelBuilder*>(user)->compute_(Call(raw), *execution); });
    };
    if (workspace_) {
      kernel.workspace = [](const onedim_host_t* h, void* user, const onedim_call_t* raw,
                            uint64_t* bytes) noexcept {
        return guarded(h,
                       [&] { *bytes = static_cast<KernelBuilder*>(user)->workspace_(Call(raw)); });
      };
    }
    return host->register_kernel(registrar, &kernel);
  }

 private:
  std::string op_;
  int32_t device_;
  uint64_t dtypes_ = 0;
  OpBuilder::ComputeFn compute_;
  std::function<uint64_t(const Call&)> workspace_;
};

}  // namespace onedim::api
