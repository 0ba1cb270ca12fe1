// bucketize and searchsorted: how many entries of an ascending sequence come before a value, or
// before and with it (`right`).
//
//   searchsorted(sequence [2,5], self [2,3])[b,i] = #{j : sequence[b,j] < self[b,i]}
//
// A count is the sum of the counts in pieces of the sequence, and grows with the value. Entries
// that are out of order are counted all the same, where ATen leaves the result open. A sorter
// lists the entries in ascending order, so that pieces of it count as well.

#include "acceptance.hpp"
#include "families.hpp"

#include <optional>

namespace indexing {
namespace {

struct Arguments {
  Part sequence, self, sorter;
  bool is_right = false;
};

Arguments arguments_of(const Call& call) {
  const bool is_bucketize = call.find_attribute("side") == nullptr;
  Arguments made;
  made.sequence = input_part(call, is_bucketize ? "boundaries" : "sorted_sequence");
  made.self = input_part(call, "self");
  made.is_right = call.attribute<bool>("right");
  if (is_bucketize) return made;
  made.sorter = input_part(call, "sorter");
  const auto side = call.attribute<std::optional<std::string_view>>("side");
  if (!side) return made;
  if (*side != "left" && *side != "right")
    fail("side is \"" + std::string(*side) + "\", expected \"left\" or \"right\"");
  require(*side == "right" || !made.is_right, "side is \"left\", but right is true");
  made.is_right = *side == "right";
  return made;
}

void check_shapes(const Call& call, const Arguments& arguments) {
  const Shape sequence = global_shape(call, arguments.sequence);
  const Shape self = global_shape(call, arguments.self);
  if (sequence.size() == 1) return;
  const bool fits = !sequence.empty() && sequence.size() == self.size() &&
                    std::equal(sequence.begin(), sequence.end() - 1, self.begin());
  if (!fits) {
    fail("the sequence is " + format_shape(sequence) +
         ", expected one dim, or those of the values " + format_shape(self) + " but for the last");
  }
}

void infer(const Call& call, OutputSink& outputs) {
  const Arguments arguments = arguments_of(call);
  require(arguments.self.present(), "the values must be a tensor");
  const TensorView self = tensor_of(call, arguments.self);
  const DType dtype = tensor_of(call, arguments.sequence).dtype();
  const auto is_searchable = [](DType t) { return is_integral(t) || is_floating(t); };
  if (!is_searchable(dtype) || !is_searchable(self.dtype()))
    fail("the sequence and the values must be real numbers", ONEDIM_STATUS_UNIMPLEMENTED);
  if (self.dtype() != dtype && self.ndim() > 0) {
    fail(std::string("the values are ") + name_of(self.dtype()) + ", expected the sequence's " +
         name_of(dtype));
  }
  check_shapes(call, arguments);
  if (arguments.sorter.present()) {
    require(tensor_of(call, arguments.sorter).dtype() == DType::kI64, "the sorter must be i64");
    require(global_shape(call, arguments.sorter) == global_shape(call, arguments.sequence),
            "the sorter must have the sequence's shape");
  }
  outputs.add(call.attribute<bool>("out_int32") ? DType::kI32 : DType::kI64, shape_of(self));
}

class SearchRules {
 public:
  SearchRules(const Call& call, RuleSink& sink)
      : call_(call), sink_(sink), arguments_(arguments_of(call)) {
    last_ = tensor_of(call, arguments_.sequence).ndim() - 1;
  }

  void run() {
    const TensorView self = tensor_of(call_, arguments_.self);
    const Placement R = replicate();
    for (std::string_view kind : {"max", "min"}) add(partial(kind), R, partial(kind), R);
    for (int dim = 0; dim < self.ndim(); ++dim) {
      if (self.size(dim) > 1) cut(dim, last_ > 0 && dim < last_);
    }
    if (tensor_of(call_, arguments_.sequence).size(last_) < 2) return;
    add(partial("sum"), any_shard(last_), R, R);
    if (arguments_.sorter.present()) add(partial("sum"), R, R, any_shard(last_));
  }

