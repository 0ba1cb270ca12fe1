#pragma once
// Small graph: a graph of a handful of nodes that has one of everything, as text, and the ops that
// its nodes use, as a pack.
//   forward:  w16 = cast(w); wt = flip(w16), a view; y = times(x, wt); [a, b] = halves([y, -])
//   backward: g = times(x, t); gw = cast(g)

#include <string>
#include <string_view>

#include "core/graph/graph_read.hpp"
#include "tests/pack/tiny_pack.hpp"

namespace onedim {

inline const std::string& small_graph_text() {
  static const std::string text =
      R"({"format":"onedim.graph/1","name":"small","values":{)"
      R"("w":{"shape":[3,4],"strides":[4,1],"dtype":"f32","kind":"param","path":"layers.0.w"},)"
      R"("s":{"shape":[],"strides":[],"dtype":"f64","kind":"buffer","path":"scale"},)"
      R"("x":{"shape":[4,3],"strides":[3,1],"dtype":"bf16","kind":"input"},)"
      R"("t":{"shape":[3,4],"strides":[4,1],"dtype":"bf16","kind":"tangent"},)"
      R"("w16":{"shape":[3,4],"strides":[4,1],"dtype":"bf16","kind":"intermediate"},)"
      R"("wt":{"shape":[4,3],"strides":[1,4],"dtype":"bf16","kind":"intermediate"},)"
      R"("y":{"shape":[4,3],"strides":[3,1],"dtype":"bf16","kind":"intermediate"},)"
      R"("h.0":{"shape":[2,3],"strides":[3,1],"dtype":"bf16","kind":"intermediate"},)"
      R"("h.2":{"shape":[2,3],"strides":[3,1],"dtype":"bf16","kind":"intermediate"},)"
      R"("g":{"shape":[3,4],"strides":[4,1],"dtype":"bf16","kind":"intermediate"},)"
      R"("gw":{"shape":[3,4],"strides":[4,1],"dtype":"f32","kind":"intermediate"}},)"
      R"("nodes":[)"
      R"({"name":"w16","op":"tiny.cast","inputs":{"x":"w"},"attributes":{"dtype":"bf16"},)"
      R"("outputs":["w16"],"role":"dtype_cast","phase":"forward","module":"layers.0","layer":0},)"
      R"({"name":"wt","op":"tiny.flip","inputs":{"x":"w16"},"attributes":{},"outputs":["wt"],)"
      R"("phase":"forward","recompute":"PREFER_RECOMPUTE"},)"
      R"({"name":"y","op":"tiny.times","inputs":{"x":"x","y":"wt"},)"
      R"("attributes":{"scale":-0.5,"limit":"inf","sizes":[1,2]},"outputs":["y"],)"
      R"("phase":"forward","recompute":"MUST_SAVE"},)"
      R"({"name":"h","op":"tiny.halves","inputs":{"parts":["y",null],"mask":null},)"
      R"("attributes":{},"outputs":["h.0",null,"h.2"],"phase":"forward"},)"
      R"({"name":"g","op":"tiny.times","inputs":{"x":"t","y":"w16"},"attributes":{},)"
      R"("outputs":["g"],"phase":"backward","module":""},)"
      R"({"name":"gw","op":"tiny.cast","inputs":{"x":"g"},"attributes":{"dtype":"f32"},)"
      R"("outputs":["gw"],"phase":"backward","module":"layers.0","layer":0}],)"
      R"("outputs":["h.0","h.2",null,"gw"],"gradients":{"w":"gw"},"n_forward_outputs":2})";
  return text;
}

// The text with the first `from`, which must be there, replaced.
inline std::string small_graph_with(std::string_view from, std::string_view to) {
  std::string text = small_graph_text();
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

inline Graph small_graph() {
  Result<Graph> graph = parse_graph(small_graph_text(), "small.json");
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph{};
}

// The ops of the small graph.
inline tiny::TinyPack small_graph_pack() {
  tiny::TinyPack pack;
  pack.op("tiny.cast(Tensor x, *, ScalarType dtype) -> Tensor").infer = [](auto* host, auto* call,
                                                                           auto* sink) {
    const onedim_value_t* dtype = tiny::attribute(call, "dtype");
    return tiny::emit_meta(host, sink, static_cast<DType>(dtype->integer),
                           tiny::shape_of(call->inputs[0]));
  };
  pack.op("tiny.flip(Tensor(a) x) -> Tensor(a)").infer = [](auto* host, auto* call, auto* sink) {
    const onedim_tensor_t& x = call->inputs[0];
    return tiny::emit_meta(host, sink, static_cast<DType>(x.dtype), {x.shape[1], x.shape[0]},
                           {x.strides[1], x.strides[0]}, 0);
  };
  pack.op("tiny.times(Tensor x, Tensor y, *, float scale=1, float limit=0, int[] sizes=[]) "
          "-> Tensor")
      .infer = tiny::infer_same;
  pack.op("tiny.halves(Tensor?[] parts, Tensor? mask) -> (Tensor, Tensor?, Tensor)").infer =
      [](auto* host, auto* call, auto* sink) {
        const onedim_tensor_t& x = call->inputs[0];
        if (x.shape[0] % 2 != 0)
          return tiny::refuse(host, ONEDIM_STATUS_INVALID_ARGUMENT, "halves need an even dim 0");
        const std::vector<int64_t> shape = {x.shape[0] / 2, x.shape[1]};
        tiny::emit_meta(host, sink, static_cast<DType>(x.dtype), shape);
        tiny::emit_absent(host, sink);
        return tiny::emit_meta(host, sink, static_cast<DType>(x.dtype), shape);
      };
  return pack;
}

}  // namespace onedim
