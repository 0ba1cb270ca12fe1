// One element of each line, chosen by its rank among the others: the median, the k-th smallest, the
// most frequent. What is chosen depends on all elements of a line in no way that parts of it could
// tell, so the line stays whole; all other dims may be sharded.
//   median.dim f64[4,6], dim 1: S(0), S(0) | S(0)
//   median of 1 2 | 5 9 9 is 5, and of 1 2 | 0 0 0 it is 0: no number each about 1 2 gives both

#include <numeric>

#include "extremum.hpp"
#include "lines.hpp"

namespace reduction {
namespace {

// NaN is larger than all numbers.
template <typename C>
bool is_less(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}
template <typename C>
bool is_nan(C x) {
  return x != x;
}

// Positions of a line's elements in order; equal ones keep theirs.
template <typename C>
std::vector<int64_t> order_of(std::span<const C> line) {
  std::vector<int64_t> order(line.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return is_less(line[a], line[b]); });
  return order;
}

// Hoare's selection, by the median of three: which of equal elements stands k-th depends on how the
// line is cut, and ATen cuts it like this.
template <typename C>
int64_t kth_of(std::span<const C> line, int64_t k) {
  std::vector<int64_t> order(line.size());
  std::iota(order.begin(), order.end(), 0);
  const auto put_in_order = [&](int64_t a, int64_t b) {
    if (is_less(line[order[b]], line[order[a]])) std::swap(order[a], order[b]);
  };
  int64_t low = 0, high = static_cast<int64_t>(line.size()) - 1;
  while (high > low + 1) {
    std::swap(order[low + (high - low) / 2], order[low + 1]);
    put_in_order(low + 1, high);
    put_in_order(low, high);
    put_in_order(low + 1, low);
    const C pivot = line[order[low]];
    int64_t left = low + 1, right = high;
    while (true) {
      do ++left;
      while (is_less(line[order[left]], pivot));
      do --right;
      while (is_less(pivot, line[order[right]]));
      if (right < left) break;
      std::swap(order[left], order[right]);
    }
    std::swap(order[low], order[right]);
    if (right <= k) low = left;
    if (right >= k) high = right - 1;
  }
  if (high == low + 1) put_in_order(low, high);
  return order[k];
}

// The lower median; NaN if there is one, unless they are ignored.
template <typename C>
int64_t median_of(std::span<const C> line, bool ignores_nan) {
  int64_t numbers = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (is_nan(line[i]) && !ignores_nan) return static_cast<int64_t>(i);
    numbers += is_nan(line[i]) ? 0 : 1;
  }
  return order_of(line)[numbers > 0 ? (numbers - 1) / 2 : 0];
}

// The smallest of the most frequent elements, where it stands last.
template <typename C>
int64_t mode_of(std::span<const C> line) {
  const std::vector<int64_t> order = order_of(line);
  size_t best = 0, longest = 0;
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && line[order[end]] == line[order[begin]]) ++end;
    if (end - begin > longest) {
      longest = end - begin;
      best = end - 1;
    }
    begin = end;
  }
  return order[best];
}

enum class Choice { kMedian, kNanMedian, kKth, kMode };

template <Choice kChoice, typename C>
int64_t choose(const Call& call, std::span<const C> line) {
  if constexpr (kChoice == Choice::kKth)
    return kth_of(line, call.attribute<int64_t>("k") - 1);
  else if constexpr (kChoice == Choice::kMode)
    return mode_of(line);
  else
    return median_of(line, kChoice == Choice::kNanMedian);
}

template <Choice kChoice, typename C>
void compute_lines(const Call& call) {
  const TensorView self = call.input(0);
  const Lines in(self.shape(), line_dim(call));
  const std::vector<C> elements = load_dense<C>(self);
  std::vector<C> values, line(static_cast<size_t>(in.length));
  std::vector<int64_t> indices;
  for (int64_t number = 0; number < in.count(); ++number) {
    for (int64_t i = 0; i < in.length; ++i) line[i] = elements[in.begin(number) + i * in.inner];
    indices.push_back(choose<kChoice>(call, std::span<const C>(line)));
    values.push_back(line[indices.back()]);
  }
  store_dense(values.data(), call.output(0));
  store_dense(indices.data(), call.output(1));
}

void require_line(const Call& call) {
  require(global_length(call) > 0, "the dim is empty, expected at least one element");
  if (call.find_attribute("k") == nullptr) return;
  const int64_t k = call.attribute<int64_t>("k");
  if (k < 1 || k > global_length(call))
    fail("k is " + std::to_string(k) + ", expected 1 to " + std::to_string(global_length(call)) +
         ", the length of the dim");
}

