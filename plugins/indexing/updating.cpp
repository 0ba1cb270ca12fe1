#include "updating.hpp"

#include "acceptance.hpp"
#include "walk.hpp"

#include <onedim/arithmetic.hpp>

#include <limits>

namespace indexing {
namespace {

template <typename C>
inline constexpr bool kIsOrdered = std::is_integral_v<C> || std::is_floating_point_v<C>;

// What an element starts from where its old value does not count.
template <typename A>
A start_of(Combine combine, DType dtype) {
  if (combine == Combine::kMultiply) return A(1);
  if constexpr (std::is_integral_v<A>) {
    if (combine == Combine::kMax) return lowest_integer(dtype);
    if (combine == Combine::kMin) return highest_integer(dtype);
  } else if constexpr (std::is_floating_point_v<A>) {
    if (combine == Combine::kMax) return -std::numeric_limits<A>::infinity();
    if (combine == Combine::kMin) return std::numeric_limits<A>::infinity();
  }
  return A(0);
}

template <typename A>
A combined(Combine combine, const A& old, const A& item) {
  switch (combine) {
    case Combine::kReplace:
      return item;
    case Combine::kAdd:
    case Combine::kMean:
      return plus(old, item);
    case Combine::kMultiply:
      return times(old, item);
    case Combine::kMax:
      if constexpr (kIsOrdered<A>) return old >= item || old != old ? old : item;
      break;
    case Combine::kMin:
      if constexpr (kIsOrdered<A>) return old <= item || old != old ? old : item;
      break;
  }
  fail("complex numbers have no order");
}

// The mean of a sum, which integers round down.
template <typename A>
A mean_of(const A& sum, int64_t count, DType dtype) {
  if constexpr (std::is_integral_v<A>) {
    const A total = settled(sum, dtype);
    const A quotient = total / count;
    return total % count < 0 ? quotient - 1 : quotient;
  } else {
    using Real = decltype(std::abs(sum));
    return sum / static_cast<Real>(count);
  }
}

template <typename C>
class Updater {
 public:
  using A = Accumulator<C>;

  Updater(const Call& call, const IndexSpace& space, const Update& update)
      : call_(call), space_(space), update_(update), out_(tensor_of(call, space.table)) {
    combine_ = combine_for(update.combine, out_.dtype());
    const size_t count = static_cast<size_t>(out_.element_count());
    values_.assign(count, A(0));
    if (update.base.present()) load_base();
    written_.assign(count, 0);
    if (space.items.present()) load_items();
  }

  void run() {
    const Shape items_strides =
        space_.items.present() ? dense_strides(tensor_of(call_, space_.items)) : Shape{};
    walk(call_, space_, {dense_strides(out_), items_strides}, [&](std::span<const Pair> row) {
      for (const Pair& pair : row) {
        if (pair.table >= 0) apply(static_cast<size_t>(pair.table), pair.items);
      }
    });
    if (combine_ == Combine::kMean) divide();
    std::vector<C> results(values_.size());
    for (size_t i = 0; i < results.size(); ++i) results[i] = static_cast<C>(values_[i]);
    store_dense(results.data(), out_);
  }

 private:
  // The old values, broadcast to the output.
  void load_base() {
    const TensorView base = tensor_of(call_, update_.base);
    const std::vector<C> old = load_dense<C>(base);
    const Shape own = dense_strides(base);
    Shape strides(static_cast<size_t>(out_.ndim()), 0), at(strides.size(), 0);
    for (int dim = 1; dim <= base.ndim(); ++dim) {
      if (base.size(base.ndim() - dim) != 1)
        strides[strides.size() - static_cast<size_t>(dim)] =
            own[own.size() - static_cast<size_t>(dim)];
    }
    for (A& value : values_) {
      int64_t offset = 0;
      for (size_t dim = 0; dim < at.size(); ++dim) offset += at[dim] * strides[dim];
      value = static_cast<A>(old[static_cast<size_t>(offset)]);
      for (int dim = out_.ndim() - 1; dim >= 0 && ++at[dim] == out_.size(dim); --dim) at[dim] = 0;
    }
  }

