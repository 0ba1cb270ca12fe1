// sort and topk along a dim: the first k of a line in order, and where they stood; sort is topk of
// the whole line. Equal elements keep their order, so there is one right answer whoever computes
// it. Where the last dim is sharded, each rank gives its own first k, padded with what comes after
// everything; lists of k merge to a list of k.
//   topk(f32[4], k 2) of 1 4 | 3 2, S(0): (4 1, 1 0) and (3 2, 2 3) merge to (4 3, 1 2)

#include <numeric>

#include "extremum.hpp"
#include "lines.hpp"

namespace reduction {
namespace {

// Whether a comes before b. NaN is larger than all numbers.
template <bool kDescending, typename C>
bool comes_before(C a, C b) {
  if constexpr (kDescending) return is_better<Extremum::kMax>(a, b);
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}

template <typename C>
struct Entry {
  C value;
  int64_t index;
};

template <bool kDescending, typename C>
bool precedes(const Entry<C>& a, const Entry<C>& b) {
  if (comes_before<kDescending>(a.value, b.value)) return true;
  return !comes_before<kDescending>(b.value, a.value) && a.index < b.index;
}

// What comes after every element.
template <bool kDescending, typename C>
Entry<C> padding(DType dtype) {
  if constexpr (!kDescending && std::is_floating_point_v<C>)
    return {std::numeric_limits<C>::quiet_NaN(), INT64_MAX};
  else
    return {worst_of < kDescending ? Extremum::kMax : Extremum::kMin, C > (dtype), INT64_MAX};
}

// How many elements of a line the op asks for, in the global tensor.
int64_t wanted_length(const Call& call) {
  const int64_t length = global_length(call);
  if (call.find_attribute("k") == nullptr) return length;
  const int64_t k = call.attribute<int64_t>("k");
  if (k < 0 || k > length)
    fail("k is " + std::to_string(k) + ", expected 0 to " + std::to_string(length) +
         ", the length of the dim");
  return k;
}

Shape sorted_shape(const Call& call) {
  Shape shape = shape_of(call.input(0));
  if (shape.empty()) return wanted_length(call), shape;
  shape[line_dim(call)] = wanted_length(call);
  shape[line_dim(call)] = local_output_shape(call, 0, shape)[line_dim(call)];
  return shape;
}

template <bool kDescending, typename C>
void sort_lines(const Call& call) {
  const TensorView self = call.input(0), target = call.output(0);
  const int dim = line_dim(call);
  const Lines in(self.shape(), dim), out(target.shape(), dim);
  const bool has_dims = self.ndim() > 0;
  const std::vector<int64_t> zero = {0};
  const std::vector<int64_t> held = has_dims ? global_indices(call, false, 0, dim) : zero;
  const std::vector<int64_t> wanted = has_dims ? global_indices(call, true, 0, dim) : zero;
  const std::vector<C> elements = load_dense<C>(self);
  std::vector<C> values(static_cast<size_t>(out.count() * out.length));
  std::vector<int64_t> indices(values.size());
  std::vector<Entry<C>> line;
  for (int64_t number = 0; number < out.count(); ++number) {
    line.clear();
    for (int64_t i = 0; i < in.length; ++i)
      line.push_back({elements[in.begin(number) + i * in.inner], held[i]});
    std::sort(line.begin(), line.end(), precedes<kDescending, C>);
    for (int64_t i = 0; i < out.length; ++i) {
      const bool is_held = wanted[i] < in.length;
      const Entry<C> entry = is_held ? line[wanted[i]] : padding<kDescending, C>(self.dtype());
      values[out.begin(number) + i * out.inner] = entry.value;
      indices[out.begin(number) + i * out.inner] = entry.index;
    }
  }
  store_dense(values.data(), target);
  store_dense(indices.data(), call.output(1));
}

bool is_descending(const Call& call) {
  return call.attribute<bool>(call.find_attribute("largest") ? "largest" : "descending");
}

template <typename C>
struct List {
  std::vector<C> values;
  std::vector<int64_t> indices;

