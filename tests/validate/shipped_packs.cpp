#include "shipped_packs.hpp"

#include <zlib.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

std::string read_gzip(const std::string& path) {
  gzFile file = ::gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("no file " + path);
  std::string text(1 << 20, '\0');
  const int count = ::gzread(file, text.data(), static_cast<unsigned>(text.size()));
  ::gzclose(file);
  if (count < 0 || count == static_cast<int>(text.size()))
    throw std::runtime_error("damaged or too long: " + path);
  text.resize(count);
  return text;
}

// The oracle drew true values in these domains: (op, input slot) -> domain.
const std::map<std::pair<std::string, int>, std::string>& domains() {
  static const std::map<std::pair<std::string, int>, std::string> kDomains = {
      {{"log", 0}, "positive"},          {{"log1p", 0}, "nonnegative"},
      {{"sqrt", 0}, "positive"},         {{"rsqrt", 0}, "positive"},
      {{"reciprocal", 0}, "nonzero"},    {{"div.Tensor", 1}, "nonzero"},
      {{"addcdiv", 2}, "nonzero"},       {{"pow.Tensor_Tensor", 0}, "positive"},
      {{"fmod.Tensor", 1}, "nonzero"},   {{"remainder.Tensor", 1}, "nonzero"},
      {{"xlogy.Tensor", 1}, "positive"}, {{"special_xlog1py", 1}, "values(-0.5,0,1,3)"},
      {{"isnan", 0}, "nonfinite"},       {{"isfinite", 0}, "nonfinite"},
      {{"nansum", 0}, "nonfinite"},
  };
  return kDomains;
}

// Indices, the second input of these ops, name places on the first one's dim 0; of a gradient,
// which is the op's output, on as many as an attribute says.
bool takes_indices(const std::string& op) {
  static const std::set<std::string> kOps = {
      "embedding",  "embedding_dense_backward", "gather",    "index.Tensor",
      "index_add",  "index_fill.int_Scalar",    "index_put", "index_fill.int_Tensor",
      "scatter_add"};
  return kOps.count(op) > 0;
}

std::string index_text(const std::string& op, const Json& entry) {
  const std::string table = entry.at("inputs").at(0), index = entry.at("inputs").at(1);
  const Json& attributes = entry.at("attributes");
  const size_t begin = table.find('[') + 1;
  const std::string bound = attributes.contains("num_weights")
                                ? attributes.at("num_weights").dump()
                                : table.substr(begin, table.find_first_of(",]", begin) - begin);
  const std::string text = index + ":index(" + bound + ")";
  return op == "index.Tensor" || op == "index_put" ? "[" + text + "]" : text;
}

// The oracle writes orders of norms as strings, and `keepdim` also where the op has none.
std::string attribute_text(const Schema& schema, const std::string& name, const Json& value) {
  const Argument* argument = schema.find(name);
  if (argument == nullptr && name == "keepdim" && value == false) return "";
  const bool is_number = argument != nullptr && argument->type == ArgumentType::kScalar;
  const std::string text = value.is_string() && is_number ? value.get<std::string>() : value.dump();
  return "; " + name + "=" + text;
}

// The oracle normalises over the weight's shape, and names neither it nor eps.
std::string normalized_text(const Json& entry) {
  const std::string weight = entry.at("inputs").at(1);
  return "; normalized_shape=" + weight.substr(weight.find('[')) + "; eps=1e-05";
}

std::string call_text(const Schema& schema, const Json& entry) {
  const std::string& op = schema.name;
  std::string text;
  int slot = 0;
  for (const Json& input : entry.at("inputs")) {
    text += slot > 0 ? "; " : "";
    text += slot == 1 && takes_indices(op) ? index_text(op, entry) : input.get<std::string>();
    const auto domain = domains().find({op, slot++});
    if (domain != domains().end()) text += ":" + domain->second;
  }
  for (const auto& [name, value] : entry.at("attributes").items())
    text += attribute_text(schema, name, value);
  if (op == "native_layer_norm") text += normalized_text(entry);
  return text;
}

bool is_bool_placement_of_sums(const std::string& placement) {
  return placement == "P(sum)" || placement == "P(product)";
}

std::string input_text(const Json& combo, size_t slots) {
  std::string text;
  for (const Json& input : combo.at("inputs"))
    text += (text.empty() ? "" : ", ") + input.get<std::string>();
  for (size_t slot = combo.at("inputs").size(); slot < slots; ++slot)
    text += ", -";  // absent, last
  return text;
}

// Every choice of one placement an output.
void add_rules(const Json& combo, const std::string& inputs,
               const std::vector<bool>& is_bool_output, std::set<std::string>& rules) {
  std::vector<std::string> texts{""};
  size_t output = 0;
  for (const Json& choices : combo.at("outputs")) {
    std::vector<std::string> longer;
    for (const std::string& text : texts) {
      for (const Json& choice : choices) {
        const std::string placement = choice;
        if (is_bool_output[output] && is_bool_placement_of_sums(placement)) continue;
        longer.push_back(text + (text.empty() ? "" : ", ") + placement);
      }
    }
    texts = std::move(longer);
    ++output;
  }
  for (const std::string& text : texts) rules.insert(text + " | " + inputs);
}

TruthEntry make_entry(const Op& op, const Json& json) {
  TruthEntry entry{op.name(), call_text(op.schema, json), {}, {}, {}};
  Result<CallText> call = parse_call(op.schema, entry.call);
  if (!call.ok())
    throw std::runtime_error(op.name() + " " + entry.call + ": " + call.status().ToString());
  Result<std::vector<OptionalOutput>> outputs = op.infer(call->call);
  if (!outputs.ok())
    throw std::runtime_error(op.name() + " " + entry.call + ": " + outputs.status().ToString());
  std::vector<bool> is_bool_output;
  for (const OptionalOutput& output : *outputs)
    is_bool_output.push_back(output && output->meta.dtype == DType::kBool);
  for (const Json& combo : json.at("combos")) {
    const std::string inputs = input_text(combo, call->call.inputs.size());
    add_rules(combo, inputs, is_bool_output,
              combo.contains("even_only") ? entry.even : entry.rules);
    entry.listed_inputs.insert(inputs);
  }
  for (const std::string& rule : entry.rules) entry.even.erase(rule);
  return entry;
}

}  // namespace

std::vector<TruthEntry> truth_entries(const Registry& registry) {
  std::vector<TruthEntry> entries;
  const Json document = Json::parse(read_gzip(ONEDIM_TEST_DATA "/truth_rules.json.gz"));
  for (const auto& [name, list] : document.at("ops").items()) {
    const Op* op = registry.find(name);
    if (op == nullptr) continue;
    for (const Json& json : list) entries.push_back(make_entry(*op, json));
  }
  return entries;
}

}  // namespace onedim
