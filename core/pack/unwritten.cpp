#include "core/pack/unwritten.hpp"

#include <algorithm>
#include <cstring>

namespace onedim {
namespace {

constexpr int kSecondMark = 0x5a;

int first_mark(DType dtype) { return is_floating(dtype) || is_complex(dtype) ? 0xff : 0xa5; }

void fill(Tensor& tensor, int mark) {
  if (tensor.element_count() == 0) return;
  std::memset(tensor.data(), mark, tensor.meta().storage_length() * size_of(tensor.dtype()));
}

bool is_marked(const Tensor& tensor, int64_t index, int mark) {
  const std::byte* element = tensor.element(index);
  return std::all_of(element, element + size_of(tensor.dtype()),
                     [mark](std::byte byte) { return byte == static_cast<std::byte>(mark); });
}

// The first marked element at or after `from`, or -1.
int64_t find_marked(const Tensor& tensor, int64_t from, int mark) {
  const int64_t count = tensor.element_count(), size = size_of(tensor.dtype());
  const bool dense = tensor.meta().is_contiguous();
  while (from < count) {
    if (dense) {
      const void* found = std::memchr(tensor.data() + from * size, mark, (count - from) * size);
      if (found == nullptr) return -1;
      from = (static_cast<const std::byte*>(found) - tensor.data()) / size;
    }
    if (is_marked(tensor, from, mark)) return from;
    ++from;
  }
  return -1;
}

// Elements that stayed marked, per output.
std::vector<std::vector<int64_t>> suspects(std::span<Tensor* const> outputs) {
  std::vector<std::vector<int64_t>> found;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) continue;
    const int mark = first_mark(outputs[i]->dtype());
    for (int64_t at = find_marked(*outputs[i], 0, mark); at >= 0;
         at = find_marked(*outputs[i], at + 1, mark)) {
      if (found.empty()) found.resize(outputs.size());
      found[i].push_back(at);
    }
  }
  return found;
}

}  // namespace

void mark_unwritten(Tensor& output) { fill(output, first_mark(output.dtype())); }

Status run_marked(std::string_view subject, std::span<Tensor* const> outputs,
                  absl::FunctionRef<Status()> compute) {
  for (Tensor* output : outputs) {
    if (output != nullptr) mark_unwritten(*output);
  }
  if (Status status = compute(); !status.ok()) return status;
  const std::vector<std::vector<int64_t>> marked = suspects(outputs);
  if (marked.empty()) return absl::OkStatus();
  for (Tensor* output : outputs) {
    if (output != nullptr) fill(*output, kSecondMark);
  }
  if (Status status = compute(); !status.ok()) return status;
  for (size_t i = 0; i < marked.size(); ++i) {
    for (const int64_t at : marked[i]) {
      if (!is_marked(*outputs[i], at, kSecondMark)) continue;
      return absl::DataLossError(
          fmt::format("{}: the kernel did not write element {} of output {}, {}", subject, at, i,
                      format_meta(outputs[i]->meta())));
    }
  }
  return absl::OkStatus();
}

}  // namespace onedim
