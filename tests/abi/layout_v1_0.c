/* The layout that release 1.0 of the ABI has on a 64-bit machine, member by member where it counts.
 * A struct that grows keeps the offset of each release's last member; a [frozen] one keeps its
 * size. This file only gains lines, unless the major changes. */
#include <onedim/pack.h>

#define FROZEN(type, size) _Static_assert(sizeof(type) == (size), #type " is frozen")
#define LAST_OF_1_0(type, member, offset)                                             \
  _Static_assert(offsetof(type, member) == (offset), #type "." #member " has moved"); \
  _Static_assert(sizeof(type) >= (offset) + sizeof(((type*)0)->member), #type " has shrunk")

_Static_assert(
    ONEDIM_ABI_MAJOR == 1 && ONEDIM_ABI_MINOR == 0,
    "a new release: add LAST_OF_ lines for what it appends, a frozen copy of its header, and a "
    "CHANGELOG entry, then raise the numbers here");
_Static_assert(sizeof(ONEDIM_ABI_RELEASE) == sizeof("1.0"),
               "the release string follows the numbers");
_Static_assert(sizeof(void*) == 8, "the offsets below are those of a 64-bit machine");

FROZEN(onedim_text_t, 16);
FROZEN(onedim_value_t, 64);
FROZEN(onedim_attribute_t, 80);
FROZEN(onedim_placement_t, 40);
FROZEN(onedim_requirement_t, 24);
FROZEN(onedim_interval_t, 16);
FROZEN(onedim_argument_t, 24);
FROZEN(onedim_size_attribute_t, 24);
FROZEN(onedim_note_t, 68);

LAST_OF_1_0(onedim_tensor_t, data, 48);
LAST_OF_1_0(onedim_rule_t, tag, 64);
LAST_OF_1_0(onedim_slot_location_t, placements, 32);
LAST_OF_1_0(onedim_location_t, tags, 48);
LAST_OF_1_0(onedim_call_t, call_id, 104);
LAST_OF_1_0(onedim_execution_t, stream, 40);
LAST_OF_1_0(onedim_cost_t, bytes, 16);
LAST_OF_1_0(onedim_output_t, storage_offset, 40);
LAST_OF_1_0(onedim_op_t, gradient_op_count, 184);
LAST_OF_1_0(onedim_kernel_t, workspace, 56);
LAST_OF_1_0(onedim_partial_kind_t, finish, 96);
LAST_OF_1_0(onedim_host_t, find_interface, 80);
LAST_OF_1_0(onedim_pack_t, shutdown, 56);

/* Numbers that packs have compiled in. */
_Static_assert(ONEDIM_STATUS_INVALID_ARGUMENT == 1 && ONEDIM_STATUS_UNIMPLEMENTED == 2 &&
                   ONEDIM_STATUS_FAILED_PRECONDITION == 3 &&
                   ONEDIM_STATUS_RESOURCE_EXHAUSTED == 4 && ONEDIM_STATUS_INTERNAL == 5 &&
                   ONEDIM_OK == 0,
               "a status has changed");
_Static_assert(ONEDIM_DTYPE_F64 == 0 && ONEDIM_DTYPE_F32 == 1 && ONEDIM_DTYPE_BF16 == 2 &&
                   ONEDIM_DTYPE_F16 == 3 && ONEDIM_DTYPE_F8E4M3FN == 4 &&
                   ONEDIM_DTYPE_F8E5M2 == 5 && ONEDIM_DTYPE_F8E8M0 == 6 && ONEDIM_DTYPE_I64 == 7 &&
                   ONEDIM_DTYPE_I32 == 8 && ONEDIM_DTYPE_I16 == 9 && ONEDIM_DTYPE_I8 == 10 &&
                   ONEDIM_DTYPE_U8 == 11 && ONEDIM_DTYPE_BOOL == 12 && ONEDIM_DTYPE_C64 == 13 &&
                   ONEDIM_DTYPE_C128 == 14,
               "a dtype has changed");
_Static_assert(ONEDIM_VALUE_NONE == 0 && ONEDIM_VALUE_BOOL == 1 && ONEDIM_VALUE_INT == 2 &&
                   ONEDIM_VALUE_FLOAT == 3 && ONEDIM_VALUE_COMPLEX == 4 &&
                   ONEDIM_VALUE_STRING == 5 && ONEDIM_VALUE_DTYPE == 6 && ONEDIM_VALUE_LIST == 7,
               "a value kind has changed");
_Static_assert(ONEDIM_PLACEMENT_NONE == 0 && ONEDIM_PLACEMENT_REPLICATE == 1 &&
                   ONEDIM_PLACEMENT_SHARD == 2 && ONEDIM_PLACEMENT_ANY_SHARD == 3 &&
                   ONEDIM_PLACEMENT_STRIDED_SHARD == 4 && ONEDIM_PLACEMENT_PARTIAL == 5,
               "a placement kind has changed");
_Static_assert(ONEDIM_DEVICE_CPU == 0 && ONEDIM_DEVICE_CUDA == 1, "a device has changed");
_Static_assert(ONEDIM_RULE_EVEN_ONLY == 1 && ONEDIM_RULE_TO_ROUNDING == 2,
               "a rule flag has changed");
_Static_assert(ONEDIM_OP_POSITION_AWARE == 1 && ONEDIM_OP_NO_IMPLIED_REPLICATE == 2 &&
                   ONEDIM_OP_RANDOM == 4,
               "an op flag has changed");
