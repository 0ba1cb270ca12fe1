#include "knowledge.hpp"

#include <cmath>
#include <limits>

namespace pointwise {

int sign_of(std::complex<double> number) {
  if (number.imag() != 0) return 0;
  return number.real() > 0 ? 1 : number.real() < 0 ? -1 : 0;
}

Knowledge know(const Call& call, std::string_view name) {
  Knowledge known;
  const Operand found = operand(call, name);
  if (found.tensor.present()) {
    const DType dtype = found.tensor.dtype();
    known.is_flag = is_bool(dtype);
    known.nonnegative = is_bool(dtype) || dtype == DType::kU8;
  } else if (found.value != nullptr) {
    known.number = found.number;
    const bool is_real = found.number.imag() == 0;
    known.nonnegative = is_real && found.number.real() >= 0;
    known.nonpositive = is_real && found.number.real() <= 0;
    known.is_flag = found.number == 0.0 || found.number == 1.0;
  }
  return known;
}

Range range_of(DType dtype) {
  const double top = std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)) - 1);
  if (is_bool(dtype)) return {0, 1};
  if (dtype == DType::kU8) return {0, 255};
  if (is_integral(dtype)) return {-top, top - 1};
  return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
}

void add_scaled(Families& families, std::string_view name, int sign) {
  if (sign > 0) families.push_back({kIncreasing, {name}});
  if (sign < 0) families.push_back({kDecreasing, {name}});
}

void add_flag_result(Families& families, const Call& call, std::string_view name) {
  if (is_bool(call.output().dtype())) return;
  families.push_back({kFlagIncreasing, {name}});
  families.push_back({kFlagResult, {}});
}

void add_identity(Families& families, const Call& call, std::string_view name) {
  families.push_back({kIdentity, {name}});
  if (know(call, name).is_flag) add_flag_result(families, call, name);
}

Families linear_combination(const Call& call, std::array<std::string_view, 2> names,
                            std::array<std::complex<double>, 2> factors) {
  Families families = {{kLinear, {names[0], names[1]}}};
  for (int i = 0; i < 2; ++i) {
    if (know(call, names[i]).number) continue;
    add_scaled(families, names[i], sign_of(factors[i]));
    const bool is_alone = know(call, names[1 - i]).is(0);
    if (is_alone && factors[i] == 1.0) add_identity(families, call, names[i]);
  }
  return families;
}

namespace {

using Placements = std::vector<Placement>;

// All ways to make the replicated ones among `ignored` partial.
void emit_variants(const Call& call, RuleSink& rules, const Placements& outputs, Placements inputs,
                   std::span<const Ignored> ignored) {
  if (ignored.empty()) return rules.add(outputs, inputs);
  emit_variants(call, rules, outputs, inputs, ignored.subspan(1));
  const auto& [name, kinds] = ignored[0];
  if (!call.has_tensor(name) || !is_replicate(inputs[call.slot(name)])) return;
  for (const KindPair& kind : kinds) {
    if (!is_legal_partial(kind.in, call.tensor(name).dtype())) continue;
    inputs[call.slot(name)] = partial(kind.in);
    emit_variants(call, rules, outputs, inputs, ignored.subspan(1));
  }
}

}  // namespace

void add_ignoring(const Call& call, RuleSink& rules, std::string_view kept,
                  const std::vector<Ignored>& ignored) {
  Placements inputs(call.input_count(), replicate());
  emit_variants(call, rules, {replicate()}, inputs, ignored);
  for (int dim = 0; dim < call.output().ndim(); ++dim) {
    emit_variants(call, rules, {any_shard(dim)}, pointwise_inputs(call, dim), ignored);
  }
  if (!call.has_tensor(kept)) return;
  for (const KindPair& kind : kIdentity) {
    if (!is_legal_partial(kind.in, call.tensor(kept).dtype())) continue;
    inputs[call.slot(kept)] = partial(kind.in);
    emit_variants(call, rules, {partial(kind.out)}, inputs, ignored);
  }
}

}  // namespace pointwise
