#include "tools/placed_call.hpp"

#include <optional>

#include "core/base/text.hpp"
#include "core/layout/placed_layout.hpp"

namespace onedim {
namespace {

// The text without its layouts, and these, one per tensor in the order of the text; none where a
// tensor has no `@`.
struct Unplaced {
  std::string text;
  std::vector<std::optional<std::string_view>> layouts;
};

bool is_attribute(std::string_view piece) { return piece.find('=') != piece.npos; }

// One tensor, `f32[4]@S(0)` or `-`.
void add_tensor(std::string_view piece, Unplaced& unplaced) {
  const size_t at = piece.find('@');
  unplaced.text += trim(piece.substr(0, at));
  unplaced.layouts.emplace_back();
  if (at != piece.npos) unplaced.layouts.back() = piece.substr(at + 1);
}

void add_piece(std::string_view piece, Unplaced& unplaced) {
  if (!unplaced.text.empty()) unplaced.text += "; ";
  const bool is_list = piece.starts_with('[') && piece.ends_with(']');
  if (!is_list && is_attribute(piece)) {
    unplaced.text += piece;
  } else if (!is_list) {
    add_tensor(piece, unplaced);
  } else {
    unplaced.text += '[';
    bool is_first = true;
    for (const std::string_view item : split_top_level(piece.substr(1, piece.size() - 2), ';')) {
      if (!is_first) unplaced.text += "; ";
      is_first = false;
      add_tensor(item, unplaced);
    }
    unplaced.text += ']';
  }
}

}  // namespace

Result<PlacedCall> parse_placed_call(const Schema& schema, std::string_view inputs,
                                     std::span<const std::string> attributes, const Mesh& mesh) {
  Unplaced unplaced;
  for (const std::string_view piece : split_top_level(inputs, ';')) add_piece(piece, unplaced);
  Result<CallText> call = parse_call(schema, unplaced.text, attributes);
  if (!call.ok()) return call.status();
  PlacedCall placed{std::move(call->call), std::move(call->domains), {}, {}};
  for (size_t slot = 0; slot < placed.call.inputs.size(); ++slot) {
    const OptionalMeta& meta = placed.call.inputs[slot];
    const std::optional<std::string_view> text =
        slot < unplaced.layouts.size() ? unplaced.layouts[slot] : std::nullopt;
    if (!meta && text)
      return invalid_argument("tensor {}: an absent tensor has no layout, leave out {}", slot + 1,
                              quoted_excerpt(fmt::format("@{}", *text)));
    PlacedLayout where;
    if (meta && !text) where.layout = Layout::replicated(mesh.ndim());
    if (meta && text) {
      Result<PlacedLayout> parsed =
          parse_placed_layout(*text, mesh, static_cast<int>(meta->shape.size()));
      if (!parsed.ok()) return annotate(parsed.status(), fmt::format("tensor {}", slot + 1));
      where = *std::move(parsed);
      // A run splits by what a layout says, while the planner takes S as R on a size of 1.
      where.layout = drop_unit_dims(where.layout, mesh, meta->shape);
    }
    placed.layouts.push_back(std::move(where.layout));
    placed.outermosts.push_back(where.outermost);
  }
  return placed;
}

}  // namespace onedim
