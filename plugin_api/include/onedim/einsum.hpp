#pragma once
// Einsum: one equation gives an op's shape and its sharding rules. Equations are PyTorch's:
// letters, spaces, `...` (aligned to the right), a letter twice in one operand (its diagonal), an
// output that may be left out (ellipsis first, then the letters that occur once, sorted), size 1
// against n. Theory: the output is a sum over the summed letters of products with one element of
// each operand.
//   a letter that is cut everywhere alike cuts the output, or leaves a P(sum) if it is summed;
//   the sum is linear in each operand alone; without summation it is multiplicative in all at once;
//   a single operand without summation is a view, which passes every partial.

#include <onedim/inline.hpp>
#include <onedim/shapes.hpp>

#include <array>
#include <functional>

namespace onedim::api {

// An equation bound to the dims of its operands: one character per dim. Ellipsis dims are the
// characters 1, 2, ... counted from the right.
struct Einsum {
  std::vector<std::string> operands;
  std::string output;
  std::array<int64_t, 256> sizes{};              // by character; -1 where unused
  std::vector<std::span<const int64_t>> shapes;  // of the operands

  int64_t size(char letter) const { return sizes[static_cast<unsigned char>(letter)]; }
  bool is_summed(char letter) const { return output.find(letter) == std::string::npos; }
  // All characters, each once.
  std::string letters() const {
    std::string all;
    for (const std::string& operand : operands) {
      for (char letter : operand) {
        if (all.find(letter) == std::string::npos) all += letter;
      }
    }
    return all;
  }
  // Elements that one output element sums over.
  int64_t summed_count() const {
    int64_t count = 1;
    for (char letter : letters()) count *= is_summed(letter) ? size(letter) : 1;
    return count;
  }
  Shape output_shape() const {
    Shape shape;
    for (char letter : output) shape.push_back(size(letter));
    return shape;
  }
};

// How error texts call operand k; where there is no name, `operand k`.
using OperandName = std::function<std::string(size_t k)>;

namespace detail {
inline constexpr std::string_view kEllipsis = "...";

ONEDIM_INLINE std::string ellipsis_letters(int count) {
  std::string letters;
  for (int i = count; i > 0; --i) letters += static_cast<char>(i);
  return letters;
}

// The letters of one operand or of the output, the ellipsis replaced by `ellipsis`.
ONEDIM_INLINE std::string expand_letters(std::string_view text, const std::string& ellipsis) {
  std::string letters;
  const size_t dots = text.find(kEllipsis);
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == dots) {
      letters += ellipsis;
      i += 2;
      continue;
    }
    const char c = text[i];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
      fail("the equation has \"" + std::string(1, c) + "\", expected letters, commas, ... and ->");
    letters += c;
  }
  return letters;
}

// Dim `dim` of operand k has another size than a dim before it of the same letter.
[[noreturn]] inline void fail_sizes(const Einsum& einsum, size_t k, size_t dim,
                                    const OperandName& name) {
  const char letter = einsum.operands[k][dim];
  const int64_t size = einsum.shapes[k][dim];
  const auto place = [&](size_t operand, size_t at) {
    return "dim " + std::to_string(at) + " of " +
           (name ? name(operand) : "operand " + std::to_string(operand));
  };
  const std::string is_letter = letter >= 'A' ? " (" + std::string(1, letter) + ")" : "";
  for (size_t operand = 0; operand < einsum.operands.size(); ++operand) {
    const std::string& letters = einsum.operands[operand];
    for (size_t at = 0; at < letters.size(); ++at) {
      const int64_t other = einsum.shapes[operand][at];
      if (letters[at] != letter || other == size || (operand == k && at == dim)) continue;
      fail(place(operand, at) + " has size " + std::to_string(other) + " and " + place(k, dim) +
           " has size " + std::to_string(size) + ", expected one size" + is_letter);
    }
  }
  fail(place(k, dim) + " has size " + std::to_string(size) + ", which no other dim has");
}

