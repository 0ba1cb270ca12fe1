#include "core/tensor/dtype.hpp"

#include <cstring>
#include <vector>

#include "core/base/text.hpp"
#include "core/tensor/element.hpp"

namespace onedim {
namespace {

struct DTypeFacts {
  std::string_view name;
  int64_t size;
  double epsilon;
};

// In the ABI's order.
constexpr std::array<DTypeFacts, kDTypeCount> kFacts = {{
    {"f64", 8, 0x1p-52},
    {"f32", 4, 0x1p-23},
    {"bf16", 2, 0x1p-7},
    {"f16", 2, 0x1p-10},
    {"f8e4m3fn", 1, 0x1p-3},
    {"f8e5m2", 1, 0x1p-2},
    {"f8e8m0", 1, 1},
    {"i64", 8, 0},
    {"i32", 4, 0},
    {"i16", 2, 0},
    {"i8", 1, 0},
    {"u8", 1, 0},
    {"bool", 1, 0},
    {"c64", 8, 0x1p-23},
    {"c128", 16, 0x1p-52},
}};

const DTypeFacts& facts_of(DType dtype) { return kFacts[static_cast<size_t>(dtype)]; }

// Toward zero; what does not fit becomes the lowest value, as on x86.
int64_t truncate(double value) {
  const bool fits = value >= -0x1p63 && value < 0x1p63;
  return fits ? static_cast<int64_t>(value) : INT64_MIN;
}

template <typename To, typename From>
To convert(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_same_v<From, BoolElement>) {
    return convert<To>(int64_t{from.byte != 0});
  } else if constexpr (kIsSmallFloat<From>) {
    return convert<To>(static_cast<double>(from));
  } else if constexpr (std::is_same_v<To, BoolElement>) {
    return BoolElement{from != From{}};
  } else if constexpr (kIsComplexElement<To>) {
    using Part = typename To::value_type;
    if constexpr (kIsComplexElement<From>) {
      return To(static_cast<Part>(from.real()), static_cast<Part>(from.imag()));
    } else {
      return To(static_cast<Part>(from), 0);
    }
  } else if constexpr (kIsComplexElement<From>) {
    return convert<To>(static_cast<double>(from.real()));
  } else if constexpr (kIsSmallFloat<To>) {
    return To(static_cast<double>(from));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return static_cast<To>(truncate(from));
  } else {
    return static_cast<To>(from);
  }
}

template <typename Wide>
Wide load(DType dtype, const std::byte* element) {
  return visit_dtype(dtype, [&]<typename T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, element, sizeof(T));
    return convert<Wide>(value);
  });
}

template <typename Wide>
void store(DType dtype, std::byte* element, Wide value) {
  visit_dtype(dtype, [&]<typename T>(std::type_identity<T>) {
    const T converted = convert<T>(value);
    std::memcpy(element, &converted, sizeof(T));
  });
}

}  // namespace

int64_t size_of(DType dtype) { return facts_of(dtype).size; }

std::string_view name_of(DType dtype) { return facts_of(dtype).name; }

double epsilon_of(DType dtype) { return facts_of(dtype).epsilon; }

Result<DType> parse_dtype(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kFacts[i].name == name) return static_cast<DType>(i);
  }
  std::vector<std::string> names;
  for (const DTypeFacts& facts : kFacts) names.emplace_back(facts.name);
  return invalid_argument("unknown dtype \"{}\", expected one of {}{}", name, fmt::join(names, " "),
                          did_you_mean(name, names));
}

bool is_floating(DType dtype) { return dtype >= DType::kF64 && dtype <= DType::kF8E8M0; }

bool is_integral(DType dtype) { return dtype >= DType::kI64 && dtype <= DType::kU8; }

bool is_complex(DType dtype) { return dtype == DType::kC64 || dtype == DType::kC128; }

double load_real(DType dtype, const std::byte* element) { return load<double>(dtype, element); }

void store_real(DType dtype, std::byte* element, double value) { store(dtype, element, value); }

int64_t load_integer(DType dtype, const std::byte* element) {
  return load<int64_t>(dtype, element);
}

void store_integer(DType dtype, std::byte* element, int64_t value) { store(dtype, element, value); }

std::complex<double> load_complex(DType dtype, const std::byte* element) {
  return load<std::complex<double>>(dtype, element);
}

void store_complex(DType dtype, std::byte* element, std::complex<double> value) {
  store(dtype, element, value);
}

}  // namespace onedim