template <Choice kChoice>
OpBuilder& declare_choice(Registrar& r, std::string_view schema, uint64_t dtypes) {
  return r.op(schema)
      .infer([](const Call& call, OutputSink& outputs) {
        require_line(call);
        const Shape shape = reduced_shape(call.input(0).shape(), line_mask(call), keeps_dims(call));
        outputs.add(call.input(0).dtype(), shape);
        outputs.add(DType::kI64, shape);
      })
      .rules([](const Call& call, RuleSink& rules) {
        reduction_rules(call, rules, line_mask(call), keeps_dims(call), "");
        add_single_pair_passes(call, rules, global_length(call) == 1);
      })
      .compute(dtypes,
               [](const Call& call, const onedim_execution_t&) {
                 with_compute_type<float, double, int64_t>(
                     call.input(0).dtype(),
                     [&]<typename C>(C) { compute_lines<kChoice, C>(call); });
               })
      .cost(reduction_cost);
}

// Of all elements.
void declare_whole_median(Registrar& r, const std::string& name, bool ignores_nan) {
  r.op(name + "(Tensor self) -> Tensor")
      .summary(ignores_nan ? "lower median of the elements that are numbers"
                           : "lower median of all elements")
      .infer([](const Call& call, OutputSink& outputs) { outputs.add(call.input(0).dtype(), {}); })
      .rules([](const Call& call, RuleSink& rules) {
        const bool single = call.input(0).element_count() == 1;
        add_passes(call, rules, [&](const Pass&) { return single; });
      })
      .compute(kOrdered & ~kBoolDTypes,
               [ignores_nan](const Call& call, const onedim_execution_t&) {
                 const DType dtype = call.input(0).dtype();
                 with_compute_type<float, double, int64_t>(dtype, [&]<typename C>(C) {
                   const std::vector<C> all = load_dense<C>(call.input(0));
                   require(!all.empty() || is_floating(dtype), "self has no elements");
                   const C none = std::numeric_limits<C>::quiet_NaN();
                   const C median =
                       all.empty() ? none : all[median_of(std::span<const C>(all), ignores_nan)];
                   store_dense(&median, call.output());
                 });
               })
      .cost(reduction_cost)
      .samples({"f32[5,7]", "f64[4,6]", "i64[7]", "f64[1,1]", "bf16[5,3]", "u8[1]"})
      .out(name + ".out");
}

}  // namespace

void declare_selection(Registrar& r) {
  const std::string_view returns = " -> (Tensor values, Tensor indices)";
  const auto schema = [&](std::string_view arguments) { return std::string(arguments) += returns; };
  declare_choice<Choice::kMedian>(r, schema("median.dim(Tensor self, int dim, bool keepdim=False)"),
                                  kOrdered & ~kBoolDTypes)
      .summary("lower median along a dim, and where it stands")
      .samples({"f32[5,7]; dim=1", "f64[4,1,6]; dim=0", "f64[4,6]; dim=-1; keepdim=true",
                "i64[7]; dim=0", "f64[4,1]; dim=1"});
  declare_choice<Choice::kNanMedian>(
      r, schema("nanmedian.dim(Tensor self, int dim, bool keepdim=False)"), kOrdered & ~kBoolDTypes)
      .summary("lower median along a dim of the elements that are numbers, and where it stands")
      .samples({"f32[5,7]:nonfinite; dim=1", "f64[4,1,6]:nonfinite; dim=0",
                "f64[4,6]; dim=-1; keepdim=true", "i64[7]; dim=0", "f64[4,1]; dim=1"});
  declare_choice<Choice::kKth>(
      r, schema("kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False)"),
      kOrdered & ~kBoolDTypes)
      .summary("k-th smallest element along a dim, and where it stands")
      .samples({"f32[5,7]; k=3", "f64[4,1,6]; k=2; dim=0", "f64[4,6]; k=6; keepdim=true",
                "i64[7]; k=1; dim=0", "f64[4,1]; k=1"});
  declare_choice<Choice::kMode>(r, schema("mode(Tensor self, int dim=-1, bool keepdim=False)"),
                                kOrdered)
      .summary("smallest of the most frequent elements along a dim, and where it stands last")
      .samples({"f32[5,7]", "f64[4,1,6]; dim=0", "f64[4,6]; keepdim=true", "i64[7]; dim=0",
                "bool[4,5]; dim=1", "f64[4,1]"});
  declare_whole_median(r, "median", false);
  declare_whole_median(r, "nanmedian", true);
  for (const auto& [name, arguments, plain] :
       {std::array{"median.dim_values", "int dim, bool keepdim=False", "median.dim"},
        std::array{"nanmedian.dim_values", "int dim, bool keepdim=False", "nanmedian.dim"},
        std::array{"kthvalue.values", "SymInt k, int dim=-1, bool keepdim=False", "kthvalue"},
        std::array{"mode.values", "int dim=-1, bool keepdim=False", "mode"}}) {
    std::string text = std::string(name) + "(Tensor self, " + arguments;
    text +=
        ", *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)";
    r.variant(text, plain);
  }
}

}  // namespace reduction
