#pragma once
// The families of factories: tensors whose elements are one number, or known from their position.

#include <onedim/pack.hpp>
#include <onedim/positions.hpp>
#include <onedim/unread.hpp>

namespace factory {

using namespace onedim::api;

void declare_fills(Registrar& r);      // full, zeros, ones, empty, as sizes, like or in a tensor
void declare_sequences(Registrar& r);  // arange, linspace, eye

// `head(arguments` with the keywords that all factories take.
inline std::string with_options(std::string_view head, std::string_view more = "") {
  std::string schema(head);
  schema +=
      ", *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None";
  schema += more;
  return schema += ") -> Tensor";
}

// The number that all elements of a call's output are.
using NumberFn = std::function<onedim_value_t(const Call&)>;
NumberFn always(int64_t number);
NumberFn given(std::string name);  // an attribute

// The dtype argument, or `otherwise`.
inline DType dtype_or(const Call& call, DType otherwise) {
  return call.has_attribute("dtype") ? call.attribute<DType>("dtype") : otherwise;
}

// Fails where `dtype` cannot hold the number, as ATen does.
void require_fits(const onedim_value_t& number, DType dtype);

void fill(const TensorView& out, const onedim_value_t& number);

// Rules of an output that is `number` everywhere, whatever the tensors read hold and wherever
// they lie.
void constant_rules(const Call& call, RuleSink& rules, const onedim_value_t& number);

}  // namespace factory
