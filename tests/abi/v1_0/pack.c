/* A pack as release 1.0 could write it, in C, against the frozen copy of that release's header.
 * Every later host of the same major must load it and get the same answers. */
#include <math.h>
#include <onedim/pack.h>
#include <string.h>

static onedim_text_t text(const char* data) {
  onedim_text_t result = {data, strlen(data)};
  return result;
}

static int64_t volume(const onedim_tensor_t* tensor) {
  int64_t size = 1;
  for (int32_t i = 0; i < tensor->ndim; ++i) size *= tensor->shape[i];
  return size;
}

static int32_t fail(const onedim_host_t* host, const char* why) {
  host->set_error(host, ONEDIM_STATUS_INVALID_ARGUMENT, text(why));
  return ONEDIM_STATUS_INVALID_ARGUMENT;
}

/* `scale(Tensor self, *, float factor=2) -> Tensor`. */
static int32_t scale_infer(const onedim_host_t* host, void* user, const onedim_call_t* call,
                           onedim_sink_t* outputs) {
  const onedim_tensor_t* self = &call->inputs[0];
  onedim_output_t output = {sizeof(output), 1, self->dtype, self->ndim, -1, self->shape, NULL, 0};
  (void)user;
  if (self->dtype != ONEDIM_DTYPE_F32) return fail(host, "scale takes f32 only");
  return host->emit_output(outputs, &output);
}

static int32_t scale_rules(const onedim_host_t* host, void* user, const onedim_call_t* call,
                           onedim_sink_t* rules) {
  (void)user;
  for (int32_t dim = 0; dim < call->inputs[0].ndim; ++dim) {
    const onedim_placement_t shard = {ONEDIM_PLACEMENT_ANY_SHARD, dim, 0, {NULL, 0}, 0, 0};
    onedim_rule_t rule = {sizeof(rule), &shard, 1, &shard, 1, NULL, 0, 0, 7};
    const int32_t status = host->emit_rule(rules, &rule);
    if (status != ONEDIM_OK) return status;
  }
  return host->emit_rule_text(rules, text("P(sum) | P(sum)"), ONEDIM_RULE_TO_ROUNDING, 9);
}

static int32_t scale_samples(const onedim_host_t* host, void* user, onedim_sink_t* samples) {
  (void)user;
  return host->emit_sample(samples, text("f32[3]; factor=-1.5"));
}

/* The factor stands behind `user`; dense tensors only, as `accept` says. */
static int32_t scale_compute(const onedim_host_t* host, void* user, const onedim_call_t* call,
                             const onedim_execution_t* execution) {
  const float* from = call->inputs[0].data;
  float* to = call->outputs[0].data;
  const double factor = call->attributes[0].value.real * *(const double*)user;
  (void)host;
  (void)execution;
  for (int64_t i = 0; i < volume(&call->outputs[0]); ++i) to[i] = (float)(from[i] * factor);
  return ONEDIM_OK;
}

static int32_t accept(const onedim_host_t* host, void* user, const onedim_call_t* call) {
  (void)user;
  return call->inputs[0].ndim > 3 ? fail(host, "scale takes at most three dims") : ONEDIM_OK;
}

/* `v1_0.max_sumexp`: (max m, sum s of exp(x - m)). */
static int32_t identity(const onedim_host_t* host, void* user, const onedim_tensor_t* states) {
  (void)host;
  (void)user;
  for (int64_t i = 0; i < volume(&states[0]); ++i) {
    ((float*)states[0].data)[i] = -INFINITY;
    ((float*)states[1].data)[i] = 0;
  }
  return ONEDIM_OK;
}

static int32_t combine(const onedim_host_t* host, void* user, const onedim_tensor_t* into,
                       const onedim_tensor_t* from) {
  float* m = into[0].data;
  float* s = into[1].data;
  const float* n = from[0].data;
  const float* t = from[1].data;
  (void)host;
  (void)user;
  for (int64_t i = 0; i < volume(&into[0]); ++i) {
    const float top = fmaxf(m[i], n[i]);
    if (isinf(top)) continue;
    s[i] = s[i] * expf(m[i] - top) + t[i] * expf(n[i] - top);
    m[i] = top;
  }
  return ONEDIM_OK;
}

static int32_t init(const onedim_host_t* host, onedim_registrar_t* registrar) {
  static double one = 1;
  const onedim_text_t rule_table[] = {text("P(avg) | P(avg)")};
  const onedim_text_t sample_table[] = {text("f32[4,6]"), text("f32[5]; factor=3")};
  const onedim_text_t components[] = {text("max"), text("sumexp")};
  onedim_op_t op;
  onedim_kernel_t kernel;
  onedim_partial_kind_t kind;
  memset(&op, 0, sizeof(op));
  memset(&kernel, 0, sizeof(kernel));
  memset(&kind, 0, sizeof(kind));

  op.struct_size = sizeof(op);
  op.schema = text("v1_0.scale(Tensor self, *, float factor=2) -> Tensor");
  op.summary = text("self * factor");
  op.example = text("f32[4,6]; factor=3");
  op.infer = scale_infer;
  op.rules = scale_rules;
  op.accept_local = accept;
  op.samples = scale_samples;
  op.rule_table = rule_table;
  op.rule_table_count = 1;
  op.sample_table = sample_table;
  op.sample_table_count = 2;
  if (host->register_op(registrar, &op) != ONEDIM_OK) return ONEDIM_STATUS_INTERNAL;

  kernel.struct_size = sizeof(kernel);
  kernel.op = text("v1_0.scale");
  kernel.device = ONEDIM_DEVICE_CPU;
  kernel.dtypes = (uint64_t)1 << ONEDIM_DTYPE_F32;
  kernel.user = &one;
  kernel.compute = scale_compute;
  if (host->register_kernel(registrar, &kernel) != ONEDIM_OK) return ONEDIM_STATUS_INTERNAL;

  kind.struct_size = sizeof(kind);
  kind.name = text("v1_0.max_sumexp");
  kind.revision = 1;
  kind.components = components;
  kind.component_count = 2;
  kind.output_count = 2;
  kind.identity = identity;
  kind.combine = combine;
  return host->register_partial_kind(registrar, &kind);
}

__attribute__((section(".note.onedim"), used, aligned(4))) static const onedim_note_t note = {
    sizeof ONEDIM_NOTE_OWNER,
    sizeof(onedim_note_t) - offsetof(onedim_note_t, abi_major),
    ONEDIM_NOTE_TYPE,
    ONEDIM_NOTE_OWNER,
    ONEDIM_ABI_MAJOR,
    ONEDIM_ABI_MINOR,
    ONEDIM_ABI_MINOR,
    ONEDIM_BUILD_RELEASE,
    PACK_TARGET};

ONEDIM_EXTERN_C const onedim_pack_t onedim_pack_v1;
const onedim_pack_t onedim_pack_v1 = {sizeof(onedim_pack_t),
                                      ONEDIM_ABI_MAJOR,
                                      ONEDIM_ABI_MINOR,
                                      ONEDIM_ABI_MINOR,
                                      {"v1_0", 4},
                                      {"1.0.0", 5},
                                      init,
                                      NULL};
