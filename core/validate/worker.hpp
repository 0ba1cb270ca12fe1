#pragma once
// Worker: the child's side of isolated validation. It reads one request a line from stdin and
// answers with one report a line; a pack that crashes or hangs takes only its worker along. Between
// answers it may tell which call it is at (in_flight.hpp).
// Whatever kernels print goes to stderr, so that it cannot spoil an answer.

#include <string>

#include "core/validate/op_validation.hpp"

namespace onedim {

// Lines of the protocol, JSON without newlines.
std::string request_line(const OpRequest& request);
Result<OpRequest> parse_request_line(std::string_view line);

// ValidateOptions as one argument of the worker's command line, and back.
std::string options_text(const ValidateOptions& options);
Result<ValidateOptions> parse_options_text(std::string_view text);

// Serves requests until stdin ends; the program's exit code.
int worker_main(const Registry& registry, const ValidateOptions& options);

}  // namespace onedim
