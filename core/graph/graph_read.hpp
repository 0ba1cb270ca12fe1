#pragma once
// Graph read: the file format `onedim.graph/1`:
//   {"format", "name",
//    "values": {NAME: {"shape", "strides", "dtype", "kind", "path"}},
//    "nodes": [{"name", "op", "inputs": {ARGUMENT: VALUE, null or a list of these},
//               "attributes": {ARGUMENT: any value}, "outputs": [VALUE or null],
//               "role", "phase", "module", "layer", "recompute"}],
//    "outputs": [VALUE or null], "gradients": {PARAM: VALUE}, "n_forward_outputs"}
// kind is param, buffer, input, tangent or intermediate, phase forward or backward. name, path,
// role, module, layer, recompute, gradients and n_forward_outputs may be left out, and so may
// phase, for forward. An unknown key is an error, with the nearest one that is known; every error
// names the place.

#include "core/graph/graph.hpp"

namespace onedim {

// A file, plain or gzip. The graph's invariants hold.
Result<Graph> read_graph(const std::string& path);
// `name` stands for the text in errors.
Result<Graph> parse_graph(const std::string& text, const std::string& name);

}  // namespace onedim