 private:
  // A rank that has other rows of the sequence than of the values counts nothing for those.
  void cut(int dim, bool is_batch) {
    const Placement R = replicate(), S = any_shard(dim);
    const std::vector<Placement> of_sorter = is_batch && arguments_.sorter.present()
                                                 ? std::vector<Placement>{R, S}
                                                 : std::vector<Placement>{R};
    for (const Placement& sorter : of_sorter) {
      add(S, R, S, sorter);
      if (is_batch) add(S, S, S, sorter);
      for (std::string_view kind : {"sum", "max"}) {
        if (is_batch) add(partial(kind), S, R, sorter);
        if (!is_replicate(sorter)) add(partial(kind), R, R, sorter);
      }
    }
  }

  void add(const Placement& out, const Placement& sequence, const Placement& self,
           const Placement& sorter) {
    std::vector<Placement> inputs(static_cast<size_t>(call_.input_count()), absent());
    inputs[arguments_.sequence.slot] = sequence;
    inputs[arguments_.self.slot] = self;
    if (arguments_.sorter.present()) inputs[arguments_.sorter.slot] = sorter;
    sink_.add(std::span(&out, 1), inputs);
  }

  const Call& call_;
  RuleSink& sink_;
  Arguments arguments_;
  int last_;
};

void accept_local(const Call& call) {
  const Arguments arguments = arguments_of(call);
  for (int dim = 0; dim + 1 < tensor_of(call, arguments.sequence).ndim(); ++dim) {
    std::vector<PartDim> meeting = {{arguments.sequence, dim}, {arguments.self, dim}};
    if (arguments.sorter.present()) meeting.push_back({arguments.sorter, dim});
    accept_meeting(call, meeting);
  }
}

// Local places of a dim's global indices; -1 elsewhere.
std::vector<int64_t> local_places(const Call& call, const Part& part, int dim) {
  std::vector<int64_t> places(static_cast<size_t>(global_size(call, part, dim)), -1);
  for (int64_t i = 0; i < tensor_of(call, part).size(dim); ++i)
    places[static_cast<size_t>(call.global_index(part.is_output, part.slot, dim, i))] = i;
  return places;
}

template <typename C>
class Search {
 public:
  explicit Search(const Call& call)
      : call_(call),
        arguments_(arguments_of(call)),
        sequence_(load_dense<C>(tensor_of(call, arguments_.sequence))),
        length_(tensor_of(call, arguments_.sequence)
                    .size(tensor_of(call, arguments_.sequence).ndim() - 1)),
        is_ascending_(std::is_sorted(sequence_.begin(), sequence_.end())) {
    if (arguments_.sorter.present()) {
      sorter_ = load_dense<int64_t>(tensor_of(call, arguments_.sorter));
      places_ =
          local_places(call, arguments_.sequence, tensor_of(call, arguments_.sequence).ndim() - 1);
    }
  }

  void run() const {
    const TensorView self = tensor_of(call_, arguments_.self);
    const std::vector<C> values = load_dense<C>(self);
    const int64_t width = self.ndim() > 0 ? self.size(self.ndim() - 1) : 1;
    std::vector<int64_t> counts(values.size(), 0);
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i) / std::max<int64_t>(1, width);
      const int64_t at = row_of(arguments_.sequence, row);
      if (at < 0) continue;
      counts[i] = arguments_.sorter.present()
                      ? count_sorted(values[i], at, row_of(arguments_.sorter, row))
                      : count(values[i], at);
    }
    store_dense(counts.data(), call_.output());
  }

 private:
  // Whether an entry is before the place of `value`; NaN has its place behind all.
  bool is_before(C entry, C value) const {
    return arguments_.is_right ? !(entry > value) : !(entry >= value);
  }

