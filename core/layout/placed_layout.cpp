#include "core/layout/placed_layout.hpp"

#include "core/base/scanner.hpp"
#include "core/base/text.hpp"

namespace onedim {
namespace {

constexpr std::string_view kWord = "outermost";

// The dim in `text`, whose memory order begins at `at`.
Result<int> parse_outermost(std::string_view text, size_t at, int ndim) {
  Scanner scanner(text);
  scanner.move_to(at + kWord.size());
  if (Status status = scanner.expect("("); !status.ok()) return status;
  scanner.peek();
  const size_t begin = scanner.position();
  const Result<int64_t> dim = scanner.integer();
  if (!dim.ok()) return dim.status();
  if (*dim < 0 || *dim >= ndim) {
    return scanner.error_at(
        begin, fmt::format("outermost dim {} is not a dim of a tensor of {}", *dim, ndim));
  }
  if (Status status = scanner.expect(")"); !status.ok()) return status;
  if (!scanner.at_end()) return scanner.error("unexpected text behind outermost(..)");
  return static_cast<int>(*dim);
}

}  // namespace

Result<PlacedLayout> parse_placed_layout(std::string_view text, const Mesh& mesh, int ndim) {
  text = trim(text);
  PlacedLayout placed;
  const size_t at = text.find(kWord);
  if (at != std::string_view::npos) {
    const Result<int> outermost = parse_outermost(text, at, ndim);
    if (!outermost.ok()) return outermost.status();
    placed.outermost = *outermost;
    text = trim(text.substr(0, at));
  }
  Result<Layout> layout = parse_layout(text, mesh, ndim);
  if (!layout.ok()) return layout.status();
  placed.layout = *std::move(layout);
  return placed;
}

std::string format_placed_layout(const Layout& layout, int outermost, const Mesh& mesh) {
  std::string text = format_layout(layout, mesh);
  if (outermost != 0) text += fmt::format(" outermost({})", outermost);
  return text;
}

}  // namespace onedim
