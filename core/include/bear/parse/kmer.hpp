// Letters of sequences to k-mer counts.
//
// A k-mer is packed into a key, first letter highest: 2 bits a letter for the alphabet ACGT
// (A=0 C=1 G=2 T=3, k up to 32), or 4 bits for the 15 IUPAC letters, each the set of bases it
// stands for (A=1 C=2 G=4 T=8, k up to 16). The canonical k-mer is the smaller of its key and the
// key of its reverse complement; for ACGT that is the one that comes first in the alphabet.
// Lower case is read as upper case, and the U of RNA as T. With ACGT, any other IUPAC letter breaks
// the window: the k-mers that contain it are left out and counted.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "bear/parse/buffer.hpp"
#include "bear/parse/row.hpp"

namespace bear::parse {

struct KmerOptions {
  int k = 12;
  bool iupac = false;
  bool canonical = true;
  bool counts = true;      // else the value of every k-mer that occurs is 1
  std::size_t window = 0;  // cut a sequence into reads of this many letters; 0: one read
  std::size_t stride = 0;  // letters from the start of a read to that of the next; 0: window
};

// The reads of one sequence after the other. Letters of a read cut by a window are kept; without
// windows only its k-mers are.
class Kmers {
 public:
  // Throws std::invalid_argument when an option is outside its range.
  Kmers(const KmerOptions& options, std::size_t max_features);

  // Begins a new sequence.
  void start();
  // Reads letters until the read is full or a byte is no letter. Returns how many.
  std::size_t read(std::string_view text);
  // At the end of a sequence: whether a last read is left to be taken.
  bool rest() const;
  // The window is full: take the read before reading on.
  bool full() const { return window_ > 0 && letters_.size() == window_; }
  // More different k-mers than a row may have; the read is lost.
  bool too_many() const { return too_many_; }
  // Puts the k-mers of the read into a row, and continues to the next read.
  bool take(Row& row);

  std::uint64_t letters() const { return n_letters_; }        // of the sequence so far
  std::uint64_t invalid_windows() const { return invalid_; }  // of the read taken last
  bool is_letter(char c) const { return codes_[static_cast<unsigned char>(c)] != no_letter; }

 private:
  static constexpr std::uint8_t no_letter = 255, breaks = 254;

  void roll(const std::uint8_t* codes, std::size_t n);
  void fold();
  void merge_into_counts();
  void sort_pending();
  void sort_by_digit(int shift, int bits);
  void forget_read();
  void slide();

  std::array<std::uint8_t, 256> codes_;
  std::array<std::uint8_t, 16> complements_;
  std::size_t k_, window_, stride_, max_features_;
  int bits_;
  bool canonical_, counts_;
  Key mask_;

  std::uint64_t n_letters_ = 0;   // of the sequence
  std::uint64_t n_reads_ = 0;     // of the sequence, taken
  Buffer<std::uint8_t> letters_;  // of the read, when there are windows
  std::size_t overlap_ = 0;       // of these, letters that the read before had too
  std::size_t gap_ = 0;           // letters to leave out before the next read

  Key forward_ = 0, reverse_ = 0;  // the last k letters, and their reverse complement
  std::size_t run_ = 0;            // letters since the last break, at most k
  std::uint64_t read_letters_ = 0, valid_ = 0, invalid_ = 0;
  Buffer<Key> pending_, spare_;  // k-mers not yet counted
  Buffer<Key> distinct_, old_distinct_;
  Buffer<std::uint64_t> times_, old_times_;
  bool too_many_ = false;
};

}  // namespace bear::parse
