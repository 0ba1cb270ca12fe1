#pragma once
// Trace measurements: what a run's trace (trace.hpp) says of how long collectives take, for
// `calibrate`. A rank's time in a collective holds its wait for others; the one that came last
// waited for nobody, so the least time in a team is taken. It holds the copies around the
// collective, too, as the run has them. Of calls of one kind, group and size the median counts.

#include "core/cost/measurement.hpp"

namespace onedim {

bool is_trace(std::string_view text);

// Ranks fill nodes of options.node_capacity in order. Without collectives, or where ranks do not
// have the same, InvalidArgument names the file.
Result<std::vector<Measurement>> parse_trace(std::string_view text, const std::string& file,
                                             const MeasurementOptions& options);

}  // namespace onedim
