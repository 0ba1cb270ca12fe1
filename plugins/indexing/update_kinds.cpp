#include "update_kinds.hpp"

namespace indexing {
namespace {

const Kinds kEvery = {"sum", "avg", "max", "min", "product"};

bool is_unsigned(DType dtype) { return dtype == DType::kU8 || is_bool(dtype); }

}  // namespace

UpdateKinds::UpdateKinds(const Call& call, const IndexSpace& space, const Update& update)
    : dtype_(call.output().dtype()),
      combine_(combine_for(update.combine, dtype_)),
      has_base_(update.base.present()),
      is_injective_(space.is_injective()),
      is_negated_(update.scale.real() < 0) {
  if (update.number != nullptr) number_ = settled_number(*update.number, dtype_);
  if (number_ && combine_ == Combine::kMultiply && is_number(0)) combine_ = Combine::kReplace;
  is_new_ = !update.keeps_old || combine_ == Combine::kReplace;
  is_copy_ = combine_ == Combine::kReplace || (is_new_ && is_injective_);
}

Passes UpdateKinds::passes() const {
  Passes made;
  if (number_) {
    made.base = passing_number();
    return made;
  }
  if (is_copy_) {
    made.both = kEvery;
    made.base = {"avg", "max", "min"};
  } else {
    made.both = joining();
    made.base = is_new_ ? Kinds{"avg", "max", "min"} : monotone_in_old(is_unsigned(dtype_));
    if (!is_new_ && is_injective_) made.items = monotone_in_item();
  }
  return made;
}

std::string_view UpdateKinds::items_in(std::string_view out) const {
  if (!is_negated_) return out;
  return out == "max" ? "min" : out == "min" ? "max" : out;
}

Kinds UpdateKinds::of_cut_places() const {
  if (is_new_ && has_base_) return number_ ? absorbed_by_number() : Kinds{};
  switch (combine_) {
    case Combine::kAdd:
      return {"sum"};
    case Combine::kMultiply:
      return {"product"};
    case Combine::kMax:
      return {"max"};
    case Combine::kMin:
      return {"min"};
    default:
      return {};
  }
}

Kinds UpdateKinds::of_one_way() const {
  if (is_new_ || combine_ == Combine::kMean || is_negated_) return {};
  if (combine_ == Combine::kAdd && number_) {
    const double value = real_number();
    return value >= 0 ? Kinds{"max"} : Kinds{"min"};
  }
  const bool grows = combine_ == Combine::kAdd || (number_ && combine_ == Combine::kMultiply);
  return grows && is_unsigned(dtype_) ? Kinds{"max"} : Kinds{};
}

Kinds UpdateKinds::of_cut_items(bool on_one_rank) const {
  const bool is_lone = is_copy_ || (is_new_ && on_one_rank);
  switch (combine_) {
    case Combine::kReplace:
      return kinds_of_lone_item();
    case Combine::kMultiply:
      return {"product"};
    case Combine::kMax:
      return is_lone && is_unsigned(dtype_) ? kinds_of_lone_item() : Kinds{"max"};
    case Combine::kMin:
      return {"min"};
    case Combine::kAdd:
      return is_lone ? kinds_of_lone_item() : Kinds{"sum"};
    case Combine::kMean:
      if (is_lone) return kinds_of_lone_item();
      return category(dtype_) < 2 ? Kinds{} : Kinds{"sum"};
  }
  return {};
}

double UpdateKinds::real_number() const {
  return number_->kind == ONEDIM_VALUE_INT ? static_cast<double>(number_->integer) : number_->real;
}

bool UpdateKinds::is_number(double value) const {
  return real_number() == value && number_->imaginary == 0;
}

// The kinds that make this number of it and anything else.
Kinds UpdateKinds::absorbed_by_number() const {
  Kinds kinds;
  if (is_number(0)) kinds.push_back("product");
  if (category(dtype_) < 2 && number_->integer == highest_integer(dtype_)) kinds.push_back("max");
  if (category(dtype_) < 2 && number_->integer == lowest_integer(dtype_)) kinds.push_back("min");
  return kinds;
}

// One rank has the item, the others 0.
Kinds UpdateKinds::kinds_of_lone_item() const {
  return is_unsigned(dtype_) ? Kinds{"sum", "max"} : Kinds{"sum"};
}

Kinds UpdateKinds::joining() const {
  switch (combine_) {
    case Combine::kReplace:
      return kEvery;
    case Combine::kAdd:
      return {"sum", "avg"};
    case Combine::kMultiply:
      return {"product"};
    case Combine::kMean:
      return category(dtype_) < 2 ? Kinds{} : Kinds{"sum", "avg"};
    case Combine::kMax:
      return {"max"};
    case Combine::kMin:
      return {"min"};
  }
  return {};
}

Kinds UpdateKinds::monotone_in_old(bool nonnegative_items) const {
  if (combine_ != Combine::kMultiply) return {"max", "min"};
  return nonnegative_items ? Kinds{"sum", "avg", "max", "min"} : Kinds{"sum", "avg"};
}

// Where no two items meet; for a positive scale.
Kinds UpdateKinds::monotone_in_item() const {
  if (combine_ != Combine::kMultiply) return {"max", "min"};
  return is_unsigned(dtype_) ? Kinds{"avg", "max", "min"} : Kinds{"avg"};
}

Kinds UpdateKinds::passing_number() const {
  const bool is_neutral = (combine_ == Combine::kAdd && is_number(0)) ||
                          (combine_ == Combine::kMultiply && is_number(1));
  if (is_neutral) return kEvery;
  if (combine_ != Combine::kReplace) {
    Kinds kinds = monotone_in_old(real_number() >= 0);
    if (combine_ == Combine::kAdd) kinds.push_back("avg");
    return kinds;
  }
  Kinds kinds;
  for (std::string_view kind : kEvery) {
    if (is_split_of_itself(kind, *number_)) kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace indexing
