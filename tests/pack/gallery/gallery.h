/* What the packs of the gallery share: a correct note, entry and op, so that each file shows its
 * one sin. What a pack does is written to the file that GALLERY_LOG names, so that tests see calls
 * and their order. */
#ifndef ONEDIM_GALLERY_H
#define ONEDIM_GALLERY_H

#include <onedim/pack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GALLERY_TARGET ONEDIM_GALLERY_TARGET /* from the build */

#define GALLERY_NOTE(major, minor, min_host)                              \
  __attribute__((section(".note.onedim"), used,                           \
                 aligned(4))) static const onedim_note_t gallery_note = { \
      sizeof ONEDIM_NOTE_OWNER,                                           \
      sizeof(onedim_note_t) - offsetof(onedim_note_t, abi_major),         \
      ONEDIM_NOTE_TYPE,                                                   \
      ONEDIM_NOTE_OWNER,                                                  \
      (major),                                                            \
      (minor),                                                            \
      (min_host),                                                         \
      ONEDIM_BUILD_RELEASE,                                               \
      GALLERY_TARGET};

#define GALLERY_ENTRY(name, init, shutdown)                                           \
  extern const onedim_pack_t onedim_pack_v1;                                          \
  const onedim_pack_t onedim_pack_v1 = {                                              \
      sizeof(onedim_pack_t),    ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR, ONEDIM_ABI_MINOR, \
      {name, sizeof(name) - 1}, {"1.0", 3},       (init),           (shutdown)};

#define GALLERY_PACK(name, init)                                     \
  GALLERY_NOTE(ONEDIM_ABI_MAJOR, ONEDIM_ABI_MINOR, ONEDIM_ABI_MINOR) \
  GALLERY_ENTRY(name, init, NULL)

static inline onedim_text_t gallery_text(const char* text) {
  onedim_text_t result = {text, strlen(text)};
  return result;
}

static inline void gallery_log(const char* text) {
  const char* path = getenv("GALLERY_LOG");
  FILE* file = path == NULL ? NULL : fopen(path, "a");
  if (file == NULL) return;
  fprintf(file, "%s\n", text);
  fclose(file);
}

/* The output is like the first input. */
static inline int32_t gallery_infer(const onedim_host_t* host, void* user,
                                    const onedim_call_t* call,
                                    onedim_sink_t* outputs) ONEDIM_NOEXCEPT {
  const onedim_tensor_t* self = &call->inputs[0];
  onedim_output_t output = {sizeof(output), 1, self->dtype, self->ndim, -1, self->shape, NULL, 0};
  (void)user;
  return host->emit_output(outputs, &output);
}

/* A correct op; what the sinner changes, it changes before registering it. */
static inline onedim_op_t gallery_op(const char* schema) {
  static onedim_text_t rules[1];
  static onedim_text_t samples[1];
  onedim_op_t op;
  memset(&op, 0, sizeof(op));
  rules[0] = gallery_text("S*(0) | S*(0)");
  samples[0] = gallery_text("f32[4,6]");
  op.struct_size = sizeof(op);
  op.schema = gallery_text(schema);
  op.summary = gallery_text("a copy");
  op.example = gallery_text("f32[4,6]");
  op.infer = gallery_infer;
  op.rule_table = rules;
  op.rule_table_count = 1;
  op.sample_table = samples;
  op.sample_table_count = 1;
  return op;
}

static inline int32_t gallery_register(const onedim_host_t* host, onedim_registrar_t* registrar,
                                       const char* schema) {
  onedim_op_t op = gallery_op(schema);
  return host->register_op(registrar, &op);
}

#endif
