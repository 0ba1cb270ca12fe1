#pragma once
// The last line that onedim-mpi-measure prints. Output without one was cut short.

namespace onedim {

inline constexpr const char* kMeasurementsDone = "# all is measured";
inline constexpr const char* kMeasurementsLate = "# the deadline came first";

}  // namespace onedim