ONEDIM_INLINE void bind_sizes(Einsum& einsum, size_t k, const OperandName& name) {
  const std::string& letters = einsum.operands[k];
  for (size_t dim = 0; dim < letters.size(); ++dim) {
    const int64_t size = einsum.shapes[k][dim];
    int64_t& known = einsum.sizes[static_cast<unsigned char>(letters[dim])];
    const size_t first = letters.find(letters[dim]);
    const bool repeats = first < dim && einsum.shapes[k][first] != size;
    if (repeats || (known > 1 && size != 1 && known != size) || (known == 0 && size > 1))
      fail_sizes(einsum, k, dim, name);
    if (known < 0 || known == 1) known = size;
  }
}

ONEDIM_INLINE std::string implicit_output(const Einsum& einsum, const std::string& ellipsis) {
  std::string all, once;
  for (const std::string& operand : einsum.operands) all += operand;
  for (char letter : all) {
    const bool is_letter = letter >= 'A';
    if (is_letter && std::count(all.begin(), all.end(), letter) == 1) once += letter;
  }
  std::sort(once.begin(), once.end());
  return ellipsis + once;
}
}  // namespace detail

// Splits `a,b,c`.
ONEDIM_INLINE std::vector<std::string> split_operands(std::string_view left) {
  std::vector<std::string> operands;
  while (true) {
    const size_t comma = left.find(',');
    operands.emplace_back(left.substr(0, comma));
    if (comma == std::string_view::npos) return operands;
    left.remove_prefix(comma + 1);
  }
}

ONEDIM_INLINE Einsum bind_einsum(std::string_view equation,
                                 std::vector<std::span<const int64_t>> shapes,
                                 const OperandName& name = {}) {
  std::string text(equation);
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  const std::vector<std::string> operands = split_operands(text.substr(0, arrow));
  if (operands.size() != shapes.size())
    fail("the equation has " + std::to_string(operands.size()) + " operands, the call has " +
         std::to_string(shapes.size()));
  Einsum einsum;
  einsum.sizes.fill(-1);
  einsum.shapes = std::move(shapes);
  int widest = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    const bool has_ellipsis = operands[k].find(detail::kEllipsis) != std::string::npos;
    const int ndim = static_cast<int>(einsum.shapes[k].size());
    const int rest = ndim - static_cast<int>(operands[k].size()) + (has_ellipsis ? 3 : 0);
    if (rest < 0 || (rest > 0 && !has_ellipsis))
      fail("operand " + std::to_string(k) + " has " + std::to_string(ndim) +
           " dims, the equation says \"" + operands[k] + "\"");
    einsum.operands.push_back(detail::expand_letters(operands[k], detail::ellipsis_letters(rest)));
    widest = std::max(widest, rest);
    detail::bind_sizes(einsum, k, name);
  }
  const std::string ellipsis = detail::ellipsis_letters(widest);
  einsum.output = arrow == std::string::npos
                      ? detail::implicit_output(einsum, ellipsis)
                      : detail::expand_letters(std::string_view(text).substr(arrow + 2), ellipsis);
  for (char letter : einsum.output) {
    const bool is_known = einsum.size(letter) >= 0;
    if (is_known && std::count(einsum.output.begin(), einsum.output.end(), letter) == 1) continue;
    fail("the output of equation \"" + text + "\" has the letter " + letter +
         (is_known ? " twice, expected each letter once"
                   : ", expected letters that some operand has"));
  }
  return einsum;
}

// The arguments of a call whose first operand is in `first_slot`; valid as long as the call.
ONEDIM_INLINE OperandName operand_names(const Call& call, int first_slot = 0) {
  return [&call, first_slot](size_t k) { return call.slot_name(first_slot + static_cast<int>(k)); };
}

