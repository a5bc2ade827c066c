// The unique keys of a batch, and the batch renumbered to them: entry e stands in column
// column(e) of a small dense problem. Every key is hashed once. Where every row holds every key, as
// in dense data, columns are counted instead of looked up; the sums keep their order, so the
// results are the same to the last bit.
#pragma once

#include "bear/batch.hpp"
#include "bear/hash.hpp"

namespace bear {

class ActiveSet {
 public:
  explicit ActiveSet(std::uint64_t seed) : hash_(seed) {}

  void assign(const BatchView& batch);

  std::size_t size() const { return size_; }
  std::size_t n_rows() const { return batch_.n_rows(); }
  const BatchView& batch() const { return batch_; }
  Keys keys() const { return {keys_.data() + 1, size_}; }
  std::span<const std::uint64_t> hashes() const { return {hashes_.data(), size_}; }
  // Column of each entry of the batch, in order.
  std::span<const std::uint32_t> columns() const { return columns_; }

  // Whether the batch before had the same keys in the same columns.
  bool repeated() const { return repeated_; }

  // Some entry of the batch that holds this column's key; its name is the key's name.
  std::size_t entry(std::size_t column) const { return entries_[column]; }

  // The column of the entry that is so many after first_entry() of the batch.
  std::size_t column(std::size_t entry) const { return full_ ? entry % size_ : columns_[entry]; }

  // out[row][c] = sum over the row's entries of value * w[column][c]
  void margins(ConstReals w, std::size_t classes, Reals out) const;

  // g[column][c] = sum over the column's entries of value * residual[row][c]
  void gradient(ConstReals residual, std::size_t classes, Reals g) const;

  // gram[i][k] = inner product of rows i and k
  void gram(Reals out) const;

 private:
  void number_keys(std::size_t first, std::size_t n_entries);
  // Whether every row of the batch holds exactly the keys of the last one, in their order.
  bool repeats(const BatchView& batch) const;
  void full_margins(ConstReals w, Reals out) const;
  void full_gradient(ConstReals residual, Reals g) const;
  void full_gram(Reals out) const;
  const float* row(std::size_t i) const {
    return batch_.values.data() + batch_.first_entry() + i * size();
  }

  KeyHash hash_;
  BatchView batch_;
  std::size_t size_ = 0;
  // Of columns 0 .. size_ - 1; as long as the longest batch, so that filling them needs no test.
  std::vector<Key> keys_ = {0};  // one more, see number_keys
  std::vector<std::uint64_t> hashes_;
  std::vector<std::size_t> entries_;
  std::vector<std::uint32_t> columns_;  // of the entries first_entry() .. last_entry()
  std::vector<std::uint32_t> table_;    // open addressing: column + 1, or 0
  bool full_ = false;                   // every row holds every key, column after column
  bool repeated_ = false;
};

}  // namespace bear
