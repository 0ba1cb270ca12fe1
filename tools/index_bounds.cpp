#include "tools/index_bounds.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace onedim {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
constexpr int64_t kSafe = 2;

// Where a call says a number: a dim of the tensor at `position` of an argument, or, where `dim` is
// less than 0, an attribute.
struct Place {
  int argument = 0;
  int position = 0;
  int dim = -1;
  auto operator<=>(const Place&) const = default;
};

// The argument of a slot, and its position in that.
std::pair<int, int> place_of_slot(const Call& call, int slot) {
  for (size_t argument = 0; argument < call.arguments.size(); ++argument) {
    const SlotRange& range = call.arguments[argument];
    if (range.first >= 0 && slot >= range.first && slot < range.first + range.count)
      return {static_cast<int>(argument), slot - range.first};
  }
  return {-1, 0};
}

std::map<Place, int64_t> numbers_of(const Call& call) {
  std::map<Place, int64_t> numbers;
  for (size_t slot = 0; slot < call.inputs.size(); ++slot) {
    if (!call.inputs[slot]) continue;
    const auto [argument, position] = place_of_slot(call, static_cast<int>(slot));
    const Dims& shape = call.inputs[slot]->shape;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      numbers[{argument, position, static_cast<int>(dim)}] = shape[dim];
  }
  for (const auto& [name, value] : call.attributes) {
    if (const int64_t* number = value.get_if<int64_t>())
      numbers[{call.schema->index_of(name), 0, -1}] = *number;
  }
  return numbers;
}

// Per argument and position that samples draw indices for: the places that say their bound.
using Bounds = std::map<std::pair<int, int>, std::vector<Place>>;

void add_sample(const CallText& sample, Bounds& bounds) {
  const std::map<Place, int64_t> numbers = numbers_of(sample.call);
  for (size_t slot = 0; slot < sample.domains.size(); ++slot) {
    const Domain& domain = sample.domains[slot];
    if (domain.name != "index" || domain.arguments.empty()) continue;
    const int64_t* bound = domain.arguments[0].get_if<int64_t>();
    if (bound == nullptr) continue;
    const auto key = place_of_slot(sample.call, static_cast<int>(slot));
    const auto known = bounds.find(key);
    std::vector<Place> places;
    for (const auto& [place, number] : numbers) {
      const bool is_candidate =
          known == bounds.end() ||
          std::find(known->second.begin(), known->second.end(), place) != known->second.end();
      if (number == *bound && is_candidate) places.push_back(place);
    }
    bounds[key] = std::move(places);
  }
}

Bounds bounds_of(const Op& op) {
  Bounds bounds;
  const Result<std::vector<std::string>> samples = op.samples();
  if (!samples.ok()) return bounds;
  for (const std::string& text : *samples) {
    const Result<CallText> sample = parse_call(op.schema, text);
    if (sample.ok()) add_sample(*sample, bounds);
  }
  return bounds;
}

bool is_whole(const GraphValue& value) {
  return !is_floating(value.meta.dtype) && !is_complex(value.meta.dtype);
}

class Finder {
 public:
  explicit Finder(const ResolvedGraph& resolved)
      : resolved_(resolved), graph_(*resolved.graph), bounds_(graph_.values.size(), kUnknown) {}

  std::vector<int64_t> run() {
    for (int node = graph_.node_count() - 1; node >= 0; --node) {
      take_from_samples(resolved_.nodes[node]);
      hand_on(node);
    }
    for (int64_t& bound : bounds_) bound = bound == kUnknown ? kSafe : std::max<int64_t>(bound, 1);
    return std::move(bounds_);
  }

 private:
  void take_from_samples(const ResolvedNode& node) {
    auto [known, is_new] = by_op_.try_emplace(node.op);
    if (is_new) known->second = bounds_of(*node.op);
    if (known->second.empty()) return;
    const std::map<Place, int64_t> numbers = numbers_of(node.call);
    for (size_t slot = 0; slot < node.slots.size(); ++slot) {
      if (node.slots[slot] == kNoValue) continue;
      const auto bound = known->second.find(place_of_slot(node.call, static_cast<int>(slot)));
      if (bound == known->second.end()) continue;
      int64_t least = kUnknown;
      for (const Place& place : bound->second) {
        if (const auto number = numbers.find(place); number != numbers.end())
          least = std::min(least, number->second);
      }
      lower(node.slots[slot], least == kUnknown ? kSafe : least);
    }
  }

  // What the output must obey, the inputs that it is made of must too.
  void hand_on(int number) {
    const ResolvedNode& node = resolved_.nodes[number];
    for (size_t output = 0; output < node.outputs.size(); ++output) {
      const ValueId value = graph_.nodes[number].outputs[output];
      if (value == kNoValue || bounds_[value] == kUnknown) continue;
      const int view = node.outputs[output]->view_of_input;
      if (view >= 0) {
        lower(node.slots[view], bounds_[value]);
        continue;
      }
      for (const ValueId input : node.slots) {
        if (input != kNoValue && bounds_[input] == kUnknown) lower(input, kSafe);
      }
    }
  }

  void lower(ValueId value, int64_t bound) {
    if (is_whole(graph_.values[value])) bounds_[value] = std::min(bounds_[value], bound);
  }

  const ResolvedGraph& resolved_;
  const Graph& graph_;
  std::vector<int64_t> bounds_;
  std::map<const Op*, Bounds> by_op_;
};

}  // namespace

std::vector<int64_t> index_bounds(const ResolvedGraph& resolved) { return Finder(resolved).run(); }

}  // namespace onedim
