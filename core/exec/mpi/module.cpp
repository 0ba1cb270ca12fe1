#include "core/exec/mpi/module.h"

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <vector>

struct onedim_mpi_team {
  MPI_Comm comm = MPI_COMM_NULL;
  int place = 0;
  int size = 0;
};

namespace {

using Team = onedim_mpi_team;
using Exchange = onedim_mpi_exchange;

constexpr int kTag = 0;

Team world;
int64_t largest = INT_MAX;

Team& team_or_world(Team* team) { return team == nullptr ? world : *team; }

int adopt(MPI_Comm comm, Team& team) {
  team.comm = comm;
  if (const int error = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)) return error;
  if (const int error = MPI_Comm_rank(comm, &team.place)) return error;
  return MPI_Comm_size(comm, &team.size);
}

int start(int64_t largest_count) {
  largest = largest_count;
  int is_started = 0, provided = MPI_THREAD_SINGLE;
  if (const int error = MPI_Initialized(&is_started)) return error;
  if (is_started == 0) {
    const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    if (error != MPI_SUCCESS) return error;
  }
  for (MPI_Comm given : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    if (const int error = MPI_Comm_set_errhandler(given, MPI_ERRORS_RETURN)) return error;
  }
  MPI_Comm own = MPI_COMM_NULL;
  if (const int error = MPI_Comm_dup(MPI_COMM_WORLD, &own)) return error;
  return adopt(own, world);
}

int finish() {
  if (const int error = MPI_Comm_free(&world.comm)) return error;
  return MPI_Finalize();
}

int rank() { return world.place; }
int rank_count() { return world.size; }

int ranks_on_node(int* count) {
  MPI_Comm node = MPI_COMM_NULL;
  const int error =
      MPI_Comm_split_type(world.comm, MPI_COMM_TYPE_SHARED, world.place, MPI_INFO_NULL, &node);
  if (error != MPI_SUCCESS) return error;
  Team team;
  if (const int failed = adopt(node, team)) return failed;
  *count = team.size;
  return MPI_Comm_free(&node);
}

void keep_text(const char* from, char* text, int size) {
  const size_t length = std::min(std::strlen(from), static_cast<size_t>(size - 1));
  std::memcpy(text, from, length);
  text[length] = '\0';
}

void describe(int error, char* text, int size) {
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(error, words, &length) != MPI_SUCCESS) length = 0;
  keep_text(length > 0 ? words : "an error that MPI does not know", text, size);
}

void library(char* text, int size) {
  char words[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(words, &length);
  keep_text(words, text, size);
}

int split(int color, int key, Team** made) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (const int error = MPI_Comm_split(world.comm, color, key, &comm)) return error;
  *made = new (std::nothrow) Team;
  if (*made == nullptr) return MPI_ERR_NO_MEM;
  return adopt(comm, **made);
}

int release(Team* team) {
  const int error = MPI_Comm_free(&team->comm);
  delete team;
  return error;
}

// A message between two members, in parts that MPI's counts can tell. Both see the same count, and
// so the same number of parts; one of nothing is one part, too.
class Messages {
 public:
  explicit Messages(MPI_Comm comm) : comm_(comm) {}

  void receive(void* to, int64_t count, int from) {
    each_part(count, [&](int64_t offset, int part) {
      return MPI_Irecv(static_cast<char*>(to) + offset, part, MPI_BYTE, from, kTag, comm_, next());
    });
  }
  void send(const void* data, int64_t count, int to) {
    each_part(count, [&](int64_t offset, int part) {
      return MPI_Isend(static_cast<const char*>(data) + offset, part, MPI_BYTE, to, kTag, comm_,
                       next());
    });
  }
  int wait() {
    for (MPI_Request& request : requests_) {
      const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (error_ == MPI_SUCCESS) error_ = error;
    }
    return error_;
  }

 private:
  MPI_Request* next() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  template <typename Post>
  void each_part(int64_t count, Post post) {
    int64_t offset = 0;
    do {
      const int64_t part = std::min(largest, count - offset);
      const int error = post(offset, static_cast<int>(part));
      if (error_ == MPI_SUCCESS) error_ = error;
      offset += part;
    } while (offset < count);
  }

