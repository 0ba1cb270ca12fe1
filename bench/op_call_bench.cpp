// What core adds to an op's own work: describing a call to the pack, closing its rules, placing a
// local call, and running a prepared kernel that does nothing.

#include <benchmark/benchmark.h>

#include <stdexcept>

#include "core/pack/closed_rules.hpp"
#include "core/pack/local_call.hpp"
#include "core/pack/prepared_call.hpp"
#include "core/pack/staging.hpp"

namespace onedim {
namespace {

int32_t infer_same(const onedim_host_t* host, void*, const onedim_call_t* call,
                   onedim_sink_t* sink) noexcept {
  const onedim_tensor_t& x = call->inputs[0];
  const onedim_output_t output{sizeof(output), 1, x.dtype, x.ndim, -1, x.shape, nullptr, 0};
  return host->emit_output(sink, &output);
}

int32_t compute_nothing(const onedim_host_t*, void*, const onedim_call_t*,
                        const onedim_execution_t*) noexcept {
  return ONEDIM_OK;
}

constexpr onedim_text_t text_of(std::string_view text) { return {text.data(), text.size()}; }

int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) noexcept {
  static constexpr onedim_text_t kRules[] = {
      text_of("S*(0) | S*(0), S*(0)"), text_of("S*(1) | S*(1), S*(1)"),
      text_of("P(sum) | P(sum), P(sum)"), text_of("P(max) | P(max), P(max)")};
  onedim_op_t op{};
  op.struct_size = sizeof(op);
  op.schema = text_of("bench.add(Tensor x, Tensor y, *, Scalar alpha=1) -> Tensor");
  op.infer = infer_same;
  op.rule_table = kRules;
  op.rule_table_count = std::size(kRules);
  onedim_kernel_t kernel{};
  kernel.struct_size = sizeof(kernel);
  kernel.op = text_of("bench.add");
  kernel.dtypes = 1u << ONEDIM_DTYPE_F32;
  kernel.compute = compute_nothing;
  const int32_t status = host->register_op(registrar, &op);
  return status != ONEDIM_OK ? status : host->register_kernel(registrar, &kernel);
}

struct Subject {
  Subject() {
    const onedim_pack_t pack{
        sizeof(pack), ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR, 0, text_of("bench"), text_of("1"),
        init,         nullptr};
    Result<StagedPack> staged = stage(pack, "");
    if (!staged.ok() || !registry.commit(*std::move(staged)).ok())
      throw std::runtime_error("no pack");
    registry.resolve();
    op = registry.find("bench.add");
    call = parse_call(op->schema, "f32[8,6]; f32[8,6]; alpha=2")->call;
    outputs = *op->infer(call);
  }

  Registry registry;
  const Op* op = nullptr;
  Call call;
  std::vector<OptionalOutput> outputs;
};

void infer(benchmark::State& state) {
  const Subject subject;
  for (auto _ : state) benchmark::DoNotOptimize(subject.op->infer(subject.call));
}
BENCHMARK(infer);

void close_rules(benchmark::State& state) {
  const Subject subject;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        closed_rules(*subject.op, subject.call, subject.outputs, subject.registry));
  }
}
BENCHMARK(close_rules);

void place_local_call(benchmark::State& state) {
  const Subject subject;
  const Mesh mesh = Mesh::line(4);
  const Layout sharded{{Placement::shard(0)}, {}};
  const Layout inputs[] = {sharded, sharded};
  const Layout outputs[] = {sharded};
  const uint64_t tags[] = {0};
  for (auto _ : state) {
    benchmark::DoNotOptimize(make_local_call(*subject.op, subject.call, subject.outputs, inputs,
                                             outputs, mesh, {1}, tags));
  }
}
BENCHMARK(place_local_call);

void run_prepared(benchmark::State& state) {
  const Subject subject;
  auto prepared = PreparedCompute::create(*subject.op, subject.call, subject.outputs, nullptr);
  Tensor x = Tensor::zeros(*subject.call.inputs[0]);
  Tensor y = Tensor::zeros(*subject.call.inputs[1]);
  Tensor z = Tensor::zeros(subject.outputs[0]->meta);
  Tensor* const inputs[] = {&x, &y};
  Tensor* const outputs[] = {&z};
  for (auto _ : state) {
    if (!(*prepared)->run(inputs, outputs).ok()) throw std::runtime_error("the run failed");
  }
}
BENCHMARK(run_prepared);

}  // namespace
}  // namespace onedim
