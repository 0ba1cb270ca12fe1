// All functions of the wrapper, compiled once (onedim/inline.hpp); built with
// -fkeep-inline-functions.
#define ONEDIM_COMPILING

#include <onedim/arithmetic.hpp>
#include <onedim/average_scale.hpp>
#include <onedim/cast_passes.hpp>
#include <onedim/einsum.hpp>
#include <onedim/meeting_cuts.hpp>
#include <onedim/memory_format.hpp>
#include <onedim/pack.hpp>
#include <onedim/positions.hpp>
#include <onedim/unread.hpp>
