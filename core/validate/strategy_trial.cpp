#include "core/validate/strategy_trial.hpp"

#include <algorithm>
#include <numeric>

#include "core/validate/in_flight.hpp"
#include "core/validate/size_variants.hpp"
#include "core/validate/strategy_draw.hpp"
#include "core/validate/strategy_shrink.hpp"

namespace onedim {
namespace {

constexpr uint64_t kStrategyStream = 0x57a7;
constexpr int kDrawsOfOne = 3;
constexpr int kMostShrunk = 6;  // many wrong strategies shrink to the same one
constexpr size_t kMostFindings = 3;
constexpr int kRandomVariants = 3;

// Sizes in the order they had, a step or a few apart.
std::optional<Subject> random_variant(const Subject& sample, Random& random) {
  std::vector<std::pair<int64_t, int64_t>> sizes;
  int64_t next = 1;
  for (const int64_t size : sizes_of(sample)) {
    next += random.between(1, 4);
    sizes.emplace_back(size, next);
  }
  return with_sizes(sample, sizes);
}

// The sample, and what it is with sizes that divide by everything, by something and by nothing.
std::vector<Subject> make_subjects(const Subject& sample, std::span<const Mesh> meshes,
                                   Random& random) {
  std::vector<Subject> subjects{sample};
  int64_t widest = 2, ranks = 4;
  for (const Mesh& mesh : meshes) {
    for (const int64_t size : mesh.sizes()) widest = std::max(widest, size);
    ranks = std::max(ranks, mesh.rank_count());
  }
  for (const int64_t world : {widest, ranks}) {
    for (Subject& variant : even_variants(sample, world)) subjects.push_back(std::move(variant));
    std::optional<Subject> uneven = uneven_variant(sample, world);
    if (uneven) subjects.push_back(*std::move(uneven));
  }
  for (int i = 0; i < kRandomVariants; ++i) {
    std::optional<Subject> variant = random_variant(sample, random);
    if (variant) subjects.push_back(*std::move(variant));
  }
  return subjects;
}

bool only_replicates(const Rule& rule) {
  const auto is_replica = [](const Placement& placement) {
    return placement.is_replicate() || placement.is_none();
  };
  return std::all_of(rule.inputs.begin(), rule.inputs.end(), is_replica) &&
         std::all_of(rule.outputs.begin(), rule.outputs.end(), is_replica);
}

// One subject with what its strategies share.
struct Site {
  Subject subject;
  std::optional<Place> place;
  std::optional<StrategySource> source;
};

std::vector<int> some_draws(int draws, Random& random) {
  std::vector<int> chosen;
  for (int i = 0; i < std::min(draws, kDrawsOfOne); ++i)
    chosen.push_back(static_cast<int>(random.below(draws)));
  return chosen;
}

class Trials {
 public:
  Trials(const Registry& registry, const StrategyOptions& options)
      : registry_(registry), options_(options) {}

  Status add_sites(const Subject& sample, Random& random) {
    for (Subject& subject : make_subjects(sample, options_.meshes, random)) {
      const bool is_sample = sites_.empty();
      auto site = std::make_unique<Site>(Site{std::move(subject), {}, {}});
      site->place.emplace(strategy_place(site->subject, options_.seed));
      // A variant whose values the kernel refuses is no case of the op; the sample itself must run.
      const Status& runs = site->place->draw(0).status;
      if (!runs.ok() && is_sample) return runs;
      if (!runs.ok()) continue;
      Result<StrategySource> source = StrategySource::create(site->subject, registry_, random);
      if (!source.ok()) return source.status();
      site->source.emplace(*std::move(source));
      sites_.push_back(std::move(site));
    }
    return absl::OkStatus();
  }

  void run(const Mesh& mesh, Random& random) {
    for (int number = 0; number < options_.count; ++number) {
      Site& site = *sites_[static_cast<size_t>(random.below(static_cast<int64_t>(sites_.size())))];
      const std::optional<MeshStrategy> strategy = site.source->draw(mesh, random);
      if (strategy) try_one(site, mesh, *strategy, random);
    }
  }

