#include "core/layout/cut_lengths.hpp"

#include <algorithm>

namespace onedim {
namespace {

int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

void insert_unique(Dims& lengths, int64_t length) {
  if (std::find(lengths.begin(), lengths.end(), length) == lengths.end()) lengths.push_back(length);
}

// Pieces of `length` by the chunk rule: `full` pieces of `size`, then one of `rest`, then nothing.
struct Pieces {
  Pieces(int64_t length, int64_t parts) {
    if (length == 0) return;
    size = divide_up(length, parts);
    full = length / size;
    rest = length % size;
  }
  int64_t at(int64_t index) const { return index < full ? size : index == full ? rest : 0; }

  int64_t size = 0;
  int64_t full = 0;
  int64_t rest = 0;
};

void cut_strided(int64_t length, const Cut& cut, Dims& lengths) {
  const int64_t stride = divide_up(length, cut.split_factor);
  const int64_t chunks = stride == 0 ? 0 : length / stride;
  const Pieces chunk(stride, cut.parts), last(length - chunks * stride, cut.parts);
  // Piece sizes change only at these ranks.
  for (int64_t index : {int64_t{0}, chunk.full, chunk.full + 1, last.full, last.full + 1}) {
    if (index < cut.parts) insert_unique(lengths, chunks * chunk.at(index) + last.at(index));
  }
}

}  // namespace

CutEffect CutLengths::cut(const Cut& cut) {
  CutEffect effect;
  effect.fits = divide_up(longest(), cut.split_factor) >= cut.parts;
  Dims next;
  for (int64_t length : lengths_) {
    Dims pieces;
    if (cut.split_factor == 1 && length % cut.parts == 0) {
      pieces.push_back(length / cut.parts);
    } else if (cut.split_factor == 1) {
      const Pieces chunk(length, cut.parts);
      pieces.push_back(chunk.size);
      if (chunk.full < cut.parts) insert_unique(pieces, chunk.rest);
      if (chunk.full + 1 < cut.parts) insert_unique(pieces, 0);
    } else {
      cut_strided(length, cut, pieces);
    }
    if (pieces.size() > 1) effect.divides = false;
    for (int64_t piece : pieces) {
      if (piece == 0 && length != 0) effect.leaves_empty = true;
      insert_unique(next, piece);
    }
  }
  for (size_t i = 1; i < next.size(); ++i) {
    if (next[i] > next[0]) std::swap(next[i], next[0]);
  }
  lengths_ = std::move(next);
  return effect;
}

}  // namespace onedim
