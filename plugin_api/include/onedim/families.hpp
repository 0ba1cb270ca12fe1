#pragma once
// Families: how an op lets partials through, declared by what kind of function it is in some of its
// arguments. A table names which partial comes out for which goes in; a group names the arguments
// that must be partial together, the others being replicated.
// Theory: with ranks i and a reduction r, a rule `P(s) | P(r)` is the identity f(r_i x_i) = s_i
// f(x_i): f is a homomorphism from r to s. Linear functions are those of sums and means, monotone
// ones those of max and min (downwards they swap the two), exp turns sums into products, and so on.
// An idempotent reduction (avg, max, min) also lets equal values through, so an argument that
// cannot be partial, a number say, may stand beside partial ones; the host adds such rules for
// tensors.

#include <onedim/inline.hpp>
#include <onedim/sinks.hpp>

#include <array>
#include <cmath>

namespace onedim::api {

struct KindPair {
  std::string_view in;
  std::string_view out;
};
using KindTable = std::span<const KindPair>;

inline constexpr std::array<KindPair, 2> kLinear = {{{"sum", "sum"}, {"avg", "avg"}}};
inline constexpr std::array<KindPair, 1> kAffine = {{{"avg", "avg"}}};  // linear plus a constant
inline constexpr std::array<KindPair, 2> kIncreasing = {{{"max", "max"}, {"min", "min"}}};
inline constexpr std::array<KindPair, 2> kDecreasing = {{{"max", "min"}, {"min", "max"}}};
inline constexpr std::array<KindPair, 1> kMultiplicative = {{{"product", "product"}}};
inline constexpr std::array<KindPair, 1> kExponential = {{{"sum", "product"}}};
inline constexpr std::array<KindPair, 1> kLogarithmic = {{{"product", "sum"}}};
inline constexpr std::array<KindPair, 1> kMaxPreserving = {{{"max", "max"}}};  // also in groups
inline constexpr std::array<KindPair, 1> kMinPreserving = {{{"min", "min"}}};
// Monotone where the true value lies in the domain; locals beyond it would be no numbers.
inline constexpr std::array<KindPair, 1> kIncreasingFromBelow = kMinPreserving;
inline constexpr std::array<KindPair, 1> kDecreasingFromBelow = {{{"min", "max"}}};
inline constexpr std::array<KindPair, 5> kIdentity = {
    {{"sum", "sum"}, {"avg", "avg"}, {"max", "max"}, {"min", "min"}, {"product", "product"}}};

// Results that are 0 or 1: equal ones are a split of their product, and `and` is one.
inline constexpr std::array<KindPair, 1> kFlagResult = {{{"", "product"}}};  // of an empty group
inline constexpr std::array<KindPair, 3> kFlagIncreasing = {
    {{"max", "max"}, {"min", "min"}, {"min", "product"}}};
inline constexpr std::array<KindPair, 3> kFlagDecreasing = {
    {{"max", "min"}, {"min", "max"}, {"max", "product"}}};

struct Family {
  KindTable table;
  std::vector<std::string_view> group;  // names of arguments
};
using Families = std::vector<Family>;

// Which built-in partials a dtype can have: bool max and min; integers no avg; complex no order.
ONEDIM_INLINE bool is_legal_partial(std::string_view kind, DType dtype) {
  if (is_bool(dtype)) return kind == "max" || kind == "min";
  if (is_integral(dtype)) return kind != "avg";
  if (is_complex(dtype)) return kind != "max" && kind != "min";
  return dtype != DType::kF8E8M0 || kind != "sum";
}

// The same value on every rank is a split of itself: always for avg, max and min, and where adding
// or multiplying it to itself changes nothing.
ONEDIM_INLINE bool is_split_of_itself(std::string_view kind, const onedim_value_t& number) {
  if (kind == "avg" || kind == "max" || kind == "min") return true;
  const bool is_integer = number.kind == ONEDIM_VALUE_INT || number.kind == ONEDIM_VALUE_BOOL;
  const std::complex<double> value = is_integer
                                         ? std::complex<double>(static_cast<double>(number.integer))
                                         : std::complex<double>(number.real, number.imaginary);
  const bool is_infinite = value.imag() == 0 && std::isinf(value.real());
  if (kind == "sum") return value == 0.0 || is_infinite;
  return value == 0.0 || value == 1.0 || (is_infinite && value.real() > 0);
}
ONEDIM_INLINE bool is_split_of_itself(std::string_view kind, DType of_every_value) {
  return kind == "avg" || (kind == "product" && is_bool(of_every_value));
}

// An argument by name, and the partial it is when the rule applies.
struct PartialArgument {
  std::string_view name;
  std::string_view kind;
};

// Emits `P(out)` from these partial arguments, the others replicated; nothing if one of them can
// neither be partial nor stand beside partials, or none is left to be partial.
ONEDIM_INLINE void add_partial_rule(const Call& call, RuleSink& rules, std::string_view out,
                                    std::span<const PartialArgument> arguments) {
  std::vector<Placement> placements(call.input_count(), replicate());
  for (int slot = 0; slot < call.input_count(); ++slot) {
    if (!call.input(slot).present()) placements[slot] = absent();
  }
  bool any = arguments.empty();
  for (const auto& [name, kind] : arguments) {
    const onedim_argument_t& argument = call.argument(name);
    const onedim_value_t* number = argument.first_slot < 0 ? call.find_attribute(name) : nullptr;
    const bool is_number = number != nullptr && number->kind != ONEDIM_VALUE_NONE;
    if (is_number && !is_split_of_itself(kind, *number)) return;
    for (int i = 0; argument.first_slot >= 0 && i < argument.slot_count; ++i) {
      const TensorView tensor = call.input(argument.first_slot + i);
      if (!tensor.present()) continue;
      const bool is_legal = is_legal_partial(kind, tensor.dtype());
      if (!is_legal && !is_split_of_itself(kind, tensor.dtype())) return;
      any = any || is_legal;
      if (is_legal) placements[argument.first_slot + i] = partial(kind);
    }
  }
  if (any) rules.add(std::vector<Placement>(call.output_count(), partial(out)), placements);
}
ONEDIM_INLINE void add_partial_rule(const Call& call, RuleSink& rules, std::string_view out,
                                    std::initializer_list<PartialArgument> arguments) {
  add_partial_rule(call, rules, out, std::span(arguments.begin(), arguments.size()));
}

// Emits a family's rules for this call, one a row of its table.
ONEDIM_INLINE void add_family(const Call& call, RuleSink& rules, const Family& family) {
  for (const auto& [in, out] : family.table) {
    std::vector<PartialArgument> arguments;
    for (std::string_view name : family.group) arguments.push_back({name, in});
    add_partial_rule(call, rules, out, arguments);
  }
}
ONEDIM_INLINE void add_families(const Call& call, RuleSink& rules, const Families& families) {
  for (const Family& family : families) add_family(call, rules, family);
}

}  // namespace onedim::api
