#include "resample.hpp"

#include <onedim/arithmetic.hpp>
#include <onedim/meeting_cuts.hpp>

namespace nn {

Map transposed(const Map& map) {
  Map result{map.ins, map.outs, {}};
  for (const Entry& entry : map.entries)
    result.entries.push_back({entry.in, entry.out, entry.weight});
  return result;
}

Resampling Resampling::gradient(std::string_view of_source) const {
  Resampling result = *this;
  for (Map& map : result.maps) map = transposed(map);
  result.divides_source = true;
  result.source = "grad_output";
  result.like = of_source;
  return result;
}

namespace {

int leading_of(const Call& call, const Resampling& resampling) {
  return call.tensor(resampling.source).ndim() - static_cast<int>(resampling.maps.size());
}

// Global indices of the places of the result's dim that this rank owns.
std::vector<int64_t> result_places(const Call& call, const Resampling& resampling, int dim,
                                   int64_t global) {
  const bool has_like = !resampling.like.empty();
  const int slot = has_like ? call.slot(resampling.like) : 0;
  int64_t count = has_like ? call.input(slot).size(dim) : global;
  if (const onedim_location_t* at = call.location(); at != nullptr && !has_like) {
    const onedim_slot_location_t& where = at->outputs[0];
    count = 0;
    for (uint64_t i = where.interval_begins[dim]; i < where.interval_begins[dim + 1]; ++i)
      count += where.intervals[i].end - where.intervals[i].begin;
  }
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) places.push_back(call.global_index(!has_like, slot, dim, i));
  return places;
}
std::vector<int64_t> source_places(const Call& call, const Resampling& resampling, int dim) {
  const int slot = call.slot(resampling.source);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < call.input(slot).size(dim); ++i)
    places.push_back(call.global_index(false, slot, dim, i));
  return places;
}

// The entries between places that this rank owns, by local indices.
Map restricted(const Map& map, const std::vector<int64_t>& outs, const std::vector<int64_t>& ins) {
  const auto local = [](const std::vector<int64_t>& places, int64_t global) {
    std::vector<int64_t> at(static_cast<size_t>(global), -1);
    for (size_t i = 0; i < places.size(); ++i)
      at[static_cast<size_t>(places[i])] = static_cast<int64_t>(i);
    return at;
  };
  const std::vector<int64_t> out_at = local(outs, map.outs), in_at = local(ins, map.ins);
  Map result{static_cast<int64_t>(outs.size()), static_cast<int64_t>(ins.size()), {}};
  for (const Entry& entry : map.entries) {
    const int64_t out = out_at[static_cast<size_t>(entry.out)];
    const int64_t in = in_at[static_cast<size_t>(entry.in)];
    if (out >= 0 && in >= 0) result.entries.push_back({out, in, entry.weight});
  }
  return result;
}

// A call's maps as this rank applies them.
Resampling local_part(const Call& call, const Resampling& global) {
  Resampling local = global;
  for (size_t i = 0; i < global.maps.size(); ++i) {
    const int dim = leading_of(call, global) + static_cast<int>(i);
    const std::vector<int64_t> outs = result_places(call, global, dim, global.maps[i].outs);
    const std::vector<int64_t> ins = source_places(call, global, dim);
    local.maps[i] = restricted(global.maps[i], outs, ins);
    if (global.divisors.empty()) continue;
    local.divisors[i].clear();
    for (const int64_t place : global.divides_source ? ins : outs)
      local.divisors[i].push_back(global.divisors[i][static_cast<size_t>(place)]);
  }
  return local;
}

template <typename C>
std::vector<C> along_dim(const std::vector<C>& values, int64_t outer, int64_t inner,
                         const Map& map) {
  std::vector<C> result(static_cast<size_t>(outer * map.outs * inner), C(0));
  for (int64_t block = 0; block < outer; ++block) {
    for (const Entry& entry : map.entries) {
      C* to = result.data() + (block * map.outs + entry.out) * inner;
      const C* from = values.data() + (block * map.ins + entry.in) * inner;
      const C weight = static_cast<C>(entry.weight);
      for (int64_t i = 0; i < inner; ++i) to[i] = plus(to[i], times(weight, from[i]));
    }
  }
  return result;
}

