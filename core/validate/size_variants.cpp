#include "core/validate/size_variants.hpp"

#include <algorithm>
#include <set>

#include "core/validate/value_draw.hpp"

namespace onedim {
namespace {

using SizeMap = std::vector<std::pair<int64_t, int64_t>>;  // from, to; increasing

int64_t map_size(const SizeMap& sizes, int64_t size) {
  for (const auto& [from, to] : sizes) {
    if (from == size) return to;
  }
  return size;
}

bool is_size_attribute(const Op& op, std::string_view name) {
  return std::any_of(op.size_attributes.begin(), op.size_attributes.end(),
                     [&](const SizeAttribute& size) { return size.attribute == name; });
}

// The integers of a size attribute, in order; pointers into `value`.
void collect_integers(Value& value, std::vector<int64_t*>& integers) {
  if (int64_t* integer = std::get_if<int64_t>(&value.data)) integers.push_back(integer);
  if (ValueList* list = std::get_if<ValueList>(&value.data)) {
    for (Value& item : *list) collect_integers(item, integers);
  }
}

std::vector<int64_t*> size_integers(const Op& op, Call& call) {
  std::vector<int64_t*> integers;
  for (auto& [name, value] : call.attributes) {
    if (is_size_attribute(op, name)) collect_integers(value, integers);
  }
  return integers;
}

// Index bounds follow the size they name.
void map_domains(std::vector<Domain>& domains, const SizeMap& sizes) {
  for (Domain& domain : domains) {
    if (!binds_local_values(domain)) continue;
    int64_t* bound = std::get_if<int64_t>(&domain.arguments[0].data);
    if (bound != nullptr) *bound = map_size(sizes, *bound);
  }
}

bool map_inputs(Call& call, const SizeMap& sizes, int64_t most_elements) {
  for (OptionalMeta& meta : call.inputs) {
    if (!meta) continue;
    Dims shape = meta->shape;
    for (int64_t& size : shape) size = map_size(sizes, size);
    if (checked_volume(shape) < 0 || checked_volume(shape) > most_elements) return false;
    *meta = TensorMeta::contiguous(meta->dtype, std::move(shape));
  }
  return true;
}

std::optional<Subject> infer_again(Subject subject, int64_t most_elements) {
  Result<std::vector<OptionalOutput>> outputs = subject.op->infer(subject.call);
  if (!outputs.ok() || outputs->size() != subject.outputs.size()) return std::nullopt;
  for (size_t i = 0; i < outputs->size(); ++i) {
    const OptionalOutput &now = (*outputs)[i], &before = subject.outputs[i];
    if (now.has_value() != before.has_value()) return std::nullopt;
    if (now && now->meta.shape.size() != before->meta.shape.size()) return std::nullopt;
    if (now && now->meta.element_count() > most_elements) return std::nullopt;
  }
  subject.outputs = *std::move(outputs);
  return subject;
}

// Sizes times `factor`; a size attribute may be a product of several of them, so each of its
// integers is tried with powers of the factor until the op accepts.
std::optional<Subject> scaled(const Subject& subject, const SizeMap& sizes, int64_t factor,
                              int most_power, int64_t most_elements = kMaxVariantElements) {
  Subject trial = subject;
  if (!map_inputs(trial.call, sizes, most_elements)) return std::nullopt;
  map_domains(trial.domains, sizes);
  const std::vector<int64_t*> integers = size_integers(*subject.op, trial.call);
  if (integers.size() > 5) return std::nullopt;
  std::vector<int64_t> original;
  for (const int64_t* integer : integers) original.push_back(*integer);
  int64_t attempts = 1;
  for (size_t i = 0; i < integers.size(); ++i) attempts *= most_power + 1;
  for (int64_t attempt = attempts - 1; attempt >= 0; --attempt) {
    int64_t left = attempt;
    for (size_t i = 0; i < integers.size(); ++i, left /= most_power + 1) {
      *integers[i] = original[i];
      for (int64_t power = left % (most_power + 1); power > 0 && original[i] > 0; --power)
        *integers[i] *= factor;
    }
    if (std::optional<Subject> found = infer_again(trial, most_elements)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::vector<int64_t> sizes_of(const Subject& subject) {
  std::set<int64_t> sizes;
  const auto note = [&](int64_t size) {
    if (size > 1) sizes.insert(size);
  };
  for (const OptionalMeta& meta : subject.call.inputs) {
    if (meta) std::for_each(meta->shape.begin(), meta->shape.end(), note);
  }
  Call call = subject.call;
  for (const int64_t* integer : size_integers(*subject.op, call)) note(*integer);
  return {sizes.begin(), sizes.end()};
}

std::optional<Subject> with_sizes(const Subject& subject, const SizeMap& sizes) {
  Subject variant = subject;
  if (!map_inputs(variant.call, sizes, kMaxVariantElements)) return std::nullopt;
  map_domains(variant.domains, sizes);
  for (int64_t* integer : size_integers(*subject.op, variant.call))
    *integer = map_size(sizes, *integer);
  return infer_again(std::move(variant), kMaxVariantElements);
}

std::vector<Subject> even_variants(const Subject& subject, int64_t world) {
  const std::vector<int64_t> sizes = sizes_of(subject);
  std::vector<Subject> variants;
  if (sizes.empty() || world < 2) return variants;
  SizeMap ordered, multiplied;
  for (size_t i = 0; i < sizes.size(); ++i) {
    // Shards of one row would pass for rows that broadcast. Beyond world 2, which tells sizes
    // apart, they are as small as that allows.
    ordered.emplace_back(sizes[i], world * static_cast<int64_t>(world == 2 ? i + 2 : 2));
    multiplied.emplace_back(sizes[i], sizes[i] * world);
  }
  std::optional<Subject> found = with_sizes(subject, ordered);
  if (!found) found = scaled(subject, multiplied, world, 3);
  if (found) return {*std::move(found)};
  for (const auto& one : multiplied) {
    found = scaled(subject, {one}, world, 1);
    if (found && found->call.inputs != subject.call.inputs) variants.push_back(*std::move(found));
  }
  return variants;
}

std::optional<Subject> multiplied_variant(const Subject& subject, const std::set<int64_t>& sizes,
                                          int64_t world) {
  SizeMap multiplied;
  for (const int64_t size : sizes) multiplied.emplace_back(size, size * world);
  return scaled(subject, multiplied, world, 1, kMaxElementsOfOneRule);
}

std::optional<Subject> uneven_variant(const Subject& subject, int64_t world) {
  if (world < 2) return std::nullopt;
  SizeMap sizes;
  int64_t next = std::max<int64_t>(2, world - 1);
  for (const int64_t size : sizes_of(subject)) {
    next += next % world == 0 ? 1 : 0;
    sizes.emplace_back(size, next++);
  }
  if (sizes.empty()) return std::nullopt;
  std::optional<Subject> found = with_sizes(subject, sizes);
  if (found && found->call.inputs == subject.call.inputs) return std::nullopt;
  return found;
}

}  // namespace onedim
