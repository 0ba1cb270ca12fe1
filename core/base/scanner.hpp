#pragma once
// Scanner: a cursor over one text, for the small grammars of the command line (tensors, layouts,
// meshes, values). It borrows the text and skips blanks before each token. Errors point at the
// character where it stands.

#include <cstdint>
#include <string_view>

#include "core/base/text.hpp"

namespace onedim {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  size_t position() const { return position_; }
  void move_to(size_t position) { position_ = position; }

  // The next character that is not blank, or 0 at the end.
  char peek();
  bool at_end() { return peek() == '\0' && position_ >= text_.size(); }
  // Steps over `token` if it comes next.
  bool accept(std::string_view token);
  Status expect(std::string_view token);
  // Letters, digits and `_`, not starting with a digit; empty if there are none.
  std::string_view word();
  // Decimal digits with an optional minus; an error if there are none or they do not fit.
  Result<int64_t> integer();

  // `what at column N of "..."`, where the scanner stands or at `position`.
  Status error(std::string_view what) const { return text_error(text_, position_, what); }
  Status error_at(size_t position, std::string_view what) const {
    return text_error(text_, position, what);
  }

 private:
  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace onedim
