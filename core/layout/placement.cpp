#include "core/layout/placement.hpp"

#include <algorithm>
#include <array>

#include "core/base/scanner.hpp"

namespace onedim {
namespace {

constexpr std::array<std::string_view, 5> kBuiltinPartials = {"sum", "avg", "max", "min",
                                                              "product"};
// Far above any real rank; keeps dims in an int.
constexpr int64_t kMaxDim = 1 << 16;
// A strided shard may have an interval a chunk.
constexpr int64_t kMaxSplitFactor = 1 << 20;

// A number from `low` to `high`.
Result<int64_t> parse_number(Scanner& scanner, std::string_view what, int64_t low, int64_t high) {
  scanner.peek();
  const size_t begin = scanner.position();
  const Result<int64_t> value = scanner.integer();
  if (!value.ok()) return value.status();
  if (*value < low || *value > high) {
    return scanner.error_at(begin,
                            fmt::format("{} {} is not in {} to {}", what, *value, low, high));
  }
  return *value;
}

Result<Placement> parse_shard(Scanner& scanner, Placement::Kind kind) {
  Placement placement;
  placement.kind = kind;
  const Result<int64_t> dim = parse_number(scanner, "shard dim", 0, kMaxDim);
  if (!dim.ok()) return dim.status();
  placement.dim = static_cast<int>(*dim);
  if (kind == Placement::Kind::kStridedShard) {
    if (const Status status = scanner.expect(","); !status.ok()) return status;
    const Result<int64_t> factor = parse_number(scanner, "split factor", 1, kMaxSplitFactor);
    if (!factor.ok()) return factor.status();
    placement.split_factor = *factor;
  }
  if (const Status status = scanner.expect(")"); !status.ok()) return status;
  return placement;
}

Result<Placement> parse_partial(Scanner& scanner) {
  scanner.peek();
  const size_t begin = scanner.position();
  std::string name(scanner.word());
  if (name.empty()) return scanner.error("expected a partial kind, such as P(sum)");
  while (scanner.accept(".")) {
    const std::string_view word = scanner.word();
    if (word.empty()) return scanner.error("expected the kind's name behind \".\"");
    name += '.';
    name += word;
  }
  const bool is_builtin = is_builtin_partial(name);
  if (!is_builtin && name.find('.') == std::string::npos) {
    const std::vector<std::string> kinds(kBuiltinPartials.begin(), kBuiltinPartials.end());
    return scanner.error_at(
        begin, fmt::format("unknown partial kind \"{}\", expected one of {} or pack.kind{}", name,
                           fmt::join(kinds, " "), did_you_mean(name, kinds)));
  }
  int64_t component = 0;
  if (!is_builtin && scanner.accept("#")) {
    const Result<int64_t> number = parse_number(scanner, "component", 0, kMaxDim);
    if (!number.ok()) return number.status();
    component = *number;
  }
  if (const Status status = scanner.expect(")"); !status.ok()) return status;
  return Placement::make_partial(std::move(name), static_cast<int>(component));
}

}  // namespace

std::string format_placement(const Placement& placement) {
  switch (placement.kind) {
    case Placement::Kind::kNone:
      return "-";
    case Placement::Kind::kReplicate:
      return "R";
    case Placement::Kind::kShard:
      return fmt::format("S({})", placement.dim);
    case Placement::Kind::kAnyShard:
      return fmt::format("S*({})", placement.dim);
    case Placement::Kind::kStridedShard:
      return fmt::format("SS({},{})", placement.dim, placement.split_factor);
    case Placement::Kind::kPartial:
      break;
  }
  if (is_builtin_partial(placement.partial)) return fmt::format("P({})", placement.partial);
  return fmt::format("P({}#{})", placement.partial, placement.component);
}

Result<Placement> scan_placement(Scanner& scanner) {
  if (scanner.accept("-")) return Placement::none();
  if (scanner.accept("SS(")) return parse_shard(scanner, Placement::Kind::kStridedShard);
  if (scanner.accept("S*(")) return parse_shard(scanner, Placement::Kind::kAnyShard);
  if (scanner.accept("S(")) return parse_shard(scanner, Placement::Kind::kShard);
  if (scanner.accept("P(")) return parse_partial(scanner);
  scanner.peek();
  const size_t begin = scanner.position();
  if (scanner.word() == "R") return Placement::replicate();
  return scanner.error_at(begin, "expected a placement, one of R S(0) SS(0,2) P(sum)");
}

std::strong_ordering compare_text(const Placement& a, const Placement& b) {
  // The frequent cases without making texts.
  const auto is_digit = [](const Placement& p) { return p.dim >= 0 && p.dim < 10; };
  if (a.kind == b.kind) {
    if (a.is_replicate() || a.is_none()) return std::strong_ordering::equal;
    if (a.kind == Placement::Kind::kShard && is_digit(a) && is_digit(b)) return a.dim <=> b.dim;
    if (a.is_partial() && is_builtin_partial(a.partial) && is_builtin_partial(b.partial))
      return a.partial <=> b.partial;
  }
  return format_placement(a) <=> format_placement(b);
}

Result<Placement> parse_placement(std::string_view text) {
  Scanner scanner(text);
  const Result<Placement> placement = scan_placement(scanner);
  if (placement.ok() && !scanner.at_end())
    return scanner.error("unexpected text behind the placement");
  return placement;
}

bool is_builtin_partial(std::string_view name) {
  return std::find(kBuiltinPartials.begin(), kBuiltinPartials.end(), name) !=
         kBuiltinPartials.end();
}

bool is_idempotent_partial(std::string_view name) {
  return name == "max" || name == "min" || name == "avg";
}

bool can_stand_together(const Placement& a, const Placement& b) {
  const auto is_linear = [](const Placement& p) {
    return p.is_partial("sum") || p.is_partial("avg");
  };
  return a == b || (is_linear(a) && is_linear(b));
}

bool is_legal_partial(std::string_view name, DType dtype) {
  if (!is_builtin_partial(name)) return true;
  const bool is_extremum = name == "max" || name == "min";
  if (dtype == DType::kBool) return is_extremum;
  if (is_integral(dtype)) return name != "avg";
  if (is_complex(dtype)) return !is_extremum;
  // Bare exponents: a sum has no neutral value, and no two different values have a mean.
  if (dtype == DType::kF8E8M0) return name != "sum" && name != "avg";
  return true;
}

std::string no_builtin_partial(const Placement& placement, DType dtype) {
  std::string legal;
  for (const std::string_view kind : kBuiltinPartials) {
    if (is_legal_partial(kind, dtype)) legal += fmt::format(" P({})", kind);
  }
  return fmt::format("{} is not a built-in partial of {} tensors, which have{}",
                     format_placement(placement), name_of(dtype), legal);
}

}  // namespace onedim