// Bound to the first inputs of a call, from `first_slot` on.
ONEDIM_INLINE Einsum bind_einsum(std::string_view equation, const Call& call, int first_slot = 0) {
  const std::string_view left = equation.substr(0, equation.find("->"));
  const auto count = 1 + std::count(left.begin(), left.end(), ',');
  std::vector<std::span<const int64_t>> shapes;
  for (int slot = first_slot; slot < first_slot + count; ++slot) {
    require(slot < call.input_count() && call.input(slot).present(),
            "the equation has more operands than the call");
    shapes.push_back(call.input(slot).shape());
  }
  return bind_einsum(equation, std::move(shapes), operand_names(call, first_slot));
}

// One single-dim strategy of the operands and the output; the all-replicate one is left out.
struct EinsumStrategy {
  Placement output;
  std::vector<Placement> operands;
};

ONEDIM_INLINE std::vector<EinsumStrategy> einsum_strategies(const Einsum& einsum) {
  std::vector<EinsumStrategy> strategies;
  const size_t count = einsum.operands.size();
  const std::vector<Placement> replicated(count, replicate());
  for (char letter : einsum.letters()) {
    bool repeats = false;
    EinsumStrategy cut{partial("sum"), replicated};
    for (size_t k = 0; k < count; ++k) {
      const size_t dim = einsum.operands[k].find(letter);
      repeats |= dim != einsum.operands[k].rfind(letter);
      const bool has = dim != std::string::npos && einsum.shapes[k][dim] != 1;
      if (has) cut.operands[k] = any_shard(static_cast<int>(dim));
    }
    // A diagonal is not made of the shards' diagonals.
    if (repeats || einsum.size(letter) == 1) continue;
    if (!einsum.is_summed(letter))
      cut.output = any_shard(static_cast<int>(einsum.output.find(letter)));
    strategies.push_back(std::move(cut));
  }
  for (size_t k = 0; k < count; ++k) {
    for (std::string_view kind : {"sum", "avg"}) {
      strategies.push_back({partial(kind), replicated});
      strategies.back().operands[k] = partial(kind);
    }
  }
  if (einsum.summed_count() != 1) return strategies;
  strategies.push_back({partial("product"), std::vector<Placement>(count, partial("product"))});
  if (count > 1) return strategies;
  for (std::string_view kind : {"max", "min"})
    strategies.push_back({partial(kind), {partial(kind)}});
  return strategies;
}

// Slots beyond the operands are replicated.
ONEDIM_INLINE void einsum_rules(const Call& call, RuleSink& rules, std::string_view equation) {
  std::vector<Placement> inputs(static_cast<size_t>(call.input_count()), replicate());
  for (int slot = 0; slot < call.input_count(); ++slot) {
    if (!call.input(slot).present()) inputs[static_cast<size_t>(slot)] = absent();
  }
  for (const EinsumStrategy& strategy : einsum_strategies(bind_einsum(equation, call))) {
    std::copy(strategy.operands.begin(), strategy.operands.end(), inputs.begin());
    rules.add(std::span(&strategy.output, 1), inputs);
  }
}

// Tensors of a call, absent ones aside, as products take them.
ONEDIM_INLINE void require_one_dtype(const Call& call) {
  const DType first = call.input(0).dtype();
  for (int slot = 1; slot < call.input_count(); ++slot) {
    const TensorView tensor = call.input(slot);
    if (!tensor.present() || tensor.dtype() == first) continue;
    fail(call.slot_name(0) + " is " + name_of(first) + " and " + call.slot_name(slot) + " is " +
         name_of(tensor.dtype()) + ", expected one dtype");
  }
}

// The output's shape where all dims of one letter have one size, as kernels of products count on;
// only dims of an ellipsis may be 1 against n.
ONEDIM_INLINE Shape product_shape(const Call& call, std::string_view equation, int first_slot = 0) {
  const Einsum product = bind_einsum(equation, call, first_slot);
  for (size_t k = 0; k < product.operands.size(); ++k) {
    for (size_t dim = 0; dim < product.shapes[k].size(); ++dim) {
      const char letter = product.operands[k][dim];
      if (letter >= 'A' && product.shapes[k][dim] != product.size(letter))
        detail::fail_sizes(product, k, dim, operand_names(call, first_slot));
    }
  }
  return product.output_shape();
}

}  // namespace onedim::api
