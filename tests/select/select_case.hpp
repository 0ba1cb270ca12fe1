#pragma once
// SelectCase: one call of an op of the shipped packs with everything that a request of selection
// borrows, made from texts or drawn.

#include "core/layout/layout.hpp"
#include "core/pack/call.hpp"
#include "core/pack/registry.hpp"
#include "core/select/rule_choices.hpp"
#include "core/select/select_request.hpp"
#include "tests/redistribute/random_pairs.hpp"

namespace onedim {

struct SelectCase {
  const Op* op = nullptr;
  CallText call;
  std::vector<OptionalOutput> outputs;
  std::vector<Layout> layouts;                  // per input slot
  std::vector<std::optional<Layout>> required;  // per output slot; may be empty
  std::vector<int> outermosts;                  // per input slot; may be empty
  std::vector<std::vector<TensorMeta>> states;  // per input slot; may be empty
  SelectOptions options;

  // Lives no longer than this, nor than the next call.
  SelectRequest request();
  // The rules that the layouts and options give.
  RuleChoices choices(const Registry& registry);
  // All that is needed to ask again.
  std::string text(const Mesh& mesh) const;

 private:
  std::vector<const Layout*> required_;
};

// `call` as parse_call reads it, a layout for each tensor that is there.
SelectCase make_case(const Registry& registry, std::string_view op, std::string_view call,
                     const Mesh& mesh, const std::vector<std::string>& layouts);

// One of the op's samples, without layouts; nothing where its infer refuses it.
std::optional<SelectCase> case_of_sample(const Op& op, const std::string& sample);

// Draws layouts, memory orders, required outputs and options. Half of the draws are within one
// change of a strategy: all inputs as it asks for them, then one placement of one input changed;
// the others lie anywhere. Kinds and orders of every sort; strided shards in one input with
// `with_strided`.
void draw_request(SelectCase& c, const Registry& registry, const Mesh& mesh, PairDraw& draw,
                  bool with_strided);
SelectOptions draw_options(const SelectCase& c, PairDraw& draw);

// Every layout of a tensor: R, S in every order of cuts, P of the built-in kinds legal for it.
std::vector<Layout> all_layouts(const TensorMeta& meta, const Mesh& mesh);

}  // namespace onedim