template <typename C>
void divide(std::vector<C>& values, const Resampling& local) {
  if (local.divisors.empty()) return;
  std::vector<size_t> index(local.divisors.size(), 0);
  for (C& value : values) {
    int64_t divisor = 1;
    for (size_t dim = 0; dim < index.size(); ++dim) divisor *= local.divisors[dim][index[dim]];
    value /= static_cast<C>(local.divisor.value_or(divisor));
    for (size_t dim = index.size(); dim-- > 0;) {
      if (++index[dim] < local.divisors[dim].size()) break;
      index[dim] = 0;
    }
  }
}

template <typename C>
void resample(const Call& call, const Resampling& local) {
  const TensorView source = call.tensor(local.source);
  const auto leading = static_cast<size_t>(leading_of(call, local));
  std::vector<C> values = load_dense<C>(source);
  if (local.divides_source) divide(values, local);
  int64_t outer = product_of(source.shape().first(leading));
  for (size_t i = 0; i < local.maps.size(); ++i) {
    const int64_t inner = product_of(source.shape().subspan(leading + i + 1));
    values = along_dim(values, outer, inner, local.maps[i]);
    outer *= local.maps[i].outs;
  }
  if (!local.divides_source) divide(values, local);
  store_dense(values.data(), call.output());
}

void infer(const Call& call, OutputSink& outputs, const Resampling& resampling) {
  const TensorView source = call.tensor(resampling.source);
  const int leading = leading_of(call, resampling);
  require(leading == 1 || leading == 2,
          "the tensor needs channels before its spatial dims, and perhaps a batch");
  Shape shape = shape_of(source);
  for (size_t i = 0; i < resampling.maps.size(); ++i) {
    const int dim = leading + static_cast<int>(i);
    const int64_t size = call.global_size(false, call.slot(resampling.source), dim);
    if (size != resampling.maps[i].ins)
      fail("dim " + std::to_string(dim) + " of " + std::string(resampling.source) + " has size " +
           std::to_string(size) + ", expected " + std::to_string(resampling.maps[i].ins));
    shape[static_cast<size_t>(dim)] =
        static_cast<int64_t>(result_places(call, resampling, dim, resampling.maps[i].outs).size());
  }
  if (!resampling.like.empty()) {
    const TensorView like = call.tensor(resampling.like);
    require_shape(like, shape, "self");
    require(like.dtype() == source.dtype(), "grad_output and self need one dtype");
  }
  outputs.add(source.dtype(), shape);
}

// The maps with what is divided by as weights.
std::vector<Map> weighted(const Resampling& resampling) {
  std::vector<Map> maps = resampling.maps;
  for (size_t i = 0; i < resampling.divisors.size() && !resampling.divisor; ++i) {
    for (Entry& entry : maps[i].entries) {
      const int64_t place = resampling.divides_source ? entry.in : entry.out;
      entry.weight /= static_cast<double>(resampling.divisors[i][static_cast<size_t>(place)]);
    }
  }
  return maps;
}

// True if no result reads two places of this dim.
bool is_single(const Map& map) {
  std::vector<bool> has(static_cast<size_t>(map.outs), false);
  for (const Entry& entry : map.entries) {
    if (has[static_cast<size_t>(entry.out)]) return false;
    has[static_cast<size_t>(entry.out)] = true;
  }
  return true;
}

// What the maps are beside linear.
struct Character {
  bool is_single = true, is_unit = true, is_positive = true;  // entries: of a result, their weights
  double scale = 1;
};
Character character_of(const Resampling& resampling) {
  Character found;
  if (resampling.divisor) found.scale = 1 / static_cast<double>(*resampling.divisor);
  found.is_unit = found.scale == 1;
  for (const Map& map : weighted(resampling)) {
    found.is_single = found.is_single && is_single(map);
    for (const Entry& entry : map.entries) {
      found.is_unit = found.is_unit && entry.weight == 1;
      found.is_positive = found.is_positive && entry.weight > 0;
    }
  }
  return found;
}

