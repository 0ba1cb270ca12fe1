/* clang-format off */
/* onedim pack ABI: what a pack (a plugin that registers ops) and its host say to each other.
 *
 * Glossary
 *   mesh dim   one named axis of the grid of ranks       placement  what one mesh dim does to a tensor
 *   rule       outputs | inputs, for ONE mesh dim        slot       one tensor of a call, lists flattened
 *   sample     one concrete call, as text                partial    true value = reduction over the ranks
 *   kernel     code that computes an op on one device    state      the tensors that a joint partial carries
 *
 * Invariants
 *   A pack exports one object, `onedim_pack_v1`, and carries the same version triple in an ELF note that
 *   the host reads before it opens the file. Every struct that may grow starts with `struct_size`; fields
 *   are only ever appended, and a reader asks ONEDIM_HAS_FIELD before it touches a field newer than its
 *   own header. Structs marked [frozen] never grow. Padding is explicit and must be zero.
 *
 * Ownership
 *   Everything passed to a callback is borrowed for that call. Results go into host sinks or into buffers
 *   that the host allocated. The host copies all that a pack registers. Neither side frees for the other.
 *
 * Failure
 *   A callback returns a status code and, unless it is ONEDIM_OK, says why with host->set_error first.
 *   On failure outputs are untouched. No exception crosses: function pointers are noexcept in C++.
 *
 * Threads (one tag on each function pointer)
 *   [load-thread]    called on the thread that loads the pack, never concurrently for one pack
 *   [thread-safe]    may be called from several threads at once
 *   [callback]       may be called only inside the callback that received the sink, on its thread
 *
 * Text is UTF-8, a pointer and a size, never assumed terminated. Op names match [A-Za-z0-9_.]+.
 */
#ifndef ONEDIM_PACK_H
#define ONEDIM_PACK_H

#include <stddef.h>
#include <stdint.h>

/* A pack loads where majors are equal and min_host_minor is met. What stands here since 1.0 stays as it is. */
#define ONEDIM_ABI_MAJOR 1
#define ONEDIM_ABI_MINOR 0
#define ONEDIM_ABI_RELEASE "1.0"

/* C++11 and 14 allow no exception specification in a typedef. */
#if defined(__cplusplus) && __cplusplus >= 201703L
#define ONEDIM_NOEXCEPT noexcept
#else
#define ONEDIM_NOEXCEPT
#endif

