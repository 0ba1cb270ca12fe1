#pragma once
/* MPI module: what the executor and libonedim_mpi.so say to each other. The module alone is linked
   with MPI and opened at run time, so that all else builds and starts without. It moves bytes
   between processes and knows nothing of tensors: what collectives mean is collective_call.hpp's.

   The module exports one object, `onedim_mpi_module_v1`. Counts and offsets are 64 bits wide;
   above `largest_count` a call becomes messages of at most so many bytes, as MPI's own counts are
   ints. Functions return MPI_SUCCESS (0) or MPI's error, which `describe` words; no error ends the
   process. All calls come from one thread. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct onedim_mpi_team onedim_mpi_team; /* a communicator of MPI; null: of all ranks */

/* One member's side of an exchange, in bytes; arrays have one entry a member of the team. */
typedef struct onedim_mpi_exchange {
  const void* send; /* null in all_gather: the member's own piece lies in `receive` already */
  void* receive;
  const int64_t* send_counts; /* all_gather reads the first entry alone */
  const int64_t* send_offsets;
  const int64_t* receive_counts;
  const int64_t* receive_offsets;
  int64_t most; /* no offset + count of any member is more: decides alike on all, how bytes go */
} onedim_mpi_exchange;

typedef struct onedim_mpi_module {
  uint32_t size; /* of this struct */

  /* MPI_Init_thread and what else comes once. `largest_count` is 1 to INT_MAX. */
  int (*start)(int64_t largest_count);
  int (*finish)(void);
  int (*rank)(void);
  int (*rank_count)(void);
  /* How many ranks share this rank's memory. */
  int (*ranks_on_node)(int* count);
  void (*describe)(int error, char* text, int size);
  /* `Open MPI v4.1.4, ...`. */
  void (*library)(char* text, int size);

  /* Collective over all ranks: those that give one `color` are a team, ordered by `key`. */
  int (*split)(int color, int key, onedim_mpi_team** team);
  int (*release)(onedim_mpi_team* team);

  /* Collective over the team; members that have nothing to move call too. */
  int (*all_gather)(onedim_mpi_team* team, const onedim_mpi_exchange* exchange);
  int (*all_to_all)(onedim_mpi_team* team, const onedim_mpi_exchange* exchange);
  int (*broadcast)(onedim_mpi_team* team, void* buffer, int64_t bytes, int root);
} onedim_mpi_module;

#ifdef __cplusplus
}
#endif
