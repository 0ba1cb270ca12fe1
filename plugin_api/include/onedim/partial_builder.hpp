#pragma once
// PartialBuilder: declares a joint partial kind: state tensors that ranks merge with an associative
// and commutative `combine`. Without `local` the op's own outputs are the state; without `finish`
// the merged state is the result.
//   theory: (max m, sum s of exp(x - m)) merge by rescaling to the larger m and adding, identity
//   (-inf, 0).

#include <onedim/inline.hpp>
#include <onedim/sinks.hpp>

#include <functional>

#include <onedim/op_builder.hpp>

namespace onedim::api {

using States = std::span<const onedim_tensor_t>;

class PartialBuilder {
 public:
  PartialBuilder(std::string_view name, std::vector<std::string> components)
      : name_(name), components_(std::move(components)) {}
  PartialBuilder(const PartialBuilder&) = delete;

  PartialBuilder& revision(uint32_t revision) { return revision_ = revision, *this; }
  // Outputs of the op that the kind stands for; as many as there are components by default.
  PartialBuilder& outputs(int count) { return output_count_ = count, *this; }
  // Dtypes and shapes of the state; by default those of the outputs.
  PartialBuilder& state(std::function<void(const Call&, OutputSink&)> fn) {
    return state_ = std::move(fn), *this;
  }
  PartialBuilder& local(std::function<void(const Call&, States)> fn) {
    return local_ = std::move(fn), *this;
  }
  // One neutral value a component.
  PartialBuilder& identity(std::vector<double> values);
  PartialBuilder& identity(std::function<void(States)> fn) {
    return identity_ = std::move(fn), *this;
  }
  PartialBuilder& combine(std::function<void(States into, States from)> fn) {
    return combine_ = std::move(fn), *this;
  }
  PartialBuilder& finish(std::function<void(States, States outputs)> fn) {
    return finish_ = std::move(fn), *this;
  }
  int32_t register_with(const onedim_host_t* host, onedim_registrar_t* registrar);

 private:
  static PartialBuilder& self(void* user) { return *static_cast<PartialBuilder*>(user); }
  States states(const onedim_tensor_t* raw) const { return {raw, components_.size()}; }
  States outputs_of(const onedim_tensor_t* raw) const {
    return {raw, static_cast<size_t>(count())};
  }
  int count() const {
    return output_count_ > 0 ? output_count_ : static_cast<int>(components_.size());
  }

  std::string name_;
  std::vector<std::string> components_;
  uint32_t revision_ = 1;
  int output_count_ = 0;
  std::function<void(const Call&, OutputSink&)> state_;
  std::function<void(const Call&, States)> local_;
  std::function<void(States)> identity_;
  std::function<void(States, States)> combine_, finish_;
};

ONEDIM_INLINE PartialBuilder& PartialBuilder::identity(std::vector<double> values) {
  return identity([values = std::move(values)](States states) {
    require(values.size() == states.size(), "one neutral value is needed for each state");
    for (size_t i = 0; i < states.size(); ++i) {
      onedim_value_t number{ONEDIM_VALUE_FLOAT, 0, 0, values[i], 0, {}, nullptr, 0};
      const Operand fill{TensorView(), values[i], &number};
      map_elements<double>(TensorView(&states[i]), std::array{fill}, [](double x) { return x; });
    }
  });
}

ONEDIM_INLINE int32_t PartialBuilder::register_with(const onedim_host_t* host,
                                                    onedim_registrar_t* registrar) {
  std::vector<onedim_text_t> names;
  for (const std::string& component : components_) names.push_back(text_of(component));
  onedim_partial_kind_t kind{};
  kind.struct_size = sizeof kind;
  kind.name = text_of(name_);
  kind.revision = revision_;
  kind.components = names.data();
  kind.component_count = names.size();
  kind.output_count = static_cast<uint64_t>(count());
  kind.user = this;
  if (state_) {
    kind.state = [](const onedim_host_t* h, void* user, const onedim_call_t* raw,
                    onedim_sink_t* sink) noexcept {
      return guarded(h, [&] {
        OutputSink outputs(h, sink);
        self(user).state_(Call(raw), outputs);
      });
    };
  }
  if (local_) {
    kind.local = [](const onedim_host_t* h, void* user, const onedim_call_t* raw,
                    const onedim_tensor_t* states) noexcept {
      return guarded(h, [&] { self(user).local_(Call(raw), self(user).states(states)); });
    };
  }
  kind.identity = [](const onedim_host_t* h, void* user, const onedim_tensor_t* states) noexcept {
    return guarded(h, [&] { self(user).identity_(self(user).states(states)); });
  };
  kind.combine = [](const onedim_host_t* h, void* user, const onedim_tensor_t* into,
                    const onedim_tensor_t* from) noexcept {
    return guarded(h,
                   [&] { self(user).combine_(self(user).states(into), self(user).states(from)); });
  };
  if (finish_) {
    kind.finish = [](const onedim_host_t* h, void* user, const onedim_tensor_t* states,
                     const onedim_tensor_t* outputs) noexcept {
      return guarded(h, [&] {
        self(user).finish_(self(user).states(states), self(user).outputs_of(outputs));
      });
    };
  }
  return host->register_partial_kind(registrar, &kind);
}

}  // namespace onedim::api
