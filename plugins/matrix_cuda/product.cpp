#include "product.hpp"

#include "strided.hpp"

namespace matrix_cuda {
namespace {

using onedim::device::Walk;

// The groups of letters, outermost first.
struct Groups {
  std::string batch, rows, columns, inner;
};

bool has(const std::string& letters, char letter) { return letters.find(letter) != letters.npos; }

Groups groups_of(const Product& product) {
  Groups groups;
  for (const char letter : product.out.letters) {
    const bool in_left = has(product.left.letters, letter);
    const bool in_right = has(product.right.letters, letter);
    (in_left && in_right ? groups.batch : in_left ? groups.rows : groups.columns) += letter;
  }
  for (const char letter : product.left.letters + product.right.letters) {
    if (!has(product.out.letters, letter) && !has(groups.inner, letter)) groups.inner += letter;
  }
  return groups;
}

// Steps of a letter's dims together; 0 where the term lacks it or is broadcast along it.
int64_t stride_of(const Term& term, char letter) {
  int64_t stride = 0;
  for (size_t dim = 0; dim < term.letters.size(); ++dim) {
    const int own = static_cast<int>(dim);
    if (term.letters[dim] == letter && term.tensor.size(own) != 1)
      stride += term.tensor.stride(own);
  }
  return stride;
}

// A group as one dim.
struct Dim {
  int64_t size = 1;
  int64_t stride = 0;
  bool is_one = true;  // its letters are one step in memory
};

Dim dim_of(const Product& product, const Term& term, const std::string& letters) {
  Dim dim;
  for (size_t i = letters.size(); i-- > 0;) {
    const int64_t size = product.einsum.size(letters[i]);
    const int64_t stride = stride_of(term, letters[i]);
    if (size != 1 && dim.size == 1)
      dim.stride = stride;
    else if (size != 1 && stride != dim.stride * dim.size)
      dim.is_one = false;
    dim.size *= size;
  }
  return dim;
}

// A batch of matrices as BLAS sees them, if it can: neighbours along one side, and no row or column
// over another.
struct Matrices {
  Dim batch, rows, columns;

  int64_t count() const { return batch.size * rows.size * columns.size; }
  bool is_one() const { return batch.is_one && rows.is_one && columns.is_one; }
  // Down the columns, or along the rows.
  bool is_column_major() const { return is_major(rows, columns); }
  bool is_row_major() const { return is_major(columns, rows); }
  int64_t column_major_leading() const { return leading(rows, columns); }
  int64_t row_major_leading() const { return leading(columns, rows); }

 private:
  bool is_major(const Dim& fast, const Dim& slow) const {
    return is_one() && (fast.size == 1 || fast.stride == 1) &&
           (slow.size == 1 || slow.stride >= fast.size);
  }
  static int64_t leading(const Dim& fast, const Dim& slow) {
    return slow.size == 1 ? std::max<int64_t>(fast.size, 1) : slow.stride;
  }
};

// The bias' dims lie under the last of the output.
Term bias_of(const Product& product) {
  if (!product.bias.present()) return {};
  const std::string& letters = product.out.letters;
  return {letters.substr(letters.size() - static_cast<size_t>(product.bias.ndim())), product.bias};
}

// The product by BLAS. With no execution it only counts the scratch.
class Multiplication {
 public:
  Multiplication(const Product& product, const onedim_execution_t* execution)
      : product_(product), groups_(groups_of(product)), execution_(execution) {
    element_size_ = size_of(product.out.tensor.dtype());
    if (execution != nullptr) next_ = static_cast<std::byte*>(execution->workspace);
  }

  uint64_t run() {
    call_.dtype = static_cast<int32_t>(product_.out.tensor.dtype());
    call_.alpha = product_.alpha;
    call_.beta = product_.bias.present() ? product_.beta : 0.0;
    call_.scratch = take(kBlasScratch);
    call_.scratch_bytes = kBlasScratch;
    Matrices out = matrices_of(product_.out, groups_.rows, groups_.columns);
    Matrices left = matrices_of(product_.left, groups_.rows, groups_.inner);
    Matrices right = matrices_of(product_.right, groups_.inner, groups_.columns);
    void* target = product_.out.tensor.data();
    const bool is_direct = out.is_column_major() || out.is_row_major();
    if (!is_direct) target = take_matrices(out);
    if (call_.beta != 0.0) copy_bias(is_direct ? nullptr : target);
    const void* a = readable(product_.left, groups_.rows, groups_.inner, left);
    const void* b = readable(product_.right, groups_.inner, groups_.columns, right);
    set_matrices(left, a, right, b, out, target);
    if (execution_ != nullptr) multiply(call_, *execution_);
    if (!is_direct) copy(product_.out, output_letters(), target, true);
    return used_;
  }

