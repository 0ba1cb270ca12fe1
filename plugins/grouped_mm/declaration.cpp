// _grouped_mm and its rules. Cutting a letter shards whatever has it; the output is a partial sum
// where it lacks the letter: the summed k, and the experts g, of which a rank computes its own and
// leaves the rest zero. The offsets are those of the whole tensor, so they stay whole. The product
// is linear in each operand beside a whole other one; two sums would lack the cross terms between
// ranks.
//   self bf16[8,16], mat2 bf16[2,16,8], offs i32[2] -> [8,8]: S(0) | S(0), R, R, -;
//   S(1) | R, S(2), R, -;  P(sum) | S(1), S(1), R, -;  P(sum) | R, S(0), R, -

#include "problem.hpp"

namespace grouped_mm {
namespace {

void infer(const Call& call, OutputSink& outputs) {
  const Problem problem(call);
  if (call.location() == nullptr) require_aligned(problem);  // accept_local looks at local calls
  Output out{problem.self.dtype(), problem.out_shape(), {}, -1, 0};
  // Rows begin at multiples of 16 bytes.
  const int64_t step = 16 / size_of(out.dtype);
  const int64_t row = (out.shape.back() + step - 1) / step * step;
  out.strides = {row, 1};
  if (out.shape.size() == 3) out.strides.insert(out.strides.begin(), out.shape[1] * row);
  outputs.add(out);
}

Placement cut(const std::string& letters, char letter, const Placement& otherwise) {
  const size_t dim = letters.find(letter);
  return dim == std::string::npos ? otherwise : any_shard(static_cast<int>(dim));
}

void emit_rules(const Call& call, RuleSink& rules) {
  const Problem problem(call);
  const auto add = [&](const Placement& out, const Placement& self, const Placement& mat2) {
    const Placement inputs[] = {self, mat2, problem.offs.present() ? replicate() : absent(),
                                absent()};
    rules.add(std::span(&out, 1), inputs);
  };
  for (const char letter : {'m', 'n', 'k', 'g'}) {
    const Placement self = cut(problem.self_letters, letter, replicate());
    const Placement mat2 = cut(problem.mat2_letters, letter, replicate());
    if (is_replicate(self) && is_replicate(mat2)) continue;
    add(cut(problem.out_letters, letter, partial("sum")), self, mat2);
  }
  for (const std::string_view kind : {"sum", "avg"}) {
    add(partial(kind), partial(kind), replicate());
    add(partial(kind), replicate(), partial(kind));
  }
}

// The groups share their dim; a rank's experts get their share of it.
void add_cost(const Call& call, onedim_cost_t& cost) {
  const Problem problem(call);
  cost.flops = 2.0 * problem.size('m') * problem.size('n') * problem.size('k');
  if (problem.ragged == 0) cost.flops *= static_cast<double>(problem.size('g'));
  if (problem.has_experts()) {
    const int slot = call.slot(problem.ragged == 'm' ? "mat2" : "self");
    const int64_t all = std::max<int64_t>(1, call.global_size(false, slot, 0));
    cost.flops *= static_cast<double>(call.input(slot).size(0)) / static_cast<double>(all);
  }
  for (int slot = 0; slot < 3; ++slot) {
    const TensorView tensor = call.input(slot);
    if (tensor.present())
      cost.bytes += static_cast<double>(tensor.element_count() * size_of(tensor.dtype()));
  }
  cost.bytes += static_cast<double>(call.output().element_count() * size_of(call.output().dtype()));
}

void declare(Registrar& r) {
  r.op("_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? "
       "out_dtype=None) -> Tensor")
      .summary("matrix products of groups of rows, columns or terms, or of a batch")
      .position_aware()
      .infer(infer)
      .rules(emit_rules)
      .accept_local([](const Call& call) { require_aligned(Problem(call)); })
      .cost(add_cost)
      .workspace(workspace)
      .compute((dtype_mask<float, double>() & ~kF8DTypes) | dtype_bit(DType::kI32), compute)
      .samples({"f64[7,4]; f64[3,4,2]; i32[3]:offsets(7); -",
                "f64[3,5,4]; f64[4,6]; i32[3]:offsets(6); -",
                "f64[5,6]; f64[6,4]; i32[3]:offsets(6); -", "f64[3,5,4]; f64[3,4,2]; -; -",
                "f32[6,4]; f32[2,4,8]; i32[2]:offsets(6); -",
                "bf16[6,8]; bf16[2,8,16]; i32[2]:offsets(6); -",
                "f16[2,3,8]; f16[2,8,8]; -; -; out_dtype=f16",
                "f64[5,2]; f64[1,2,4]; i32[1]:offsets(5); -"});
}

}  // namespace
}  // namespace grouped_mm

ONEDIM_PACK("grouped_mm", "1.0.0", [](onedim::api::Registrar& r) { grouped_mm::declare(r); });
