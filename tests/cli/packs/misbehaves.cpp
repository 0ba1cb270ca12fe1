// Ops whose callbacks crash, leave, print, hang or tell tales, one callback each. All of them copy
// a vector of doubles, as far as they get.

#include <onedim/pack.hpp>

#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace {

using namespace onedim::api;

void copy(const Call& call, const onedim_execution_t&) {
  store_dense(load_dense<double>(call.input(0)).data(), call.output());
}

void infer_like_x(const Call& call, OutputSink& outputs) {
  outputs.add(call.input(0).dtype(), {call.input(0).size(0)});
}

OpBuilder& declare(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .infer(infer_like_x)
      .rules({"S*(0) | S*(0)"})
      .compute(exact_dtypes<double>(), copy)
      .samples({"f64[4]"});
}

void declare_crashes(Registrar& r) {
  declare(r, "misbehaves.samples(Tensor x) -> Tensor").samples([](SampleSink&) {
    std::raise(SIGSEGV);
  });
  declare(r, "misbehaves.rules(Tensor x) -> Tensor").rules([](const Call&, RuleSink&) {
    std::raise(SIGSEGV);
  });
  declare(r, "misbehaves.infer(Tensor x) -> Tensor")
      .infer([](const Call& call, OutputSink& outputs) {
        if (call.input(0).size(0) == 13) std::raise(SIGSEGV);
        infer_like_x(call, outputs);
      });
  declare(r, "misbehaves.leaves(Tensor x) -> Tensor")
      .compute(exact_dtypes<double>(), [](const Call&, const onedim_execution_t&) { ::_exit(0); });
}

void declare_others(Registrar& r) {
  declare(r, "misbehaves.prints(Tensor x) -> Tensor")
      .infer([](const Call& call, OutputSink& outputs) {
        std::puts("infer was here");
        infer_like_x(call, outputs);
      })
      .compute(exact_dtypes<double>(), [](const Call& call, const onedim_execution_t& execution) {
        std::puts("the kernel was here");
        copy(call, execution);
      });
  declare(r, "misbehaves.spins(Tensor x) -> Tensor")
      .compute(exact_dtypes<double>(), [](const Call&, const onedim_execution_t&) {
        while (::getpid() != 0) {
        }
      });
  declare(r, "misbehaves.tells(Tensor x) -> Tensor")
      .compute(exact_dtypes<double>(),
               [](const Call&, const onedim_execution_t&) { fail("no\nluck\033[2J"); });
  // Serves bf16 by its mask, but reads it as f32.
  r.op("misbehaves.overreads(Tensor x) -> Tensor")
      .infer(infer_like_x)
      .compute(dtype_mask<float>(),
               [](const Call& call, const onedim_execution_t&) {
                 call.output().data_as<float>()[0] = call.input(0).data_as<float>()[0];
               })
      .samples({"f32[1]"});
}

}  // namespace

ONEDIM_PACK("misbehaves", "1.0.0", [](Registrar& r) {
  declare_crashes(r);
  declare_others(r);
});