#ifdef __cplusplus
#define ONEDIM_EXTERN_C extern "C"
extern "C" {
#else
#define ONEDIM_EXTERN_C extern
#endif

/* True if the struct that `pointer` names is large enough, by its own word, to hold `field`. */
#define ONEDIM_HAS_FIELD(type, pointer, field) \
  ((pointer)->struct_size >= offsetof(type, field) + sizeof(((type*)0)->field))

/* ---- status ------------------------------------------------------------------------------------ */

enum {
  ONEDIM_OK = 0,
  ONEDIM_STATUS_INVALID_ARGUMENT = 1,    /* the call itself is wrong: shapes, dtypes, attribute values */
  ONEDIM_STATUS_UNIMPLEMENTED = 2,       /* right, but not offered: a dtype, a data-dependent shape */
  ONEDIM_STATUS_FAILED_PRECONDITION = 3, /* a service or device that the pack needs is missing */
  ONEDIM_STATUS_RESOURCE_EXHAUSTED = 4,
  ONEDIM_STATUS_INTERNAL = 5             /* a fault of the pack */
};

/* ---- values ------------------------------------------------------------------------------------ */

/* [frozen] Borrowed UTF-8 text. */
typedef struct onedim_text_t {
  const char* data;
  uint64_t size;
} onedim_text_t;

enum {
  ONEDIM_DTYPE_F64 = 0, ONEDIM_DTYPE_F32 = 1, ONEDIM_DTYPE_BF16 = 2, ONEDIM_DTYPE_F16 = 3,
  ONEDIM_DTYPE_F8E4M3FN = 4, ONEDIM_DTYPE_F8E5M2 = 5, ONEDIM_DTYPE_F8E8M0 = 6,
  ONEDIM_DTYPE_I64 = 7, ONEDIM_DTYPE_I32 = 8, ONEDIM_DTYPE_I16 = 9, ONEDIM_DTYPE_I8 = 10,
  ONEDIM_DTYPE_U8 = 11, ONEDIM_DTYPE_BOOL = 12, /* one byte, 0 or 1 */
  ONEDIM_DTYPE_C64 = 13, ONEDIM_DTYPE_C128 = 14,
  ONEDIM_DTYPE_COUNT = 15
};

enum {
  ONEDIM_VALUE_NONE = 0, /* an optional attribute that is absent */
  ONEDIM_VALUE_BOOL = 1, ONEDIM_VALUE_INT = 2, ONEDIM_VALUE_FLOAT = 3, ONEDIM_VALUE_COMPLEX = 4,
  ONEDIM_VALUE_STRING = 5, ONEDIM_VALUE_DTYPE = 6, ONEDIM_VALUE_LIST = 7
};

/* [frozen] One attribute value; `kind` says which members hold it, the others are zero. */
typedef struct onedim_value_t {
  int32_t kind;
  int32_t reserved;
  int64_t integer;     /* BOOL (0 or 1), INT, DTYPE */
  double real;         /* FLOAT, COMPLEX */
  double imaginary;    /* COMPLEX */
  onedim_text_t text;  /* STRING */
  const struct onedim_value_t* items; /* LIST */
  uint64_t item_count;
} onedim_value_t;

/* [frozen] A value by the schema's argument name; defaults are filled in by the host. */
typedef struct onedim_attribute_t {
  onedim_text_t name;
  onedim_value_t value;
} onedim_attribute_t;

enum { ONEDIM_DEVICE_CPU = 0, ONEDIM_DEVICE_CUDA = 1, ONEDIM_DEVICE_COUNT = 2 };

/* A strided view. Strides and sizes count elements. `data` points at element 0 and is null where only
 * the description is known (infer, rules, cost, workspace, accept_local) and for absent tensors. */
typedef struct onedim_tensor_t {
  uint64_t struct_size;
  int32_t present; /* 0: an absent optional tensor; all that follows is zero */
  int32_t dtype;
  int32_t device;
  int32_t device_ordinal;
  int32_t ndim;
  int32_t reserved;
  const int64_t* shape;
  const int64_t* strides;
  void* data;
} onedim_tensor_t;

/* ---- placements and rules ---------------------------------------------------------------------- */

enum {
  ONEDIM_PLACEMENT_NONE = 0,          /* `-`: the slot is absent */
  ONEDIM_PLACEMENT_REPLICATE = 1,     /* `R` */
  ONEDIM_PLACEMENT_SHARD = 2,         /* `S(dim)` */
  ONEDIM_PLACEMENT_ANY_SHARD = 3,     /* `S*(dim)`: any kind of shard, one kind and order in a rule */
  ONEDIM_PLACEMENT_STRIDED_SHARD = 4, /* `SS(dim,split_factor)` */
  ONEDIM_PLACEMENT_PARTIAL = 5        /* `P(kind)`, or `P(pack.kind#component)` */
};

/* [frozen] What one mesh dim does to one tensor. */
typedef struct onedim_placement_t {
  int32_t kind;
  int32_t dim;          /* shards: the tensor dim */
  int64_t split_factor; /* strided shards */
  onedim_text_t partial; /* partials: sum avg max min product, or pack.kind */
  int32_t component;    /* partials of a group: which state tensor; 0 else */
  int32_t reserved;
} onedim_placement_t;

/* [frozen] Every rank's length of this dim must be a multiple of `multiple`. */
typedef struct onedim_requirement_t {
  int32_t is_output;
  int32_t slot;
  int32_t dim;
  int32_t reserved;
  int64_t multiple;
} onedim_requirement_t;

enum {
  ONEDIM_RULE_EVEN_ONLY = 1u << 0,  /* true only where every sharded dim divides by the mesh dim */
  ONEDIM_RULE_TO_ROUNDING = 1u << 1 /* holds in exact arithmetic, not bit for bit */
};

/* A single-dim strategy: one placement per output slot and per input slot. */
typedef struct onedim_rule_t {
  uint64_t struct_size;
  const onedim_placement_t* outputs;
  uint64_t output_count;
  const onedim_placement_t* inputs;
  uint64_t input_count;
  const onedim_requirement_t* requirements;
  uint64_t requirement_count;
  uint64_t flags;
  uint64_t tag; /* handed back to the kernel, see onedim_location_t */
} onedim_rule_t;

/* ---- calls ------------------------------------------------------------------------------------- */

/* [frozen] Global indices [begin, end). */
typedef struct onedim_interval_t {
  int64_t begin;
  int64_t end;
} onedim_interval_t;

/* Where one slot of a local call lies in its global tensor. */
typedef struct onedim_slot_location_t {
  uint64_t struct_size;
  const int64_t* global_shape;         /* ndim of the slot's tensor */
  const onedim_interval_t* intervals;  /* all dims' intervals, dim by dim, in local order */
  const uint64_t* interval_begins;     /* ndim + 1 offsets into `intervals` */
  const onedim_placement_t* placements; /* one per mesh dim */
} onedim_slot_location_t;

/* Where a local call stands: the mesh, this rank, and each slot. Null in a call on whole tensors, and wherever the op
 * is not flagged ONEDIM_OP_POSITION_AWARE: its rules were proved without it. */
typedef struct onedim_location_t {
  uint64_t struct_size;
  int32_t mesh_ndim;
  int32_t reserved;
  const int64_t* mesh_shape;
  const int64_t* coordinate;
  const onedim_slot_location_t* inputs;
  const onedim_slot_location_t* outputs;
  const uint64_t* tags; /* the tag of the rule chosen on each mesh dim */
} onedim_location_t;

/* [frozen] Which input slots, or which attribute, an argument of the schema became. */
typedef struct onedim_argument_t {
  onedim_text_t name;
  int32_t first_slot; /* -1: no slot, look among the attributes */
  int32_t slot_count; /* a Tensor has 1, also when absent; a list as many as it has elements */
} onedim_argument_t;

/* One call of an op. Inputs are flattened in schema order; outputs are empty until infer has run. */
typedef struct onedim_call_t {
  uint64_t struct_size;
  onedim_text_t op;
  const onedim_tensor_t* inputs;
  uint64_t input_count;
  const onedim_tensor_t* outputs;
  uint64_t output_count;
  const onedim_attribute_t* attributes;
  uint64_t attribute_count;
  const onedim_argument_t* arguments; /* every argument of the schema, in its order */
  uint64_t argument_count;
  const onedim_location_t* location;
  uint64_t seed;    /* random ops: Philox key (seed, call_id), counter = global linear output index */
  uint64_t call_id; /* stable per graph node, shared by its recomputation */
} onedim_call_t;

/* What a kernel runs with. */
typedef struct onedim_execution_t {
  uint64_t struct_size;
  void* workspace; /* workspace_bytes, 64-byte aligned; null if none were asked */
  uint64_t workspace_bytes;
  int32_t thread_count; /* a kernel runs at most this many threads, itself included */
  int32_t device;
  int32_t device_ordinal;
  int32_t reserved;
  void* stream; /* the device's stream; null on the CPU */
} onedim_execution_t;

/* Work of one call, for the roofline. */
typedef struct onedim_cost_t {
  uint64_t struct_size;
  double flops;
  double bytes;
} onedim_cost_t;

/* ---- sinks and host ---------------------------------------------------------------------------- */

typedef struct onedim_registrar_t onedim_registrar_t; /* collects what init registers; staged, all or nothing */
typedef struct onedim_sink_t onedim_sink_t;           /* collects what one callback emits */
typedef struct onedim_host_t onedim_host_t;

/* One output as infer describes it. */
typedef struct onedim_output_t {
  uint64_t struct_size;
  int32_t present;
  int32_t dtype;
  int32_t ndim;
  int32_t view_of_input; /* input slot whose storage this output shares, or -1 */
  const int64_t* shape;
  const int64_t* strides; /* null: row-major */
  int64_t storage_offset; /* views: elements from the input's element 0 */
} onedim_output_t;

/* Describe the outputs, or append rules, samples: pushed one by one into the callback's sink. */
typedef int32_t (*onedim_infer_fn)(const onedim_host_t* host, void* user, const onedim_call_t* call,
                                   onedim_sink_t* outputs) ONEDIM_NOEXCEPT; /* [thread-safe] */
typedef int32_t (*onedim_rules_fn)(const onedim_host_t* host, void* user, const onedim_call_t* call,
                                   onedim_sink_t* rules) ONEDIM_NOEXCEPT; /* [thread-safe] */
typedef int32_t (*onedim_samples_fn)(const onedim_host_t* host, void* user,
                                     onedim_sink_t* samples) ONEDIM_NOEXCEPT; /* [thread-safe] */
/* May this local call run? Shapes and strides are those that the plan delivers. A refusal returns
 * ONEDIM_STATUS_INVALID_ARGUMENT with the reason. */
typedef int32_t (*onedim_accept_fn)(const onedim_host_t* host, void* user,
                                    const onedim_call_t* call) ONEDIM_NOEXCEPT; /* [thread-safe] */
typedef int32_t (*onedim_cost_fn)(const onedim_host_t* host, void* user, const onedim_call_t* call,
                                  onedim_cost_t* cost) ONEDIM_NOEXCEPT; /* [thread-safe] */
typedef int32_t (*onedim_workspace_fn)(const onedim_host_t* host, void* user, const onedim_call_t* call,
                                       uint64_t* bytes) ONEDIM_NOEXCEPT; /* [thread-safe] */
/* Write every output element of the call, at the strides given. */
typedef int32_t (*onedim_compute_fn)(const onedim_host_t* host, void* user, const onedim_call_t* call,
                                     const onedim_execution_t* execution) ONEDIM_NOEXCEPT; /* [thread-safe] */

enum {
  ONEDIM_OP_POSITION_AWARE = 1u << 0,   /* the kernel reads its location: correct only where it knows it */
  ONEDIM_OP_NO_IMPLIED_REPLICATE = 1u << 1,
  ONEDIM_OP_RANDOM = 1u << 2,           /* draws from (seed, call_id) */
  ONEDIM_OP_UNDEFINED_CONTENT = 1u << 3 /* promises shapes, strides and dtypes only, as empty ops do; its rules hold
                                           for what its kernel writes */
};

/* [frozen] `attribute` (an int or a list of ints) holds sizes of output dims first_dim, first_dim + 1, ...
 * of output `slot`; the host rewrites them to local sizes. */
typedef struct onedim_size_attribute_t {
  onedim_text_t attribute;
  int32_t output_slot;
  int32_t first_dim;
} onedim_size_attribute_t;

/* An op. `schema` is one line in ATen's style with the op's full name and its alias marks:
 * `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`. `variant_of` names the plain op
 * whose infer, rules, samples and kernels an in-place or out= form, or one over lists, shares; such a form
 * has no callbacks. A number that the schema returns is an output without dims: bool, i64, f64 or c128. */
typedef struct onedim_op_t {
  uint64_t struct_size;
  onedim_text_t schema;
  onedim_text_t summary;
  onedim_text_t example; /* a call as on the command line: `f32[4,6]; f32[4,6]; alpha=2` */
  onedim_text_t variant_of;
  uint64_t flags;
  void* user; /* first word handed to every callback of this op */
  onedim_infer_fn infer;
  onedim_rules_fn rules; /* may be null if `rule_table` says all */
  onedim_accept_fn accept_local; /* may be null */
  onedim_cost_fn cost;           /* may be null */
  onedim_samples_fn samples;     /* may be null */
  const onedim_text_t* rule_table; /* rules that hold for every call: `P(sum) | S(1), S(0)` */
  uint64_t rule_table_count;
  const onedim_text_t* sample_table; /* `f32[4,1]; f32[4,6]:positive; alpha=-2` */
  uint64_t sample_table_count;
  const onedim_size_attribute_t* size_attributes;
  uint64_t size_attribute_count;
  const onedim_text_t* gradient_ops; /* names of the ops of the backward pass */
  uint64_t gradient_op_count;
} onedim_op_t;

/* A kernel for an op of this or another pack; duplicates are per (op, device). */
typedef struct onedim_kernel_t {
  uint64_t struct_size;
  onedim_text_t op;
  int32_t device;
  int32_t reserved;
  uint64_t dtypes; /* bit 1 << dtype: what input tensors may be */
  void* user;
  onedim_compute_fn compute;
  onedim_workspace_fn workspace; /* null: none */
} onedim_kernel_t;

/* Joint partials. States are host tensors in component order. `location` of `call` is set throughout. */
/* Describe the state tensors, as infer does, from a local call whose outputs are known. */
typedef int32_t (*onedim_state_fn)(const onedim_host_t* host, void* user, const onedim_call_t* call,
                                   onedim_sink_t* states) ONEDIM_NOEXCEPT; /* [thread-safe] */
/* Local inputs to local state; null if the state is the op's own outputs, computed by its kernel. */
typedef int32_t (*onedim_local_fn)(const onedim_host_t* host, void* user, const onedim_call_t* call,
                                   const onedim_tensor_t* states) ONEDIM_NOEXCEPT; /* [thread-safe] */
typedef int32_t (*onedim_identity_fn)(const onedim_host_t* host, void* user,
                                      const onedim_tensor_t* states) ONEDIM_NOEXCEPT; /* [thread-safe] */
/* Merge `from` into `into`: associative, commutative, identity neutral. */
typedef int32_t (*onedim_combine_fn)(const onedim_host_t* host, void* user, const onedim_tensor_t* into,
                                     const onedim_tensor_t* from) ONEDIM_NOEXCEPT; /* [thread-safe] */
/* Merged state to the outputs of the group, at the outputs' shapes (whole, or one shard of them). */
typedef int32_t (*onedim_finish_fn)(const onedim_host_t* host, void* user, const onedim_tensor_t* states,
                                    const onedim_tensor_t* outputs) ONEDIM_NOEXCEPT; /* [thread-safe] */

typedef struct onedim_partial_kind_t {
  uint64_t struct_size;
  onedim_text_t name; /* pack.kind */
  uint32_t revision;
  uint32_t reserved;
  const onedim_text_t* components; /* names of the state tensors */
  uint64_t component_count;
  uint64_t output_count; /* outputs in the group; P(kind#i) stands for the i-th of them */
  void* user;
  onedim_state_fn state;   /* null: the state is the group's outputs, same dtypes and shapes */
  onedim_local_fn local;   /* null: the op's kernel writes the state as its outputs */
  onedim_identity_fn identity;
  onedim_combine_fn combine;
  onedim_finish_fn finish; /* null: the state is the output */
} onedim_partial_kind_t;

/* What the host offers. Append only. */
struct onedim_host_t {
  uint64_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  /* Say why the current callback fails; text is copied. Outside a callback it does nothing. [thread-safe] */
  void (*set_error)(const onedim_host_t* host, int32_t status, onedim_text_t text) ONEDIM_NOEXCEPT;
  /* Register; everything is copied. A refusal fails the whole pack. [load-thread] */
  int32_t (*register_op)(onedim_registrar_t*, const onedim_op_t*) ONEDIM_NOEXCEPT;
  int32_t (*register_kernel)(onedim_registrar_t*, const onedim_kernel_t*) ONEDIM_NOEXCEPT; /* [load-thread] */
  int32_t (*register_partial_kind)(onedim_registrar_t*,
                                   const onedim_partial_kind_t*) ONEDIM_NOEXCEPT; /* [load-thread] */
  /* Fill the sink of infer or state: outputs in order. [callback] */
  int32_t (*emit_output)(onedim_sink_t*, const onedim_output_t*) ONEDIM_NOEXCEPT;
  int32_t (*emit_rule)(onedim_sink_t*, const onedim_rule_t*) ONEDIM_NOEXCEPT; /* [callback] */
  /* The same as text, `P(sum) | S(1), S(0)`, with flags and tag. [callback] */
  int32_t (*emit_rule_text)(onedim_sink_t*, onedim_text_t rule, uint64_t flags, uint64_t tag) ONEDIM_NOEXCEPT;
  int32_t (*emit_sample)(onedim_sink_t*, onedim_text_t sample) ONEDIM_NOEXCEPT; /* [callback] */
  /* A table that is not (yet) part of this struct, by id with revision, `onedim.trace/1`; null if absent.
   * [thread-safe] */
  const void* (*find_interface)(const onedim_host_t* host, onedim_text_t id) ONEDIM_NOEXCEPT;
};

/* ---- entry ------------------------------------------------------------------------------------- */

typedef struct onedim_pack_t {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;      /* the header it was built with */
  uint32_t min_host_minor; /* the lowest host minor it can live with */
  onedim_text_t name;      /* [a-z][a-z0-9_]* */
  onedim_text_t version;
  /* Register everything. [load-thread] */
  int32_t (*init)(const onedim_host_t* host, onedim_registrar_t* registrar) ONEDIM_NOEXCEPT;
  void (*shutdown)(void) ONEDIM_NOEXCEPT; /* may be null; at process exit, last loaded first [load-thread] */
} onedim_pack_t;

/* The ELF note that the host reads before it opens the file: section .note.onedim, owner "onedim", type 1. */
#define ONEDIM_NOTE_OWNER "onedim"
#define ONEDIM_NOTE_TYPE 1
enum { ONEDIM_BUILD_RELEASE = 0, ONEDIM_BUILD_DEBUG = 1 };

/* [frozen] Note header and descriptor as they stand in the file. */
typedef struct onedim_note_t {
  uint32_t owner_size;      /* 7, with the terminating zero */
  uint32_t descriptor_size; /* sizeof from abi_major on */
  uint32_t type;
  char owner[8];
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t min_host_minor;
  uint32_t build_kind;
  char target[32]; /* zero-terminated, `x86_64-linux-gnu` */
} onedim_note_t;

#ifdef __cplusplus
}
#endif

#endif
