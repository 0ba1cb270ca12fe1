#include "core/validate/shrink.hpp"

#include <algorithm>

#include "core/pack/closed_rules.hpp"
#include "core/validate/claim.hpp"
#include "core/validate/size_variants.hpp"

namespace onedim {
namespace {

class Shrinker {
 public:
  Shrinker(const Rule& rule, const Registry& registry, CaseOptions options)
      : rule_(rule), registry_(registry), options_(std::move(options)) {}

  bool fails(const Subject& subject, int64_t world) {
    if (!is_claimed(subject)) return false;
    options_.worlds = {world};
    Result<ClaimVerdict> verdict =
        judge_claim(*subject.op, {subject.call, subject.domains}, rule_, registry_, options_);
    if (!verdict.ok() || verdict->word != RuleVerdict::Word::kRefuted) return false;
    smallest_ = {subject, world, std::move(verdict->reason)};
    return true;
  }

  std::optional<SmallestCase> run(const Subject& subject, int64_t world) {
    if (!fails(subject, world)) return std::nullopt;
    for (int round = 0; round < 3; ++round) {
      const bool fewer = shrink_world(), sizes = shrink_sizes(), attributes = shrink_attributes();
      if (!fewer && !sizes && !attributes) break;
    }
    return smallest_;
  }

 private:
  bool is_claimed(const Subject& subject) const {
    Result<std::vector<ClosedRule>> closed =
        closed_rules(*subject.op, subject.call, subject.outputs, registry_);
    return closed.ok() && std::any_of(closed->begin(), closed->end(), [&](const ClosedRule& other) {
             return other.rule.has_same_placements(rule_) &&
                    other.rule.even_only == rule_.even_only &&
                    other.rule.requirements == rule_.requirements;
           });
  }

  bool shrink_world() {
    for (int64_t world = 2; world < smallest_->world; ++world) {
      if (fails(Subject(smallest_->subject), world)) return true;
    }
    return false;
  }

  bool shrink_sizes() {
    bool shrunk = false;
    for (const int64_t size : sizes_of(smallest_->subject)) shrunk |= shrink_size(size);
    return shrunk;
  }

  bool shrink_size(int64_t size) {
    for (int64_t smaller = 1; smaller < size; ++smaller) {
      const std::optional<Subject> subject = with_sizes(smallest_->subject, {{size, smaller}});
      if (subject && fails(*subject, smallest_->world)) return true;
    }
    return false;
  }

  bool shrink_attributes() {
    bool shrunk = false;
    const std::vector<std::pair<std::string, Value>> given =
        given_attributes(smallest_->subject.call);
    for (const auto& [name, value] : given) {
      const Argument* argument = smallest_->subject.call.schema->find(name);
      if (argument == nullptr || !argument->default_value) continue;
      Subject subject = smallest_->subject;
      for (auto& attribute : subject.call.attributes) {
        if (attribute.first == name) attribute.second = *argument->default_value;
      }
      Result<std::vector<OptionalOutput>> outputs = subject.op->infer(subject.call);
      if (!outputs.ok()) continue;
      subject.outputs = *std::move(outputs);
      shrunk |= fails(subject, smallest_->world);
    }
    return shrunk;
  }

  const Rule& rule_;
  const Registry& registry_;
  CaseOptions options_;
  std::optional<SmallestCase> smallest_;
};

}  // namespace

std::optional<SmallestCase> shrink(const Subject& subject, const Rule& rule, int64_t world,
                                   const Registry& registry, const CaseOptions& options) {
  return Shrinker(rule, registry, options).run(subject, world);
}

}  // namespace onedim