  // Of the kernels, see Place.
  Status fault() const {
    for (const std::unique_ptr<Site>& site : sites_) {
      if (Status fault = site->place->fault(); !fault.ok()) return fault;
    }
    return absl::OkStatus();
  }
  StrategyReport take_report() { return std::move(report_); }

 private:
  void try_one(Site& site, const Mesh& mesh, const MeshStrategy& strategy, Random& random) {
    const Subject& subject = site.subject;
    const std::string call = format_call(subject.call, subject.domains);
    const InFlight flight(
        fmt::format("\"{}\" on mesh {}", call, mesh.format()),
        strategy_command(*subject.op, subject.call, subject.domains,
                         format_strategy(mesh, strategy.rules, strategy.order), options_.seed));
    ++report_.tried;
    const auto replicas =
        std::count_if(strategy.rules.begin(), strategy.rules.end(), only_replicates);
    report_.nested += mesh.ndim() - replicas > 1 ? 1 : 0;
    const StrategyVerdict verdict =
        judge_strategy(*site.place, mesh, strategy, some_draws(options_.draws, random), registry_);
    report_.judged += verdict.word == StrategyVerdict::Word::kNotJudged ? 0 : 1;
    if (verdict.word != StrategyVerdict::Word::kRefuted) return;
    ++report_.wrong;
    if (report_.incorrect.size() >= kMostFindings || shrunk_++ >= kMostShrunk) return;
    StrategyFinding finding =
        smallest_finding({subject, mesh, strategy.rules, strategy.order, verdict.reason}, registry_,
                         options_.seed, options_.draws);
    if (std::find(report_.incorrect.begin(), report_.incorrect.end(), finding) ==
        report_.incorrect.end())
      report_.incorrect.push_back(std::move(finding));
  }

  const Registry& registry_;
  const StrategyOptions& options_;
  std::vector<std::unique_ptr<Site>> sites_;
  StrategyReport report_;
  int shrunk_ = 0;
};

Result<Subject> subject_of(const Op& op, CallText call, uint64_t seed) {
  Result<Subject> subject = make_subject(op, std::move(call));
  if (!subject.ok()) return subject;
  subject->call.seed = seed;
  subject->call.call_id = 1;
  return subject;
}

}  // namespace

Result<StrategyReport> try_strategies(const Op& op, CallText sample, const Registry& registry,
                                      const StrategyOptions& options) {
  const Result<Subject> subject = subject_of(op, std::move(sample), options.seed);
  if (!subject.ok()) return subject.status();
  Random random(mix_text(mix_key(options.seed, kStrategyStream),
                         op.name() + format_call(subject->call, subject->domains)));
  Trials trials(registry, options);
  if (Status status = trials.add_sites(*subject, random); !status.ok()) return status;
  for (const Mesh& mesh : options.meshes) trials.run(mesh, random);
  if (Status fault = trials.fault(); !fault.ok()) return fault;
  return trials.take_report();
}

Result<StrategyVerdict> judge_one_strategy(const Op& op, CallText call, const StrategyText& text,
                                           const Registry& registry, uint64_t seed, int draws) {
  const Result<ParsedStrategy> parsed = parse_strategy(text);
  if (!parsed.ok()) return parsed.status();
  const Result<Subject> subject = subject_of(op, std::move(call), seed);
  if (!subject.ok()) return subject.status();
  const Result<MeshStrategy> strategy =
      make_strategy(*subject, registry, parsed->mesh, parsed->rules, parsed->order);
  if (!strategy.ok()) return strategy.status();
  Place place = strategy_place(*subject, seed);
  std::vector<int> numbers(static_cast<size_t>(draws));
  std::iota(numbers.begin(), numbers.end(), 0);
  StrategyVerdict verdict = judge_strategy(place, parsed->mesh, *strategy, numbers, registry);
  if (Status fault = place.fault(); !fault.ok()) return fault;
  return verdict;
}

}  // namespace onedim
