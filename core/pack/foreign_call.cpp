#include "core/pack/foreign_call.hpp"

#include <fmt/format.h>

namespace onedim {
namespace {

ForeignCallText* place = nullptr;

}  // namespace

void set_foreign_call_place(ForeignCallText* to) { place = to; }

ForeignCall::ForeignCall(std::string_view pack, std::string_view what, std::string_view op) {
  if (place == nullptr) return;
  outer_ = *place;
  const auto end = fmt::format_to_n(place->data(), place->size() - 1, "pack {}, {}{}{}", pack, what,
                                    op.empty() ? "" : " of op ", op);
  *end.out = '\0';
}

ForeignCall::~ForeignCall() {
  if (place != nullptr) *place = outer_;
}

}  // namespace onedim