  MPI_Comm comm_;
  std::vector<MPI_Request> requests_;
  int error_ = MPI_SUCCESS;
};

const char* at(const void* buffer, int64_t offset) {
  return static_cast<const char*>(buffer) + offset;
}
char* at(void* buffer, int64_t offset) { return static_cast<char*>(buffer) + offset; }

// Every member receives from every other, and sends it the piece that `piece_of` says.
template <typename PieceOf>
int exchange_messages(const Team& team, const Exchange& exchange, PieceOf piece_of) {
  Messages messages(team.comm);
  for (int step = 1; step < team.size; ++step) {
    const int from = (team.place + team.size - step) % team.size;
    messages.receive(at(exchange.receive, exchange.receive_offsets[from]),
                     exchange.receive_counts[from], from);
  }
  for (int step = 1; step < team.size; ++step) {
    const int to = (team.place + step) % team.size;
    const int given = piece_of(to);
    const void* const data = exchange.send == nullptr
                                 ? at(exchange.receive, exchange.receive_offsets[team.place])
                                 : at(exchange.send, exchange.send_offsets[given]);
    const int64_t count = exchange.send == nullptr ? exchange.receive_counts[team.place]
                                                   : exchange.send_counts[given];
    messages.send(data, count, to);
  }
  const int piece = piece_of(team.place);
  if (exchange.send != nullptr && exchange.send_counts[piece] > 0) {
    std::memcpy(at(exchange.receive, exchange.receive_offsets[team.place]),
                at(exchange.send, exchange.send_offsets[piece]),
                static_cast<size_t>(exchange.send_counts[piece]));
  }
  return messages.wait();
}

std::vector<int> as_ints(const int64_t* values, int count) {
  std::vector<int> ints(static_cast<size_t>(count));
  std::transform(values, values + count, ints.begin(),
                 [](int64_t value) { return static_cast<int>(value); });
  return ints;
}

int all_gather(Team* given, const Exchange* exchange) {
  const Team& team = team_or_world(given);
  if (exchange->most > largest) return exchange_messages(team, *exchange, [](int) { return 0; });
  const std::vector<int> counts = as_ints(exchange->receive_counts, team.size);
  const std::vector<int> offsets = as_ints(exchange->receive_offsets, team.size);
  const bool is_in_place = exchange->send == nullptr;
  const void* const send =
      is_in_place ? MPI_IN_PLACE : at(exchange->send, exchange->send_offsets[0]);
  const int count = is_in_place ? 0 : static_cast<int>(exchange->send_counts[0]);
  return MPI_Allgatherv(send, count, MPI_BYTE, exchange->receive, counts.data(), offsets.data(),
                        MPI_BYTE, team.comm);
}

int all_to_all(Team* given, const Exchange* exchange) {
  const Team& team = team_or_world(given);
  if (exchange->most > largest)
    return exchange_messages(team, *exchange, [](int to) { return to; });
  const std::vector<int> send_counts = as_ints(exchange->send_counts, team.size);
  const std::vector<int> send_offsets = as_ints(exchange->send_offsets, team.size);
  const std::vector<int> receive_counts = as_ints(exchange->receive_counts, team.size);
  const std::vector<int> receive_offsets = as_ints(exchange->receive_offsets, team.size);
  return MPI_Alltoallv(exchange->send, send_counts.data(), send_offsets.data(), MPI_BYTE,
                       exchange->receive, receive_counts.data(), receive_offsets.data(), MPI_BYTE,
                       team.comm);
}

int broadcast(Team* given, void* buffer, int64_t bytes, int root) {
  const Team& team = team_or_world(given);
  int64_t offset = 0;
  do {
    const auto part = static_cast<int>(std::min(largest, bytes - offset));
    if (const int error = MPI_Bcast(at(buffer, offset), part, MPI_BYTE, root, team.comm))
      return error;
    offset += part;
  } while (offset < bytes);
  return MPI_SUCCESS;
}

}  // namespace

// Found by its name.
extern "C" __attribute__((visibility("default"))) const onedim_mpi_module onedim_mpi_module_v1 = {
    sizeof(onedim_mpi_module),
    start,
    finish,
    rank,
    rank_count,
    ranks_on_node,
    describe,
    library,
    split,
    release,
    all_gather,
    all_to_all,
    broadcast,
};
