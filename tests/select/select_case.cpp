#include "select_case.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/layout/layout_check.hpp"
#include "core/layout/placed_layout.hpp"
#include "core/select/strategy.hpp"

namespace onedim {
namespace {

constexpr std::array<const char*, 5> kKinds = {"sum", "avg", "max", "min", "product"};

Placement draw_placement(const TensorMeta& meta, PairDraw& draw, bool with_strided) {
  const auto ndim = static_cast<int64_t>(meta.shape.size());
  const int64_t choice = draw.number(0, with_strided ? 3 : 2);
  if (choice == 0) return Placement::make_partial(draw.partial_kind(meta.dtype));
  if (choice == 1 || ndim == 0) return Placement::replicate();
  const int dim = static_cast<int>(draw.number(0, ndim - 1));
  return choice == 2 ? Placement::shard(dim) : Placement::strided_shard(dim, draw.number(2, 4));
}

// The other mesh dims cut as before; where the changed one cuts, it does so last.
Layout with_placement(const Layout& layout, int mesh_dim, const Placement& placement, int ndim) {
  Layout changed;
  changed.placements = layout.placements;
  changed.placements[mesh_dim] = placement;
  for (int dim = 0; dim < ndim; ++dim) {
    Dims cuts;
    for (const int64_t cut : layout.shard_order(dim)) {
      if (cut != mesh_dim) cuts.push_back(cut);
    }
    if (placement.is_shard() && placement.dim == dim) cuts.push_back(mesh_dim);
    changed.set_shard_order(dim, cuts);
  }
  return changed;
}

// Only sum and avg may stand together, so not every change can be made.
void change_one_placement(SelectCase& c, const Mesh& mesh, PairDraw& draw, bool with_strided) {
  std::vector<size_t> present;
  for (size_t slot = 0; slot < c.layouts.size(); ++slot) {
    if (c.call.call.inputs[slot]) present.push_back(slot);
  }
  if (present.empty()) return;
  const size_t slot = present[draw.number(0, static_cast<int64_t>(present.size()) - 1)];
  const TensorMeta& meta = *c.call.call.inputs[slot];
  const Layout changed =
      with_placement(c.layouts[slot], static_cast<int>(draw.number(0, mesh.ndim() - 1)),
                     draw_placement(meta, draw, with_strided), static_cast<int>(meta.shape.size()));
  if (check_placements(meta, changed, mesh).ok()) c.layouts[slot] = changed;
}

Strategy draw_strategy(const RuleChoices& choices, const Mesh& mesh, PairDraw& draw) {
  Strategy strategy{absl::InlinedVector<int, 8>(mesh.ndim(), 0),
                    Layout::replicated(mesh.ndim()).cutting_order()};
  for (int& rule : strategy.rules)
    rule = static_cast<int>(draw.number(0, static_cast<int64_t>(choices.rules().size()) - 1));
  if (draw.number(0, 4) == 0)
    std::shuffle(strategy.order.begin(), strategy.order.end(), draw.random());
  return strategy;
}

// Some inputs may not lie as a strategy asks (two kinds that do not mix): then anywhere.
void draw_layouts(SelectCase& c, const Mesh& mesh, PairDraw& draw, bool with_strided,
                  const RuleChoices& choices) {
  const bool is_near = draw.number(0, 1) == 0 && !choices.rules().empty();
  Strategy strategy;
  if (is_near) strategy = draw_strategy(choices, mesh, draw);
  const auto strided = static_cast<size_t>(
      with_strided ? draw.number(0, static_cast<int64_t>(c.layouts.size()) - 1) : -1);
  for (size_t slot = 0; slot < c.layouts.size(); ++slot) {
    const OptionalMeta& meta = c.call.call.inputs[slot];
    if (!meta) continue;
    if (is_near) c.layouts[slot] = input_layout(choices, strategy, slot, mesh);
    if (!is_near || !check_placements(*meta, c.layouts[slot], mesh).ok())
      c.layouts[slot] =
          draw.layout(mesh, static_cast<int>(meta->shape.size()), meta->dtype, slot == strided);
  }
  if (is_near) change_one_placement(c, mesh, draw, with_strided);
}

// Most inputs are row-major.
void draw_orders(SelectCase& c, PairDraw& draw) {
  c.outermosts.assign(c.layouts.size(), 0);
  for (size_t slot = 0; slot < c.layouts.size(); ++slot) {
    const OptionalMeta& meta = c.call.call.inputs[slot];
    if (!meta || meta->shape.empty() || draw.number(0, 7) != 0) continue;
    c.outermosts[slot] =
        static_cast<int>(draw.number(0, static_cast<int64_t>(meta->shape.size()) - 1));
  }
}

void draw_required(SelectCase& c, const Mesh& mesh, PairDraw& draw, const RuleChoices& choices) {
  c.required.assign(c.outputs.size(), std::nullopt);
  if (choices.rules().empty()) return;
  const Strategy strategy = draw_strategy(choices, mesh, draw);
  for (size_t slot = 0; slot < c.outputs.size(); ++slot) {
    if (!c.outputs[slot] || draw.number(0, 2) == 0) continue;
    const TensorMeta& meta = c.outputs[slot]->meta;
    Layout layout = output_layout(choices, strategy, slot, mesh);
    if (draw.number(0, 3) == 0)
      layout = draw.layout(mesh, static_cast<int>(meta.shape.size()), meta.dtype, false);
    if (check_placements(meta, layout, mesh).ok()) c.required[slot] = layout;
  }
}

// The orders of cuts that `layout` may have, itself included.
void add_orders(const Layout& layout, int ndim, std::vector<Layout>& layouts) {
  std::vector<Layout> orders{layout};
  for (int dim = 0; dim < ndim; ++dim) {
    const std::vector<Layout> before = orders;
    Dims cuts = layout.shard_order(dim);
    while (std::next_permutation(cuts.begin(), cuts.end())) {
      for (Layout other : before) {
        other.set_shard_order(dim, cuts);
        orders.push_back(std::move(other));
      }
    }
  }
  layouts.insert(layouts.end(), orders.begin(), orders.end());
}

}  // namespace

SelectRequest SelectCase::request() {
  required_.clear();
  for (const std::optional<Layout>& layout : required)
    required_.push_back(layout ? &*layout : nullptr);
  return {op, &call.call, layouts, required_, options, outermosts, states};
}

RuleChoices SelectCase::choices(const Registry& registry) {
  const SelectRequest request = this->request();
  std::vector<const Layout*> present;
  for (size_t slot = 0; slot < layouts.size(); ++slot) {
    if (call.call.inputs[slot]) present.push_back(&layouts[slot]);
  }
  for (const Layout* layout : request.required_outputs) {
    if (layout != nullptr) present.push_back(layout);
  }
  return RuleChoices::create(*op, call.call, outputs, registry, present, options.exact_rules)
      .value();
}

std::string SelectCase::text(const Mesh& mesh) const {
  std::string text = op->name() + ": " + format_call(call.call, call.domains);
  for (size_t slot = 0; slot < layouts.size(); ++slot) {
    const int outermost = outermosts.empty() ? 0 : outermosts[slot];
    if (call.call.inputs[slot]) text += " @" + format_placed_layout(layouts[slot], outermost, mesh);
  }
  for (const std::optional<Layout>& layout : required)
    text += layout ? " -> " + format_layout(*layout, mesh) : " -> any";
  text += fmt::format(" on {} under {}", mesh.format(), policy_name(options.policy));
  if (options.memory_bytes < std::numeric_limits<int64_t>::max())
    text += fmt::format(" within {} bytes", options.memory_bytes);
  if (options.allow_shard_to_partial) text += " allow_shard_to_partial";
  if (options.exact_rules) text += " exact_rules";
  if (options.forbid_moves) text += " forbid_moves";
  if (options.with_compute) text += " with_compute";
  return text;
}

SelectCase make_case(const Registry& registry, std::string_view op, std::string_view call,
                     const Mesh& mesh, const std::vector<std::string>& layouts) {
  SelectCase made;
  made.op = registry.find(op);
  if (made.op == nullptr) throw std::invalid_argument(std::string(op));
  made.call = parse_call(made.op->schema, call).value();
  made.outputs = made.op->infer(made.call.call).value();
  size_t next = 0;
  for (const OptionalMeta& meta : made.call.call.inputs) {
    Layout& layout = made.layouts.emplace_back();
    if (meta)
      layout = parse_layout(layouts.at(next++), mesh, static_cast<int>(meta->shape.size())).value();
  }
  return made;
}

std::optional<SelectCase> case_of_sample(const Op& op, const std::string& sample) {
  SelectCase made;
  made.op = &op;
  made.call = parse_call(op.schema, sample).value();
  Result<std::vector<OptionalOutput>> outputs = op.infer(made.call.call);
  if (!outputs.ok()) return std::nullopt;
  made.outputs = *std::move(outputs);
  made.layouts.resize(made.call.call.inputs.size());
  return made;
}

SelectOptions draw_options(const SelectCase& c, PairDraw& draw) {
  static constexpr std::array<Policy, 4> kPolicies = {Policy::kNonempty, Policy::kEven,
                                                      Policy::kFits, Policy::kAny};
  SelectOptions options;
  options.policy = kPolicies[draw.number(0, 3)];
  options.allow_shard_to_partial = draw.number(0, 3) == 0;
  options.exact_rules = draw.number(0, 3) == 0;
  options.forbid_moves = draw.number(0, 9) == 0;
  options.with_compute = draw.number(0, 1) == 0;
  if (draw.number(0, 3) != 0) return options;
  int64_t largest = 1;
  for (const OptionalMeta& input : c.call.call.inputs) {
    if (input) largest = std::max(largest, input->bytes());
  }
  options.memory_bytes = draw.number(1, 4 * largest);
  return options;
}

void draw_request(SelectCase& c, const Registry& registry, const Mesh& mesh, PairDraw& draw,
                  bool with_strided) {
  c.options = draw_options(c, draw);
  c.required.clear();
  for (size_t slot = 0; slot < c.layouts.size(); ++slot)
    c.layouts[slot] = c.call.call.inputs[slot] ? Layout::replicated(mesh.ndim()) : Layout();
  const RuleChoices choices = c.choices(registry);
  draw_layouts(c, mesh, draw, with_strided, choices);
  draw_orders(c, draw);
  if (draw.number(0, 3) == 0) draw_required(c, mesh, draw, choices);
}

std::vector<Layout> all_layouts(const TensorMeta& meta, const Mesh& mesh) {
  std::vector<Placement> placements{Placement::replicate()};
  const int ndim = static_cast<int>(meta.shape.size());
  for (int dim = 0; dim < ndim; ++dim) placements.push_back(Placement::shard(dim));
  for (const char* kind : kKinds) {
    if (is_legal_partial(kind, meta.dtype)) placements.push_back(Placement::make_partial(kind));
  }
  std::vector<Layout> layouts;
  std::vector<size_t> choice(mesh.ndim(), 0);
  while (true) {
    Layout layout;
    for (const size_t number : choice) layout.placements.push_back(placements[number]);
    if (check_placements(meta, layout, mesh).ok()) add_orders(layout, ndim, layouts);
    size_t at = 0;
    while (at < choice.size() && ++choice[at] == placements.size()) choice[at++] = 0;
    if (at == choice.size()) return layouts;
  }
}

}  // namespace onedim
