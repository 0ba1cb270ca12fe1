// Samples of a list form, see list_form.hpp. Two elements in a list show that they do not mix, but
// their placements multiply: lists of one show what the elements themselves need.

#include <algorithm>
#include <array>

#include "core/pack/list_form.hpp"

namespace onedim {
namespace {

constexpr double kMostPlacements = 700;  // of all inputs of a list together
constexpr size_t kMostPairs = 4;
constexpr size_t kMostSamples = 7;

// A sample of the plain op.
struct Element {
  CallText text;
  OptionalMeta result;
};

// R, shards and partials that an input may have.
double placements_of(const OptionalMeta& meta) {
  if (!meta) return 1;
  constexpr std::array<std::string_view, 5> kKinds = {"sum", "avg", "max", "min", "product"};
  const auto is_cut = [](int64_t size) { return size > 1; };
  const auto is_legal = [&](std::string_view kind) { return is_legal_partial(kind, meta->dtype); };
  return static_cast<double>(1 + std::count_if(meta->shape.begin(), meta->shape.end(), is_cut) +
                             std::count_if(kKinds.begin(), kKinds.end(), is_legal));
}

// Fills a call of the form, argument by argument.
class ListSample {
 public:
  ListSample(const Op& form, std::span<const Element* const> elements)
      : form_(form), elements_(elements), tensors_(form.schema.arguments.size()) {}

  // "" where the elements do not fit the form, or each other.
  std::string text(bool is_bounded) {
    if (!std::all_of(elements_.begin(), elements_.end(),
                     [&](const Element* element) { return is_expressible(*element); }))
      return "";
    for (size_t at = 0; at < tensors_.size(); ++at) {
      const auto plain = std::find(form_.element_arguments.begin(), form_.element_arguments.end(),
                                   static_cast<int>(at));
      const bool is_added = plain == form_.element_arguments.end()
                                ? add_target(at)
                                : add(at, plain - form_.element_arguments.begin());
      if (!is_added) return "";
    }
    const Result<Call> call = make_call(form_.schema, tensors_, attributes_);
    if (!call.ok() || !form_.infer(*call).ok()) return "";
    double placements = 1;
    for (const OptionalMeta& input : call->inputs) placements *= placements_of(input);
    if (is_bounded && placements > kMostPlacements) return "";
    return format_call(*call, domains_);
  }

 private:
  // What the form has no argument for must have its default.
  bool is_expressible(const Element& element) const {
    const auto given = given_attributes(element.text.call);
    return std::all_of(given.begin(), given.end(), [&](const auto& attribute) {
      const int at = form_.plain->schema.index_of(attribute.first);
      return at < 0 || form_.element_arguments[at] >= 0;
    });
  }

  bool add_target(size_t at) {
    for (const Element* element : elements_) {
      tensors_[at].push_back(element->result);
      domains_.emplace_back();
    }
    return true;
  }

  bool add(size_t at, size_t plain) {
    const Argument& argument = form_.schema.arguments[at];
    ValueList values;
    for (const Element* element : elements_) {
      const CallText& text = element->text;
      const SlotRange range = text.call.arguments[plain];
      const bool is_first = tensors_[at].empty();
      if (argument.is_tensor()) {
        if (range.first < 0) return false;
        const OptionalMeta& meta = text.call.inputs[range.first];
        if (!argument.is_list && !is_first) {
          if (tensors_[at][0] != meta) return false;
          continue;
        }
        tensors_[at].push_back(meta);
        domains_.push_back(text.domains[range.first]);
      } else {
        const Value* value = text.call.attribute(form_.plain->schema.arguments[plain].name);
        if (range.first >= 0 || value == nullptr) return false;
        values.push_back(*value);
      }
    }
    if (argument.is_tensor()) return true;
    const auto differs = [&](const Value& value) { return !(value == values[0]); };
    if (!argument.is_list && std::any_of(values.begin(), values.end(), differs)) return false;
    attributes_.emplace_back(argument.name, argument.is_list ? Value{values} : values[0]);
    return true;
  }

  const Op& form_;
  std::span<const Element* const> elements_;
  std::vector<std::vector<OptionalMeta>> tensors_;
  std::vector<std::pair<std::string, Value>> attributes_;
  std::vector<Domain> domains_;
};

Result<Element> element_of(const Op& plain, const std::string& text) {
  Result<CallText> call = parse_call(plain.schema, text);
  if (!call.ok()) return call.status();
  const Result<std::vector<OptionalOutput>> results = plain.infer(call->call);
  if (!results.ok()) return results.status();
  const TensorMeta& meta = (*results)[0]->meta;
  return Element{*std::move(call), TensorMeta::contiguous(meta.dtype, meta.shape)};
}

Result<std::vector<Element>> elements_of(const Op& plain) {
  const Result<std::vector<std::string>> texts = plain.samples();
  if (!texts.ok()) return texts.status();
  std::vector<Element> elements;
  for (const std::string& text : *texts) {
    Result<Element> element = element_of(plain, text);
    if (!element.ok()) return element.status();
    elements.push_back(*std::move(element));
  }
  return elements;
}

}  // namespace

Result<std::vector<std::string>> samples_of_list_form(const Op& form) {
  const Result<std::vector<Element>> elements = elements_of(*form.plain);
  if (!elements.ok()) return elements.status();
  std::vector<std::string> samples;
  std::vector<bool> is_paired(elements->size(), false);
  for (size_t i = 0; i < elements->size() && samples.size() < kMostPairs; ++i) {
    for (const size_t other : {(i + 1) % elements->size(), i}) {
      const std::array pair = {&(*elements)[i], &(*elements)[other]};
      std::string text = ListSample(form, pair).text(true);
      if (text.empty()) continue;
      samples.push_back(std::move(text));
      is_paired[i] = true;
      break;
    }
  }
  for (size_t i = 0; i < elements->size() && samples.size() < kMostSamples; ++i) {
    const std::array lone = {&(*elements)[i]};
    std::string text = is_paired[i] ? "" : ListSample(form, lone).text(false);
    if (!text.empty()) samples.push_back(std::move(text));
  }
  return samples;
}

Result<std::string> example_of_list_form(const Op& form) {
  Result<std::vector<std::string>> texts = form.plain->samples();
  if (!texts.ok()) return texts.status();
  texts->insert(texts->begin(), form.plain->example);
  for (const std::string& text : *texts) {
    const Result<Element> element = element_of(*form.plain, text);
    if (!element.ok()) return element.status();
    const std::array pair = {&*element, &*element};
    std::string list = ListSample(form, pair).text(false);
    if (!list.empty()) return list;
  }
  return std::string();
}

}  // namespace onedim
