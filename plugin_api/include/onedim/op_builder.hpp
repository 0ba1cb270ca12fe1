#pragma once
// OpBuilder: declares one op in a few lines. Families give shapes and rules (pointwise, einsum);
// tables and callbacks add what they leave out. Declarations collect; the host sees them when the
// pack's function ends.

#include <onedim/einsum.hpp>
#include <onedim/families.hpp>
#include <onedim/inline.hpp>
#include <onedim/promotion.hpp>
#include <onedim/reduction.hpp>

#include <deque>
#include <functional>
#include <memory>

namespace onedim::api {

// Calls a callback, turns what it throws into a status with its message.
template <typename F>
int32_t guarded(const onedim_host_t* host, F&& f) noexcept {
  const auto report = [host](int32_t status, std::string_view text) {
    host->set_error(host, status, text_of(text));
    return status;
  };
  try {
    f();
    return ONEDIM_OK;
  } catch (const Error& error) {
    return report(error.status, error.text);
  } catch (const std::bad_alloc&) {
    return report(ONEDIM_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception& error) {
    return report(ONEDIM_STATUS_INTERNAL, error.what());
  } catch (...) {
    return report(ONEDIM_STATUS_INTERNAL, "unknown exception");
  }
}

class OpBuilder {
 public:
  using InferFn = std::function<void(const Call&, OutputSink&)>;
  using RulesFn = std::function<void(const Call&, RuleSink&)>;
  using ComputeFn = std::function<void(const Call&, const onedim_execution_t&)>;

  explicit OpBuilder(std::string_view schema) : schema_(schema) {}
  OpBuilder(const OpBuilder&) = delete;

  OpBuilder& summary(std::string_view text) { return summary_ = text, *this; }
  // A call as on the command line; the first sample if not given.
  OpBuilder& example(std::string_view text) { return example_ = text, *this; }
  OpBuilder& flags(uint64_t bits) { return flags_ |= bits, *this; }
  OpBuilder& position_aware() { return flags(ONEDIM_OP_POSITION_AWARE); }
  // What the outputs hold is no promise; rules hold for what the kernel writes.
  OpBuilder& undefined_content() { return flags(ONEDIM_OP_UNDEFINED_CONTENT); }
  OpBuilder& infer(InferFn fn) { return infer_ = std::move(fn), *this; }
  // Rules that hold for every call, as text.
  OpBuilder& rules(std::initializer_list<std::string_view> table) {
    rule_table_.insert(rule_table_.end(), table.begin(), table.end());
    return *this;
  }
  OpBuilder& rules(RulesFn fn) { return rules_.push_back(std::move(fn)), *this; }
  // Partials that pass because of what kind of function the op is (families.hpp).
  OpBuilder& families(Families families) {
    return rules([families = std::move(families)](const Call& call, RuleSink& sink) {
      add_families(call, sink, families);
    });
  }
  OpBuilder& families(std::function<Families(const Call&)> fn) {
    return rules([fn = std::move(fn)](const Call& call, RuleSink& sink) {
      add_families(call, sink, fn(call));
    });
  }
  OpBuilder& accept_local(std::function<void(const Call&)> fn) {
    return accept_ = std::move(fn), *this;
  }
  OpBuilder& cost(std::function<void(const Call&, onedim_cost_t&)> fn) {
    return cost_ = std::move(fn), *this;
  }
  OpBuilder& samples(std::initializer_list<std::string_view> table) {
    samples_.insert(samples_.end(), table.begin(), table.end());
    return *this;
  }
  OpBuilder& samples(std::function<void(SampleSink&)> fn) {
    return samples_fn_ = std::move(fn), *this;
  }
  OpBuilder& gradient(std::initializer_list<std::string_view> ops) {
    gradient_.assign(ops.begin(), ops.end());
    return *this;
  }
  // `attribute` holds the size of output `slot`'s dim `first_dim`, or a list from there on.
  OpBuilder& size_attribute(std::string attribute, int slot = 0, int first_dim = 0) {
    size_attributes_.push_back({std::move(attribute), slot, first_dim});
    return *this;
  }
  // Also registers the in-place form, writing the first argument: `NAME_.overload`, or as named.
  OpBuilder& in_place(std::string_view name = {}) {
    in_place_ = name.empty() ? in_place_name(this->name()) : std::string(name);
    return *this;
  }
  // Also registers an out= form under its full name, `add.out`.
  OpBuilder& out(std::string_view name) { return out_ = name, *this; }

  // Also registers the same op under another name, `prims.abs`; with `in_place` that name's
  // in-place form too.
  OpBuilder& also(std::string_view name, bool in_place = false) {
    other_names_.emplace_back(name, in_place);
    return *this;
  }
  // Also registers a form over lists by its schema, as `_foreach_add.List(Tensor[] self,
  // Tensor[] other, *, Scalar alpha=1) -> Tensor[]`, with its out= form and, unless there is none,
  // the in-place form that writes its first list. Its arguments are this op's by name, or else by
  // position; an element may have a number where this op has a tensor.
  enum class ListForms { kAll, kNotInPlace };
  OpBuilder& over_lists(std::string_view schema, ListForms forms = ListForms::kAll) {
    list_forms_.emplace_back(schema, forms);
    return *this;
  }

  // Elementwise over `operands` (all Tensor arguments and numbers given for them by default):
  // broadcast shape, promoted dtype, shard rules on every dim.
  OpBuilder& pointwise(Promotion promotion = Promotion::kCommon,
                       std::vector<std::string> operands = {});
  // The same with dtypes of its own.
  OpBuilder& pointwise(PointwiseDTypesFn dtypes, std::vector<std::string> operands = {});
  // Pointwise: dtypes that the op does not compute in, though its kernel could.
  OpBuilder& refuses(uint64_t dtypes) { return refused_ |= dtypes, *this; }
  // Pointwise: the work of one element, for the cost.
  OpBuilder& flops(double per_element) { return flops_ = per_element, *this; }
  // Folds the dims in `dim` of the first input away (see reduction.hpp); a sharded one leaves
  // P(kind). The dtype stays unless `dtype` says otherwise.
  OpBuilder& reduction(std::string kind, std::function<DType(const Call&)> dtype = {},
                       EmptyDims empty = EmptyDims::kAll);
  // One output by an equation over the first operands, all of one dtype; dims of one letter have
  // one size.
  OpBuilder& einsum(std::string equation);

  // A kernel over raw tensors for input dtypes in `dtypes`.
  OpBuilder& compute(uint64_t dtypes, ComputeFn fn) {
    dtypes_ = dtypes;
    compute_ = std::move(fn);
    return *this;
  }
  OpBuilder& workspace(std::function<uint64_t(const Call&)> fn) {
    return workspace_ = std::move(fn), *this;
  }
  // A kernel of a pointwise op. `make(call)` returns the function of the elements; it runs once a
  // call.
  template <size_t kOperands, typename... Types, typename Make>
  OpBuilder& elementwise(ComputeTypes<Types...>, Make make);
  // The same over arguments other than the promoted operands: numbers such as `alpha`, controls.
  template <size_t kOperands, typename... Types, typename Make>
  OpBuilder& elementwise(ComputeTypes<Types...> types, const char* const (&names)[kOperands],
                         Make make) {
    kernel_operands_.assign(names, names + kOperands);
    return elementwise<kOperands>(types, std::move(make));
  }
  // The same for a function that needs nothing of the call: `compute<float, double>([](auto x)
  // {...})`.
  template <typename... Types, typename F>
  OpBuilder& compute(F f) {
    return elementwise<operand_count<F, std::tuple_element_t<0, std::tuple<Types...>>>()>(
        ComputeTypes<Types...>{}, [f](const Call&) { return f; });
  }

  template <typename... Types, typename F>
  OpBuilder& compute(ComputeTypes<Types...>, F f) {
    return compute<Types...>(std::move(f));
  }

  int32_t register_with(const onedim_host_t* host, onedim_registrar_t* registrar);

 private:
  struct SizeAttribute {
    std::string attribute;
    int slot;
    int first_dim;
  };
  template <typename F, typename C>
  static constexpr size_t operand_count() {
    if constexpr (std::is_invocable_v<F, C>)
      return 1;
    else if constexpr (std::is_invocable_v<F, C, C>)
      return 2;
    else if constexpr (std::is_invocable_v<F, C, C, C>)
      return 3;
    else
      return 4;
  }
  static std::string in_place_name(std::string_view plain) {
    std::string variant(plain);
    const size_t point = variant.rfind('.');
    return variant.insert(point == std::string::npos ? variant.size() : point, "_");
  }
  std::vector<std::string> schema_tensor_arguments() const;
  std::string variant_schema(std::string_view name, bool in_place) const;
  int32_t register_kernel(const onedim_host_t* host, onedim_registrar_t* registrar,
                          std::string_view name);
  int32_t register_op(const onedim_host_t* host, onedim_registrar_t* registrar,
                      const std::string& schema);
  int32_t register_forms(const onedim_host_t* host, onedim_registrar_t* registrar);
  int32_t register_list_form(const onedim_host_t* host, onedim_registrar_t* registrar,
                             std::string_view schema, ListForms forms);
  int32_t register_variant(const onedim_host_t* host, onedim_registrar_t* registrar,
                           const std::string& schema, std::string_view plain);
  std::string_view name() const { return std::string_view(schema_).substr(0, schema_.find('(')); }

  static OpBuilder& self(void* user) { return *static_cast<OpBuilder*>(user); }
  PointwiseDTypes checked_dtypes(const Call& call) const;
  uint64_t pointwise_input_dtypes() const;
  static int32_t infer_thunk(const onedim_host_t*, void*, const onedim_call_t*,
                             onedim_sink_t*) noexcept;
  static int32_t rules_thunk(const onedim_host_t*, void*, const onedim_call_t*,
                             onedim_sink_t*) noexcept;
  static int32_t accept_thunk(const onedim_host_t*, void*, const onedim_call_t*) noexcept;
  static int32_t cost_thunk(const onedim_host_t*, void*, const onedim_call_t*,
                            onedim_cost_t*) noexcept;
  static int32_t samples_thunk(const onedim_host_t*, void*, onedim_sink_t*) noexcept;
  static int32_t workspace_thunk(const onedim_host_t*, void*, const onedim_call_t*,
                                 uint64_t*) noexcept;
  static int32_t compute_thunk(const onedim_host_t*, void*, const onedim_call_t*,
                               const onedim_execution_t*) noexcept;

  std::string schema_, summary_, example_, in_place_, out_;
  std::vector<std::pair<std::string, bool>> other_names_;
  std::vector<std::pair<std::string, ListForms>> list_forms_;
  uint64_t flags_ = 0;
  std::vector<std::string> rule_table_, samples_, gradient_, operands_, kernel_operands_;
  PointwiseDTypesFn pointwise_dtypes_;
  uint64_t accepted_ = 0, refused_ = 0;  // compute dtypes of a pointwise op
  bool promotes_ = false;
  double flops_ = 1;
  InferFn infer_;
  std::vector<RulesFn> rules_;
  std::function<void(const Call&)> accept_;
  std::function<void(const Call&, onedim_cost_t&)> cost_;
  std::function<void(SampleSink&)> samples_fn_;
  std::vector<SizeAttribute> size_attributes_;
  uint64_t dtypes_ = 0;
  ComputeFn compute_;
  std::function<uint64_t(const Call&)> workspace_;
};

// Names of the schema's plain Tensor arguments, `out` aside.
ONEDIM_INLINE std::vector<std::string> OpBuilder::schema_tensor_arguments() const {
  std::vector<std::string> names;
  size_t at = schema_.find('(') + 1;
  const size_t end = schema_.rfind(')', schema_.find("->"));
  if (end == std::string::npos) return names;  // ill-formed, which the host will say
  while (at < end) {
    const size_t stop = std::min(schema_.find(',', at), end);
    const std::string argument = schema_.substr(at, stop - at);
    const size_t type = argument.find("Tensor");
    const size_t space = argument.find(' ', type == std::string::npos ? 0 : type);
    const bool is_list = argument.find("Tensor[") != std::string::npos;
    if (type != std::string::npos && space != std::string::npos && !is_list) {
      names.push_back(argument.substr(space + 1, argument.find('=') - space - 1));
    }
    at = stop + 1;
  }
  return names;
}

ONEDIM_INLINE OpBuilder& OpBuilder::reduction(std::string kind,
                                              std::function<DType(const Call&)> dtype,
                                              EmptyDims empty) {
  infer_ = [dtype, empty](const Call& call, OutputSink& outputs) {
    const std::vector<bool> reduced = reduced_dims(call, empty);
    outputs.add(dtype ? dtype(call) : call.input(0).dtype(),
                reduced_shape(call.input(0).shape(), reduced, keeps_dims(call)));
  };
  rules_.push_back([kind = std::move(kind), empty](const Call& call, RuleSink& rules) {
    reduction_rules(call, rules, reduced_dims(call, empty), keeps_dims(call), kind);
  });
  return *this;
}

ONEDIM_INLINE OpBuilder& OpBuilder::einsum(std::string equation) {
  infer_ = [equation](const Call& call, OutputSink& outputs) {
    require_one_dtype(call);
    outputs.add(call.input(0).dtype(), product_shape(call, equation));
  };
  rules_.push_back(
      [equation](const Call& call, RuleSink& rules) { einsum_rules(call, rules, equation); });
  return *this;
}

}  // namespace onedim::api
