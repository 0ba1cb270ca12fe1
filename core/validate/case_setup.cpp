#include "core/validate/case_setup.hpp"

#include <algorithm>
#include <limits>

#include "core/pack/variant.hpp"
#include "core/validate/size_variants.hpp"
#include "core/validate/stride_check.hpp"

namespace onedim {
namespace {

// A variant's argument that its plain op does not have is only written.
void note_written(Case& made) {
  const Subject& sample = made.sample();
  const Op& op = *made.op;
  made.written_input.assign(sample.outputs.size(), -1);
  made.is_target.assign(sample.call.inputs.size(), false);
  for (size_t output = 0; output < sample.outputs.size(); ++output) {
    if (op.plain != nullptr && sample.outputs[output])
      made.written_input[output] = sample.outputs[output]->view_of_input;
  }
  if (op.variant != Variant::kOut) return;
  for (const int slot : written_slots(op, sample.call)) made.is_target[slot] = true;
}

void note_alphabets(Case& made) {
  const Subject& sample = made.sample();
  for (const OptionalMeta& meta : sample.call.inputs) {
    made.inputs.push_back(meta ? alphabet_of(*meta) : std::vector<Placement>{Placement::none()});
  }
  for (const OptionalOutput& output : sample.outputs) {
    made.outputs.push_back(output ? alphabet_of(output->meta)
                                  : std::vector<Placement>{Placement::none()});
  }
}

Case::Site make_site(const Case& made, int subject, int64_t world) {
  const uint64_t key = mix_key(made.options.seed, static_cast<uint64_t>(subject));
  return {subject, std::make_unique<Place>(*made.subjects[subject], world, key)};
}

void add_site(Case& made, int subject, int64_t world) {
  made.sites.push_back(make_site(made, subject, world));
}

int add_subject(Case& made, Subject subject) {
  made.subjects.push_back(std::make_unique<Subject>(std::move(subject)));
  return static_cast<int>(made.subjects.size()) - 1;
}

// A variant whose values the kernel refuses is no case of the op; the sample itself must run.
Status drop_refused_variants(Case& made) {
  Status own = absl::OkStatus();
  std::erase_if(made.sites, [&](const Case::Site& site) {
    const Status& status = site.place->draw(0).status;
    const bool counts = site.subject == 0 || status.code() == absl::StatusCode::kDataLoss;
    if (counts && own.ok()) own = status;
    return site.subject != 0 && !status.ok();
  });
  return own;
}

// Elements are numbered by int32 (OwnedElements).
Status check_sizes(const Subject& subject) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto check = [&](const TensorMeta& meta, std::string_view side, size_t slot) -> Status {
    const int64_t count = checked_volume(meta.shape);
    if (count >= 0 && count <= kMost) return absl::OkStatus();
    return invalid_argument("{}: {} {} is {}, but at most {} elements can be judged",
                            subject.op->name(), side, slot, format_meta(meta), kMost);
  };
  for (size_t slot = 0; slot < subject.call.inputs.size(); ++slot) {
    if (!subject.call.inputs[slot]) continue;
    if (Status status = check(*subject.call.inputs[slot], "input", slot); !status.ok())
      return status;
  }
  for (size_t slot = 0; slot < subject.outputs.size(); ++slot) {
    if (!subject.outputs[slot]) continue;
    if (Status status = check(subject.outputs[slot]->meta, "output", slot); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<Placement> alphabet_of(const TensorMeta& meta) {
  std::vector<Placement> alphabet{Placement::replicate()};
  for (size_t dim = 0; dim < meta.shape.size(); ++dim) {
    if (meta.shape[dim] > 1) alphabet.push_back(Placement::shard(static_cast<int>(dim)));
  }
  for (const char* kind : {"sum", "avg", "max", "min", "product"}) {
    if (is_legal_partial(kind, meta.dtype)) alphabet.push_back(Placement::make_partial(kind));
  }
  return alphabet;
}

std::string Case::text() const { return format_call(sample().call, sample().domains); }

Status Case::fault() const {
  for (const std::vector<Site>* list : {&sites, &later_sites}) {
    for (const Site& site : *list) {
      if (Status fault = site.place->fault(); !fault.ok()) return fault;
    }
  }
  return absl::OkStatus();
}

const Case::Site& Case::site(int number) const {
  const size_t at = static_cast<size_t>(number);
  return at < sites.size() ? sites[at] : later_sites[at - sites.size()];
}

int Case::add_later_site(Subject subject, int64_t world) {
  later_sites.push_back(make_site(*this, add_subject(*this, std::move(subject)), world));
  return static_cast<int>(sites.size() + later_sites.size()) - 1;
}

Result<Case> make_case(const Op& op, CallText sample, const Registry& registry,
                       const CaseOptions& options) {
  Result<Subject> subject = make_subject(op, std::move(sample));
  if (!subject.ok()) return subject.status();
  if (Status status = check_sizes(*subject); !status.ok()) return status;
  subject->call.seed = options.seed;
  subject->call.call_id = 1;
  Case made;
  made.op = &op;
  made.registry = &registry;
  made.options = options;
  add_subject(made, *std::move(subject));
  note_written(made);
  note_alphabets(made);
  if (options.redraw_sizes) {
    for (const int64_t world : options.worlds) {
      for (Subject& variant : even_variants(made.sample(), world)) {
        add_site(made, add_subject(made, std::move(variant)), world);
      }
    }
  }
  for (const int64_t world : options.worlds) add_site(made, 0, world);
  for (const int64_t world : options.worlds) {
    std::optional<Subject> variant;
    if (options.redraw_sizes) variant = uneven_variant(made.sample(), world);
    if (variant) add_site(made, add_subject(made, *std::move(variant)), world);
  }
  const Status own = made.sites.empty() ? absl::OkStatus() : drop_refused_variants(made);
  if (!own.ok()) return own;
  if (!made.sites.empty()) {
    if (Status status = check_strides(*made.sites.front().place); !status.ok()) return status;
  }
  return made;
}

}  // namespace onedim