 private:
  std::byte* take(uint64_t bytes) {
    constexpr uint64_t kAlignment = 256;
    const uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    used_ += rounded;
    return next_ == nullptr ? nullptr : std::exchange(next_, next_ + rounded);
  }
  std::byte* take_matrices(Matrices& matrices) {
    matrices.columns.stride = 1;
    matrices.rows.stride = matrices.columns.size;
    matrices.batch.stride = matrices.rows.size * matrices.columns.size;
    matrices.batch.is_one = matrices.rows.is_one = matrices.columns.is_one = true;
    return take(static_cast<uint64_t>(matrices.count() * element_size_));
  }
  std::string output_letters() const { return groups_.batch + groups_.rows + groups_.columns; }

  Matrices matrices_of(const Term& term, const std::string& rows,
                       const std::string& columns) const {
    return {dim_of(product_, term, groups_.batch), dim_of(product_, term, rows),
            dim_of(product_, term, columns)};
  }

  // Between the term and dense memory with a dim for each of `letters`.
  void copy(const Term& term, const std::string& letters, void* dense, bool to_term) const {
    if (execution_ == nullptr) return;
    Walk<2> walk;
    for (size_t i = letters.size(); i-- > 0;) {
      const int64_t step = walk.count, stride = stride_of(term, letters[i]);
      const std::array<int64_t, 2> strides = {to_term ? stride : step, to_term ? step : stride};
      add_outer_dim<2>(walk, product_.einsum.size(letters[i]), strides);
    }
    void* own = term.tensor.data();
    run_copy(walk, element_size_, to_term ? own : dense, to_term ? dense : own, *execution_);
  }

  const void* readable(const Term& term, const std::string& rows, const std::string& columns,
                       Matrices& matrices) {
    if (matrices.is_column_major() || matrices.is_row_major()) return term.tensor.data();
    void* dense = take_matrices(matrices);
    copy(term, groups_.batch + rows + columns, dense, false);
    return dense;
  }

  // The bias, broadcast, where the product is to be added to it.
  void copy_bias(void* dense) const {
    if (execution_ == nullptr) return;
    if (dense != nullptr) return copy(bias_of(product_), output_letters(), dense, false);
    const auto walk = broadcast_walk(product_.out.tensor, std::array{product_.bias});
    run_copy(walk, element_size_, product_.out.tensor.data(), product_.bias.data(), *execution_);
  }

  // BLAS writes down columns: a row-major output is the transposed product of the operands, swapped
  // and transposed.
  void set_matrices(const Matrices& left, const void* a, const Matrices& right, const void* b,
                    const Matrices& out, void* target) {
    const auto operand = [](const Matrices& matrices, const void* data, bool is_swapped) {
      BlasMatrix made;
      made.data = data;
      const bool is_down = matrices.is_column_major();
      made.is_transposed = is_down == is_swapped;
      made.leading = is_down ? matrices.column_major_leading() : matrices.row_major_leading();
      made.batch_stride = matrices.batch.stride;
      return made;
    };
    const bool is_swapped = !out.is_column_major();
    call_.a = is_swapped ? operand(right, b, true) : operand(left, a, false);
    call_.b = is_swapped ? operand(left, a, true) : operand(right, b, false);
    call_.m = is_swapped ? out.columns.size : out.rows.size;
    call_.n = is_swapped ? out.rows.size : out.columns.size;
    call_.k = left.columns.size;
    call_.batch = out.batch.size;
    call_.c = target;
    call_.c_leading = is_swapped ? out.row_major_leading() : out.column_major_leading();
    call_.c_batch_stride = out.batch.stride;
  }

  const Product& product_;
  Groups groups_;
  const onedim_execution_t* execution_;
  BlasCall call_;
  int64_t element_size_ = 0;
  std::byte* next_ = nullptr;
  uint64_t used_ = 0;
};

onedim::device::Complex<double> factor_of(const std::complex<double>& value) {
  return {value.real(), value.imag()};
}

PlainCall plain_call(const Product& product) {
  PlainCall call;
  const Term bias = bias_of(product);
  const std::string& letters = product.out.letters;
  for (size_t i = letters.size(); i-- > 0;) {
    add_outer_dim<4>(call.places, product.einsum.size(letters[i]),
                     {stride_of(product.out, letters[i]), stride_of(product.left, letters[i]),
                      stride_of(product.right, letters[i]), stride_of(bias, letters[i])});
  }
  for (const char letter : groups_of(product).inner) {
    add_outer_dim<2>(call.inner, product.einsum.size(letter),
                     {stride_of(product.left, letter), stride_of(product.right, letter)});
  }
  call.out = elements_of(product.out.tensor);
  call.left = elements_of(product.left.tensor);
  call.right = elements_of(product.right.tensor);
  if (product.beta != 0.0) call.bias = elements_of(product.bias);
  call.alpha = factor_of(product.alpha);
  call.beta = factor_of(product.beta);
  return call;
}

}  // namespace

uint64_t scratch_bytes(const Product& product) { return Multiplication(product, nullptr).run(); }

void run_product(const Product& product, const onedim_execution_t& execution) {
  const bool is_empty = product.einsum.summed_count() == 0;
  if (!is_empty && product.out.tensor.element_count() == 0) return;
  if (!is_empty && scratch_bytes(product) <= execution.workspace_bytes)
    Multiplication(product, &execution).run();
  else
    run_plain(plain_call(product), execution);
}

}  // namespace matrix_cuda
