// cummax and cummin: the best element up to each one, and where it stands. Both outputs merge
// together: the better value wins, of equal ones the later; a rank that holds nothing up to an
// element says so with the index -1.
//   cummax(f32[4], 0) of 3 1 | 3 2, S(0): (3 3 3 3, 0 0 0 0) and (-inf -inf 3 3, -1 -1 2 2) merge
//   to (3 3 3 3, 0 0 2 2)

#include "extremum.hpp"
#include "scan.hpp"

namespace reduction {
namespace {

// The better value; of equal ones the later.
template <Extremum kWhich, typename C>
struct Latest {
  C value;
  int64_t index;

  bool is_beaten_by(const C& other, int64_t at) const {
    if (is_better<kWhich>(value, other)) return false;
    return is_better<kWhich>(other, value) || at > index;
  }
};

template <Extremum kWhich>
void compute_extremum_scan(const Call& call, const onedim_execution_t&) {
  const DType dtype = call.input(0).dtype();
  with_compute_type<float, double, int64_t>(dtype, [&]<typename C>(C) {
    using Acc = Latest<kWhich, C>;
    const auto step = [](const Acc& acc, const C& x, int64_t at) {
      return acc.is_beaten_by(x, at) ? Acc{x, at} : acc;
    };
    const Acc nothing{worst_of<kWhich, C>(dtype), -1};
    const std::vector<Acc> best = scan(call, load_dense<C>(call.input(0)), nothing, step);
    std::vector<C> values;
    std::vector<int64_t> indices;
    for (const Acc& acc : best) {
      values.push_back(acc.value);
      indices.push_back(acc.index);
    }
    store_dense(values.data(), call.output(0));
    store_dense(indices.data(), call.output(1));
  });
}

// The state is the outputs; where nothing stands before an element, the index is -1.
template <Extremum kWhich>
void declare_extremum_kind(Registrar& r, std::string_view name) {
  r.partial(name, {"values", "indices"})
      .identity([](States states) {
        const TensorView values(&states[0]);
        const auto count = static_cast<size_t>(values.element_count());
        with_compute_type<float, double, int64_t>(values.dtype(), [&]<typename C>(C) {
          const std::vector<C> worst(count, worst_of<kWhich, C>(values.dtype()));
          store_dense(worst.data(), values);
        });
        store_dense(std::vector<int64_t>(count, -1).data(), TensorView(&states[1]));
      })
      .combine([](States into, States from) {
        const TensorView target(&into[0]);
        with_compute_type<float, double, int64_t>(target.dtype(), [&]<typename C>(C) {
          std::vector<C> values = load_dense<C>(target);
          const std::vector<C> others = load_dense<C>(TensorView(&from[0]));
          std::vector<int64_t> indices = load_dense<int64_t>(TensorView(&into[1]));
          const std::vector<int64_t> at = load_dense<int64_t>(TensorView(&from[1]));
          for (size_t i = 0; i < values.size(); ++i) {
            const Latest<kWhich, C> best{values[i], indices[i]};
            if (!best.is_beaten_by(others[i], at[i])) continue;
            values[i] = others[i];
            indices[i] = at[i];
          }
          store_dense(values.data(), target);
          store_dense(indices.data(), TensorView(&into[1]));
        });
      });
}

template <Extremum kWhich>
void declare_extremum_scan(Registrar& r, const std::string& name) {
  static const std::string kind = "reduction." + name;
  declare_extremum_kind<kWhich>(r, kind);
  r.op(name + "(Tensor self, int dim) -> (Tensor values, Tensor indices)")
      .summary(kWhich == Extremum::kMax ? "largest element up to each one, the last of equals"
                                        : "smallest element up to each one, the last of equals")
      .position_aware()
      .infer([](const Call& call, OutputSink& outputs) {
        outputs.add(call.input(0).dtype(), scan_shape(call));
        outputs.add(DType::kI64, scan_shape(call));
      })
      .rules([](const Call& call, RuleSink& rules) {
        scan_rules(call, rules, "");
        add_single_pair_passes(call, rules, global_length(call) == 1);
        if (call.input(0).ndim() == 0) return;
        const Placement outputs[] = {partial(kind, 0), partial(kind, 1)};
        const std::string_view of_input = kWhich == Extremum::kMax ? "max" : "min";
        for (const Placement& in : {any_shard(line_dim(call)), partial(of_input)})
          rules.add(outputs, std::span(&in, 1));
      })
      .compute(kOrdered, compute_extremum_scan<kWhich>)
      .cost(reduction_cost)
      .samples({"f32[5,7]; dim=1", "f64[4,1,6]; dim=0", "f64[4,1,6]; dim=1", "i64[7]; dim=-1",
                "bool[5,3]; dim=0", "bf16[6,2]; dim=0", "u8[5]; dim=0"});
}

}  // namespace

void declare_extremum_scans(Registrar& r) {
  declare_extremum_scan<Extremum::kMax>(r, "cummax");
  declare_extremum_scan<Extremum::kMin>(r, "cummin");
  for (const std::string name : {"cummax", "cummin"}) {
    r.variant(name +
                  ".out(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> "
                  "(Tensor(a!) values, Tensor(b!) indices)",
              name);
  }
}

}  // namespace reduction
