#include "core/exec/dealt_judge.hpp"

#include <algorithm>

#include "core/exec/rank_report.hpp"

namespace onedim {
namespace {

constexpr size_t kItemsPerRound = 8;  // and rank: a round costs two exchanges, whatever it moves

}  // namespace

DealtJudge::DealtJudge(const GraphTask& task, std::span<const Tensor> whole, MpiWorld& world)
    : task_(task),
      whole_(whole),
      world_(world),
      judge_(task),
      keeps_copies_(std::count(task.writes.begin(), task.writes.end(), true) > 0) {}

Tensor DealtJudge::kept(const Tensor& tensor) const {
  return keeps_copies_ && tensor.data() != nullptr ? tensor.clone() : tensor;
}

void DealtJudge::on_inputs(int64_t, int, std::span<Tensor* const> inputs) {
  inputs_.clear();
  for (const Tensor* input : inputs) inputs_.push_back(input == nullptr ? Tensor() : kept(*input));
}

void DealtJudge::on_outputs(int64_t, int node, std::span<const Tensor> outputs) {
  Item item{Item::Kind::kNode, node, inputs_.size(), std::move(inputs_)};
  for (const Tensor& output : outputs) item.tensors.push_back(kept(output));
  const ResolvedNode& resolved = task_.resolved->nodes[node];
  for (const OptionalMeta& meta : resolved.call.inputs) kept_bytes_ += meta ? meta->bytes() : 0;
  for (const OptionalOutput& output : resolved.outputs)
    kept_bytes_ += output ? output->meta.bytes() : 0;
  items_.push_back(std::move(item));
  inputs_.clear();
}

void DealtJudge::on_move(int64_t, int move, const Tensor& from, const Tensor& to) {
  const ValueId value = task_.solution->moves[move].values[0];
  kept_bytes_ += 2 * task_.graph().values[value].meta.bytes();
  items_.push_back({Item::Kind::kMove, move, 1, {kept(from), kept(to)}});
}

void DealtJudge::add_outputs(const GraphProgram& program) {
  for (ValueId value = 0; value < task_.graph().value_count(); ++value) {
    if (whole_[value].data() != nullptr)
      items_.push_back({Item::Kind::kOutput, value, 1, {program.output(value)}});
  }
}

Status DealtJudge::judge_kept() {
  const size_t round = kItemsPerRound * static_cast<size_t>(task_.mesh().rank_count());
  const std::vector<Item> items = std::exchange(items_, {});
  kept_bytes_ = 0;
  for (size_t begin = 0; begin < items.size(); begin += round) {
    const size_t count = std::min(round, items.size() - begin);
    if (Status status = judge_round(std::span(items).subspan(begin, count)); !status.ok())
      return status;
  }
  return {};
}

Status DealtJudge::judge_round(std::span<const Item> items) {
  const auto ranks = static_cast<size_t>(task_.mesh().rank_count());
  std::vector<std::vector<Tensor>> given(ranks);  // per rank: of its items, one behind the other
  for (size_t i = 0; i < items.size(); ++i) {
    std::vector<Tensor>& to = given[i % ranks];
    to.insert(to.end(), items[i].tensors.begin(), items[i].tensors.end());
  }
  std::vector<std::string> texts;
  for (const std::vector<Tensor>& tensors : given) texts.push_back(pack_tensors(tensors));
  const Result<std::vector<std::string>> dealt = world_.deal(texts, "the judging of the graph");
  if (!dealt.ok()) return dealt.status();
  std::vector<std::vector<Tensor>> gotten;
  for (const std::string& text : *dealt) {
    Result<std::vector<Tensor>> tensors = unpack_tensors(text);
    if (!tensors.ok()) return tensors.status();
    gotten.push_back(*std::move(tensors));
  }
  size_t next = 0;  // tensor, the same of each rank
  for (size_t i = static_cast<size_t>(world_.rank()); i < items.size(); i += ranks) {
    const size_t count = items[i].tensors.size();
    std::vector<std::vector<Tensor>> parts;
    for (const std::vector<Tensor>& tensors : gotten) {
      if (tensors.size() < next + count)
        return absl::DataLossError("a rank has dealt too few tensors");
      const auto first = tensors.begin() + static_cast<std::ptrdiff_t>(next);
      parts.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
    }
    next += count;
    if (Status status = judge_item(items[i], parts); !status.ok()) return status;
  }
  return {};
}

Status DealtJudge::judge_item(const Item& item, std::span<std::vector<Tensor>> parts) {
  if (item.kind == Item::Kind::kOutput) {
    std::vector<Tensor> locals;
    for (const std::vector<Tensor>& part : parts) locals.push_back(part[0]);
    const Result<OutputDistance> distance =
        output_distance(task_, item.number, whole_[item.number], locals);
    if (!distance.ok()) return distance.status();
    outputs_.push_back(*distance);
    return {};
  }
  for (size_t number = 0; number < parts.size(); ++number) {
    const auto rank = static_cast<int64_t>(number);
    std::vector<Tensor>& part = parts[number];
    if (item.kind == Item::Kind::kMove) {
      judge_.on_move(rank, item.number, part[0], part[1]);
      continue;
    }
    std::vector<Tensor*> inputs;
    for (size_t slot = 0; slot < item.inputs; ++slot)
      inputs.push_back(part[slot].data() == nullptr ? nullptr : &part[slot]);
    judge_.on_inputs(rank, item.number, inputs);
    judge_.on_outputs(rank, item.number, std::span(part).subspan(item.inputs));
  }
  return {};
}

Result<GraphFindings> DealtJudge::collect() {
  const Result<std::vector<std::string>> all = world_.gather(
      pack_findings({judge_.verdict(), outputs_}), "the collection of what was judged");
  if (!all.ok()) return all.status();
  GraphFindings findings;
  for (const std::string& text : *all) {
    Result<GraphFindings> one = unpack_findings(text);
    if (!one.ok()) return one.status();
    add_verdict(std::move(one->verdict), findings.verdict);
    findings.outputs.insert(findings.outputs.end(), one->outputs.begin(), one->outputs.end());
  }
  std::sort(findings.outputs.begin(), findings.outputs.end(),
            [](const OutputDistance& a, const OutputDistance& b) { return a.value < b.value; });
  return findings;
}

}  // namespace onedim
