#pragma once
// Flight report: which rank is behind, and where, told from the flight records of all ranks, while
// they run or afterwards. A rank is behind if others wait for it and it does not come: because its
// process is gone, is stopped, has failed or has ended, or because it works; ranks that only wait
// for one another are all named.

#include <span>

#include "core/exec/flight_record.hpp"
#include "core/layout/mesh.hpp"

namespace onedim {

// Per rank; null where a rank has no record.
using FlightRecords = std::span<const std::unique_ptr<FlightRecord>>;

// One line: who is behind, why and where, and who waits for it, for how long and in what. "" if
// nobody waits and every process is there.
std::string describe_stall(const Mesh& mesh, FlightRecords records);
// A rank whose process is gone without a word, or that failed by itself; -1: there is none.
int64_t find_lost_rank(FlightRecords records);

// What a rank told the user when the run failed, as it was then; "" if none did.
std::string reported_stall(FlightRecords records);

// A line a rank: its process, what became of it, its calls and the latest of them.
std::string describe_ranks(const Mesh& mesh, FlightRecords records);

struct RunRecords {
  Mesh mesh;
  std::vector<std::unique_ptr<FlightRecord>> records;
};
// All of a run's folder; errors name the file.
Result<RunRecords> read_records(const std::string& folder);

}  // namespace onedim