  explicit List(States states)
      : values(load_dense<C>(TensorView(&states[0]))),
        indices(load_dense<int64_t>(TensorView(&states[1]))) {}
  Entry<C> at(int64_t i) const { return {values[i], indices[i]}; }
};

// Merges lists along the last dim and keeps as many.
template <bool kDescending, typename C>
void merge_lists(States into, States from) {
  const TensorView target(&into[0]);
  const int64_t length = target.ndim() > 0 ? target.size(target.ndim() - 1) : 1;
  List<C> merged(into);
  const List<C> first(into), second(from);
  const int64_t count = target.element_count();
  for (int64_t begin = 0; begin < count; begin += length) {
    int64_t a = begin, b = begin;
    for (int64_t i = begin; i < begin + length; ++i) {
      const bool takes_second = precedes<kDescending>(second.at(b), first.at(a));
      const Entry<C> entry = takes_second ? second.at(b++) : first.at(a++);
      merged.values[i] = entry.value;
      merged.indices[i] = entry.index;
    }
  }
  store_dense(merged.values.data(), target);
  store_dense(merged.indices.data(), TensorView(&into[1]));
}

template <bool kDescending>
void declare_list_kind(Registrar& r, std::string_view name) {
  r.partial(name, {"values", "indices"})
      .identity([](States states) {
        const TensorView values(&states[0]);
        const auto count = static_cast<size_t>(values.element_count());
        with_compute_type<float, double, int64_t>(values.dtype(), [&]<typename C>(C) {
          const Entry<C> last = padding<kDescending, C>(values.dtype());
          store_dense(std::vector<C>(count, last.value).data(), values);
          store_dense(std::vector<int64_t>(count, last.index).data(), TensorView(&states[1]));
        });
      })
      .combine([](States into, States from) {
        with_compute_type<float, double, int64_t>(TensorView(&into[0]).dtype(), [&]<typename C>(C) {
          merge_lists<kDescending, C>(into, from);
        });
      });
}

void sorting_rules(const Call& call, RuleSink& rules) {
  reduction_rules(call, rules, line_mask(call), true, "");
  add_single_pair_passes(call, rules, global_length(call) == 1 && wanted_length(call) == 1);
  if (call.input(0).ndim() == 0) return;
  const int dim = line_dim(call);
  const Placement parts[] = {any_shard(dim), any_shard(dim)}, whole = replicate();
  rules.add(parts, std::span(&whole, 1));
  if (dim != call.input(0).ndim() - 1 || global_length(call) == 1) return;
  const std::string_view kind = is_descending(call) ? "reduction.largest" : "reduction.smallest";
  const Placement lists[] = {partial(kind, 0), partial(kind, 1)}, in = any_shard(dim);
  rules.add(lists, std::span(&in, 1));
}

// A part of the sorted line needs the whole line: parts of the ranks' own lists do not merge.
void accept_sorting(const Call& call) {
  if (call.location() == nullptr || call.input(0).ndim() == 0) return;
  const int dim = line_dim(call);
  const bool is_whole = call.input(0).size(dim) == global_length(call);
  const bool wants_all = call.output(0).size(dim) == call.global_size(true, 0, dim);
  require(is_whole || wants_all, "a part of the sorted dim needs all of self along that dim");
}

OpBuilder& declare_sorted(Registrar& r, std::string_view schema, uint64_t dtypes) {
  return r.op(schema)
      .position_aware()
      .infer([](const Call& call, OutputSink& outputs) {
        outputs.add(call.input(0).dtype(), sorted_shape(call));
        outputs.add(DType::kI64, sorted_shape(call));
      })
      .rules(sorting_rules)
      .accept_local(accept_sorting)
      .compute(dtypes,
               [](const Call& call, const onedim_execution_t&) {
                 with_compute_type<float, double, int64_t>(
                     call.input(0).dtype(), [&]<typename C>(C) {
                       is_descending(call) ? sort_lines<true, C>(call) : sort_lines<false, C>(call);
                     });
               })
      .cost([](const Call& call, onedim_cost_t& cost) {
        reduction_cost(call, cost);
        cost.flops *= 1 + std::log2(static_cast<double>(std::max<int64_t>(1, global_length(call))));
      });
}

}  // namespace

void declare_sorting(Registrar& r) {
  declare_list_kind<true>(r, "reduction.largest");
  declare_list_kind<false>(r, "reduction.smallest");
  declare_sorted(r,
                 "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor "
                 "indices)",
                 kOrdered)
      .summary("the elements along a dim in order, and where they stood")
      .samples({"f32[5,7]", "f64[4,1,6]; dim=0", "f64[4,6]; descending=true", "i64[7]; dim=0",
                "bool[3,5]; dim=1", "f64[4,1]", "bf16[5,3]; dim=0; descending=true"});
  declare_sorted(r,
                 "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> "
                 "(Tensor values, Tensor indices)",
                 kOrdered)
      .summary("the elements along a dim in order, equal ones as they stood, and where they stood")
      .samples({"f32[5,7]; stable=true", "f64[4,1,6]; stable=true; dim=0",
                "i64[7]; stable=false; dim=0; descending=true", "bool[3,5]; stable=true",
                "u8[5,2]; stable=null; dim=0"});
  declare_sorted(r,
                 "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> "
                 "(Tensor values, Tensor indices)",
                 kOrdered & ~kBoolDTypes)
      .summary("the k largest or smallest elements along a dim, and where they stood")
      .samples({"f32[5,7]; k=3", "f64[4,1,6]; k=2; dim=0", "f64[4,6]; k=2; largest=false",
                "i64[7]; k=7; dim=0", "f64[4,1]; k=1", "bf16[5,3]; k=1; dim=-1",
                "u8[3,5]; k=4; largest=false; sorted=false"});
  for (const auto& [name, arguments, plain] :
       {std::array{"sort.values", "int dim=-1, bool descending=False", "sort"},
        std::array{"sort.values_stable", "*, bool? stable, int dim=-1, bool descending=False",
                   "sort.stable"},
        std::array{"topk.values", "SymInt k, int dim=-1, bool largest=True, bool sorted=True",
                   "topk"}}) {
    std::string schema = std::string(name) + "(Tensor self, " + arguments;
    if (std::string_view(arguments).front() != '*') schema += ", *";
    schema += ", Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    r.variant(schema, plain);
  }
}

}  // namespace reduction