  void load_items() {
    items_ = load_dense<C>(tensor_of(call_, space_.items));
    if (update_.scale == 1.0) return;
    C scale;
    if constexpr (kIsOrdered<C>)
      scale = static_cast<C>(update_.scale.real());
    else
      scale = C(update_.scale);
    for (C& item : items_) item = times(scale, item);
  }

  // An item on another rank is replaced by what changes nothing when the ranks' results are joined.
  void apply(size_t at, int64_t item) {
    if (written_[at]++ == 0 && !update_.keeps_old)
      values_[at] = start_of<A>(combine_, out_.dtype());
    if (item >= 0 || update_.number != nullptr)
      values_[at] = combined(combine_, values_[at], item_at(item));
    else if (combine_ == Combine::kReplace)
      values_[at] = A(0);
  }

  A item_at(int64_t item) {
    if (update_.number == nullptr) return static_cast<A>(items_[static_cast<size_t>(item)]);
    if (!has_number_) {
      Operand operand;
      operand.value = update_.number;
      operand.number = detail::read_value<std::complex<double>>(*update_.number, "value");
      number_ = settled(detail::number_as<C>(operand), out_.dtype());
      has_number_ = true;
    }
    return static_cast<A>(number_);
  }

  void divide() {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (written_[i] > 0)
        values_[i] = mean_of(values_[i], written_[i] + (update_.keeps_old ? 1 : 0), out_.dtype());
    }
  }

  const Call& call_;
  const IndexSpace& space_;
  const Update& update_;
  TensorView out_;
  Combine combine_;
  std::vector<A> values_;
  std::vector<int64_t> written_;  // how often
  std::vector<C> items_;
  C number_{};
  bool has_number_ = false;
};

}  // namespace

int64_t lowest_integer(DType dtype) {
  if (is_bool(dtype) || dtype == DType::kU8) return 0;
  return INT64_MIN >> (64 - 8 * size_of(dtype));
}

int64_t highest_integer(DType dtype) {
  if (is_bool(dtype)) return 1;
  return dtype == DType::kU8 ? 255 : ~lowest_integer(dtype);
}

Combine combine_for(Combine combine, DType dtype) {
  if (is_bool(dtype) && combine == Combine::kAdd) return Combine::kMax;
  if (is_bool(dtype) && combine == Combine::kMultiply) return Combine::kMin;
  return combine;
}

void check_update(const Update& update, DType dtype) {
  const bool is_ordering = update.combine == Combine::kMax || update.combine == Combine::kMin;
  if (is_complex(dtype) && is_ordering)
    fail(std::string("no maximum or minimum of ") + name_of(dtype) + " elements",
         ONEDIM_STATUS_UNIMPLEMENTED);
  if (is_bool(dtype) && update.combine == Combine::kMean)
    fail("no mean of bool elements", ONEDIM_STATUS_UNIMPLEMENTED);
}

onedim_value_t settled_number(const onedim_value_t& number, DType dtype) {
  onedim_value_t made{};
  Operand operand;
  operand.value = &number;
  operand.number = detail::read_value<std::complex<double>>(number, "value");
  with_compute_type<double, float, int64_t, std::complex<float>, std::complex<double>>(
      dtype, [&]<typename C>(C) {
        const C value = settled(detail::number_as<C>(operand), dtype);
        if constexpr (std::is_integral_v<C>) {
          made.kind = ONEDIM_VALUE_INT;
          made.integer = value;
        } else {
          const std::complex<double> wide(value);
          made.kind = ONEDIM_VALUE_COMPLEX;
          made.real = wide.real();
          made.imaginary = wide.imag();
        }
      });
  return made;
}

void update_table(const Call& call, const IndexSpace& space, const Update& update) {
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      tensor_of(call, space.table).dtype(),
      [&]<typename C>(C) { Updater<C>(call, space, update).run(); });
}

OpBuilder& updating(OpBuilder& op, SpaceFn space_of, UpdateFn update_of) {
  return op.position_aware()
      .accept_local([space_of](const Call& call) { accept_shards(call, space_of(call)); })
      .rules([space_of, update_of](const Call& call, RuleSink& rules) {
        updating_rules(call, rules, space_of(call), update_of(call));
      })
      .compute(kIndexable, [space_of, update_of](const Call& call, const onedim_execution_t&) {
        update_table(call, space_of(call), update_of(call));
      });
}

}  // namespace indexing