// Cuts of one spatial dim of the source, of the result, of both in blocks that stay apart.
void cut_dim(const Call& call, LawRules& rules, const Resampling& resampling, size_t i,
             bool is_linear) {
  const Map& map = resampling.maps[i];
  const int dim = leading_of(call, resampling) + static_cast<int>(i);
  const auto named = [&](const Placement& source, const Placement& like) {
    std::vector<RuleSink::Named> inputs;
    if (!is_replicate(source)) inputs.emplace_back(resampling.source, source);
    if (!resampling.like.empty() && !is_replicate(like)) inputs.emplace_back(resampling.like, like);
    return inputs;
  };
  const Placement any = any_shard(dim), R = replicate();
  // Where the division truncates, each result's places must lie on one rank.
  if ((is_linear || is_single(map)) && map.ins > 1) rules.add_cut({partial("sum")}, named(any, R));
  if (map.outs > 1) rules.add_cut({any}, named(R, any));
  const int64_t blocks = std::gcd(map.ins, map.outs);
  if (blocks < 2 || map.outs == 0) return;
  const int64_t ins = map.ins / blocks, outs = map.outs / blocks;
  for (const Entry& entry : map.entries) {
    if (entry.in / ins != entry.out / outs) return;
  }
  const Placement both = ins == 1 && outs == 1 ? any : shard(dim);
  RuleOptions options;
  if (ins > 1) options.requirements.push_back({0, call.slot(resampling.source), dim, 0, ins});
  if (outs > 1) options.requirements.push_back({1, 0, dim, 0, outs});
  rules.add_cut({both}, named(both, both), options);
}

void emit_rules(const Call& call, RuleSink& sink, const Resampling& resampling) {
  const Character character = character_of(resampling);
  const bool is_linear = category(call.output().dtype()) >= 2 || character.is_unit;
  Law law{{resampling.source}, {}};
  const auto pass = [&](KindTable kinds) { law.families.push_back({kinds, {resampling.source}}); };
  if (is_linear) pass(kLinear);
  if (character.is_single && character.is_unit) pass(kMultiplicative);
  if (character.is_single && character.is_positive)
    pass(character.scale < 0 ? KindTable(kDecreasing) : KindTable(kIncreasing));
  LawRules rules(call, sink, {law});
  rules.add_partials();
  for (int dim = 0; dim < leading_of(call, resampling); ++dim) {
    std::vector<RuleSink::Named> inputs = {{resampling.source, any_shard(dim)}};
    if (!resampling.like.empty()) inputs.emplace_back(resampling.like, any_shard(dim));
    rules.add_cut({any_shard(dim)}, inputs);
  }
  for (size_t i = 0; i < resampling.maps.size(); ++i)
    cut_dim(call, rules, resampling, i, is_linear);
}

// A rank applies the entries between places of the source and of the result, of one dim.
void accept_cuts(const Call& call, const Resampling& resampling) {
  const int slot = call.slot(resampling.source);
  for (size_t i = 0; i < resampling.maps.size(); ++i) {
    const int dim = leading_of(call, resampling) + static_cast<int>(i);
    accept_meeting_cuts(call, {{false, slot, dim}, {true, 0, dim}});
  }
}

}  // namespace

OpBuilder& declare_resampling(Registrar& r, std::string_view schema, const ResamplingFn& fn,
                              uint64_t others) {
  return r.op(schema)
      .position_aware()  // maps are between places of the global tensors
      .infer([fn](const Call& call, OutputSink& outputs) { infer(call, outputs, fn(call)); })
      .rules([fn](const Call& call, RuleSink& rules) { emit_rules(call, rules, fn(call)); })
      .accept_local([fn](const Call& call) { accept_cuts(call, fn(call)); })
      .compute(kFloats | others,
               [fn](const Call& call, const onedim_execution_t&) {
                 const Resampling local = local_part(call, fn(call));
                 with_compute_type<float, double, int64_t>(
                     call.output().dtype(),
                     [&]<typename C>(C) { resample<Accumulator<C>>(call, local); });
               })
      .cost([fn](const Call& call, onedim_cost_t& cost) {
        elementwise_cost(call, 0, cost);
        const TensorView source = call.tensor(fn(call).source);
        cost.flops = 2.0 * static_cast<double>(
                               std::max(source.element_count(), call.output().element_count()));
      });
}

}  // namespace nn