  // A part's local row that goes with a local row of the values; -1 where another rank has it.
  int64_t row_of(const Part& part, int64_t self_row) const {
    const TensorView tensor = tensor_of(call_, part);
    if (tensor.ndim() == 1) return 0;
    const TensorView self = tensor_of(call_, arguments_.self);
    Shape at(static_cast<size_t>(self.ndim() - 1));
    for (int dim = self.ndim() - 2; dim >= 0; self_row /= self.size(dim), --dim)
      at[dim] = self_row % self.size(dim);
    int64_t row = 0;
    for (int dim = 0; dim + 1 < self.ndim(); ++dim) {
      const int64_t global = call_.global_index(false, arguments_.self.slot, dim, at[dim]);
      const int64_t local = local_places(call_, part, dim)[static_cast<size_t>(global)];
      if (local < 0) return -1;
      row = row * tensor.size(dim) + local;
    }
    return row;
  }

  int64_t count(C value, int64_t row) const {
    const auto begin = sequence_.begin() + row * length_, end = begin + length_;
    if (is_ascending_)
      return std::partition_point(begin, end, [&](C entry) { return is_before(entry, value); }) -
             begin;
    return std::count_if(begin, end, [&](C entry) { return is_before(entry, value); });
  }

  int64_t count_sorted(C value, int64_t row, int64_t sorter_row) const {
    if (sorter_row < 0) return 0;
    const TensorView sorter = tensor_of(call_, arguments_.sorter);
    const int64_t length = sorter.size(sorter.ndim() - 1);
    int64_t found = 0;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t place = sorter_[static_cast<size_t>(sorter_row * length + i)];
      if (place < 0 || place >= static_cast<int64_t>(places_.size())) {
        fail("the sorter holds " + std::to_string(place) + ", which is out of range for a " +
             "sequence of " + std::to_string(places_.size()));
      }
      const int64_t local = places_[static_cast<size_t>(place)];
      if (local >= 0 && is_before(sequence_[static_cast<size_t>(row * length_ + local)], value))
        ++found;
    }
    return found;
  }

  const Call& call_;
  Arguments arguments_;
  std::vector<C> sequence_;
  int64_t length_;
  bool is_ascending_;
  std::vector<int64_t> sorter_, places_;
};

void compute(const Call& call, const onedim_execution_t&) {
  const Arguments arguments = arguments_of(call);
  const DType common =
      promote(tensor_of(call, arguments.sequence).dtype(), tensor_of(call, arguments.self).dtype());
  with_compute_type<float, double, int64_t>(common, [&]<typename C>(C) { Search<C>(call).run(); });
}

OpBuilder& declare(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .position_aware()
      .infer(infer)
      .rules([](const Call& call, RuleSink& rules) { SearchRules(call, rules).run(); })
      .accept_local(accept_local)
      .compute(kIndexable, compute);
}

}  // namespace

void declare_search(Registrar& r) {
  declare(r,
          "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool "
          "right=False) -> Tensor")
      .summary("how many of the boundaries come before each value")
      .samples({"f64[5,7]; f64[6]", "f32[4]; f32[5]; right=true",
                "i64[3,4]; i64[7]; out_int32=true", "u8[6,1]; u8[4]; right=true", "f64[]; f64[5]",
                "bf16[5]; bf16[3]"})
      .out("bucketize.Tensor_out");
  declare(r,
          "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool "
          "right=False, str? side=None, Tensor? sorter=None) -> Tensor")
      .summary(
          "how many entries of a sequence come before each value, a sequence a row or one for all")
      .samples({"f64[6]; f64[5,7]; -", "f64[3,5]; f64[3,4]; -; right=true",
                "i64[4,3]; i64[4,2]; -; side=\"right\"",
                "f32[5]; f32[4]; i64[5]:index(5); out_int32=true",
                "f64[3,5]; f64[3,4]; i64[3,5]:index(5)", "i32[7]; i32[]; -; side=\"left\""})
      .out("searchsorted.Tensor_out");
}

}  // namespace indexing
