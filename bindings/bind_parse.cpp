// Parser and Block: chunks of bytes in, blocks of examples out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "bear/parse/formats.hpp"

namespace {

using namespace bear::parse;

// Options by keyword: each is asked for by name, and what is left over nobody knows.
class Keywords {
 public:
  explicit Keywords(const nb::kwargs& given) : given_(nb::dict(given)) {}

  template <class T>
  void read(const char* name, T& value) {
    if (!given_.contains(name)) return;
    try {
      value = nb::cast<T>(given_[name]);
    } catch (const nb::cast_error&) {
      throw std::invalid_argument(std::string(name) + " has a value of the wrong type");
    }
    nb::del(given_[name]);
  }
  template <class T>
  void read_choice(const char* name, T& value,
                   std::initializer_list<std::pair<const char*, T>> of) {
    std::string word, allowed;
    read(name, word);
    if (word.empty()) return;
    for (const auto& [choice, meaning] : of) {
      if (word == choice) {
        value = meaning;
        return;
      }
      allowed += (allowed.empty() ? "" : ", ") + std::string(choice);
    }
    throw std::invalid_argument(std::string(name) + " must be one of " + allowed + ", got " +
                                quoted(word));
  }
  void read_range(const char* name, int& low, int& high) {
    std::pair<int, int> range{low, high};
    read(name, range);
    low = range.first;
    high = range.second;
  }
  void finish(const std::string& format) const {
    for (const auto& [name, value] : given_)
      throw std::invalid_argument("format " + format + " has no option " +
                                  nb::cast<std::string>(name));
  }

 private:
  nb::dict given_;
};

void read_common(Keywords& in, Options& o) {
  in.read("seed", o.seed);
  in.read("names", o.names);
  in.read_choice<Labels>(
      "labels", o.labels,
      {{"auto", Labels::automatic}, {"number", Labels::number}, {"name", Labels::name}});
  in.read("max_line_bytes", o.max_line_bytes);
  in.read("max_name_bytes", o.max_name_bytes);
  in.read("max_features", o.max_features);
}

void read_kmers(Keywords& in, KmerOptions& o) {
  in.read("k", o.k);
  in.read_choice<bool>("alphabet", o.iupac, {{"acgt", false}, {"iupac", true}});
  in.read("canonical", o.canonical);
  in.read("counts", o.counts);
  in.read("window", o.window);
  in.read("stride", o.stride);
}

void read_ngrams(Keywords& in, NgramOptions& o) {
  in.read_range("words", o.word_low, o.word_high);
  in.read_range("chars", o.char_low, o.char_high);
  in.read("lower", o.lower);
  in.read("counts", o.counts);
}

void read_fields(Keywords& in, JsonlOptions& o) {
  in.read("label_field", o.label_field);
  in.read("weight_field", o.weight_field);
  in.read("tag_field", o.tag_field);
  in.read("text_fields", o.text_fields);
  in.read("skip_fields", o.skip_fields);
}

AllOptions read_options(const std::string& format, const nb::kwargs& given) {
  AllOptions o;
  Keywords in(given);
  read_common(in, o.common);
  if (format == "svmlight")
    in.read_choice<Duplicates>("duplicates", o.duplicates,
                               {{"refuse", Duplicates::refuse}, {"sum", Duplicates::sum}});
  if (format == "fasta" || format == "fastq") read_kmers(in, o.kmers);
  if (format == "text" || format == "jsonl") read_ngrams(in, o.ngrams);
  if (format == "text") in.read("labelled", o.labelled);
  if (format == "jsonl") read_fields(in, o.fields);
  in.finish(format);
  return o;
}

// Blocks that Python has let go of, on whatever thread, to be filled again.
class Spares {
 public:
  void give(Block&& block) {
    if (block.capacity() > max_bytes) return;
    const std::lock_guard lock(mutex_);
    if (blocks_.size() < max_blocks) blocks_.push_back(std::move(block));
  }
  bool take(Block& block) {
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) return false;
    block = std::move(blocks_.back());
    blocks_.pop_back();
    return true;
  }

 private:
  static constexpr std::size_t max_blocks = 2, max_bytes = std::size_t{4} << 20;

  std::mutex mutex_;
  std::vector<Block> blocks_;
};

class PyBlock : public Block {
 public:
  PyBlock(Block&& block, std::shared_ptr<Spares> spares)
      : Block(std::move(block)), spares_(std::move(spares)) {}
  PyBlock(PyBlock&&) = default;
  ~PyBlock() {
    if (spares_ && !hungry) spares_->give(std::move(*this));
  }

 private:
  std::shared_ptr<Spares> spares_;
};

// A parser with the chunk it reads from.
class PyParser {
 public:
  PyParser(const std::string& format, const nb::kwargs& options)
      : PyParser(format, read_options(format, options)) {}

  // Another parser of the same stream, for lines that this one does not read.
  std::unique_ptr<PyParser> twin() const {
    auto other = std::unique_ptr<PyParser>(new PyParser(format_, options_));
    other->parser_->settle_like(*parser_);
    return other;
  }
  void start_at(std::uint64_t byte, std::int64_t line) {
    const Turn turn(busy_);
    parser_->start_at(byte, line);
    line_ = line;
  }

  // Bytes objects cannot change, so they are kept and read in place; other buffers are copied.
  void feed(const nb::object& chunk, bool final) {
    const Turn turn(busy_);
    if (nb::isinstance<nb::bytes>(chunk)) {
      const auto bytes = nb::borrow<nb::bytes>(chunk);
      parser_->feed({bytes.c_str(), bytes.size()}, final);
      held_ = bytes;
      return;
    }
    const View view(chunk);
    std::vector<char> copy(view.begin(), view.begin() + view.size());
    parser_->feed({copy.data(), copy.size()}, final);
    held_ = nb::none();
    copy_ = std::move(copy);
  }

  PyBlock take(std::size_t max_rows, std::size_t max_entries) {
    if (max_rows == 0) throw std::invalid_argument("max_rows must be at least 1, got 0");
    const Turn turn(busy_);
    const nb::gil_scoped_release released;
    return take_block(max_rows, max_entries);
  }

  // All blocks of lines that lie in parts of several chunks. With `ends` the last block is what is
  // left of them, else rows that fill no block wait for more.
  std::vector<PyBlock> read(
      const std::vector<std::tuple<nb::bytes, std::size_t, std::size_t>>& parts, bool final,
      bool ends, std::size_t max_rows, std::size_t max_entries) {
    const Turn turn(busy_);
    std::vector<std::string_view> texts;
    for (const auto& [chunk, start, stop] : parts) {
      if (start > stop || stop > chunk.size())
        throw std::invalid_argument("a part must lie in its chunk");
      texts.emplace_back(chunk.c_str() + start, stop - start);
    }
    const nb::gil_scoped_release released;
    std::vector<PyBlock> blocks;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      parser_->feed(texts[i], final && i + 1 == texts.size());
      for (;;) {
        PyBlock block = take_block(max_rows, max_entries);
        if (block.hungry) break;
        blocks.push_back(std::move(block));
        if (blocks.back().done) return blocks;
      }
    }
    if (ends && parser_->lines_read() > line_) blocks.push_back(hand_over(parser_->flush()));
    return blocks;
  }

  std::int64_t lines_read() const { return parser_->lines_read(); }
  bool settled() const { return parser_->settled(); }
  std::vector<std::string> unmet_fields() const { return parser_->unmet_fields(); }

 private:
  PyParser(const std::string& format, const AllOptions& options)
      : format_(format), options_(options), parser_(make_parser(format, options)) {}

  PyBlock take_block(std::size_t max_rows, std::size_t max_entries) {
    Block block;
    if (!parser_->has_spare() && spares_->take(block)) parser_->recycle(std::move(block));
    return hand_over(parser_->take(max_rows, max_entries));
  }

  PyBlock hand_over(Block&& block) {
    if (!block.hungry) line_ = block.line;
    return {std::move(block), spares_};
  }

  // One call at a time: the parser reads without the interpreter's lock.
  class Turn {
   public:
    explicit Turn(std::atomic_flag& busy) : busy_(busy) {
      if (busy_.test_and_set()) throw std::logic_error("the parser is in use by another thread");
    }
    ~Turn() { busy_.clear(); }

   private:
    std::atomic_flag& busy_;
  };

  class View {
   public:
    explicit View(const nb::object& from) {
      if (PyObject_GetBuffer(from.ptr(), &view_, PyBUF_SIMPLE) != 0) nb::raise_python_error();
    }
    ~View() { PyBuffer_Release(&view_); }
    const char* begin() const { return static_cast<const char*>(view_.buf); }
    std::ptrdiff_t size() const { return view_.len; }

   private:
    Py_buffer view_;
  };

  std::string format_;
  AllOptions options_;
  std::unique_ptr<Parser> parser_;
  std::shared_ptr<Spares> spares_ = std::make_shared<Spares>();
  nb::object held_;
  std::vector<char> copy_;
  std::atomic_flag busy_;
  std::int64_t line_ = 0;  // where the last block ends
};

// An array of the block's own memory, which keeps the block alive.
template <class T, class U = T>
nb::object array(nb::handle block, const Buffer<U>& buffer) {
  static_assert(sizeof(T) == sizeof(U));
  void* data = const_cast<void*>(static_cast<const void*>(buffer.data()));
  return nb::cast(Out<T>(data, {buffer.size()}, block));
}

nb::object list_of(const Strings& strings) {
  nb::list out;
  for (std::size_t i = 0; i < strings.size(); ++i)
    out.append(nb::bytes(strings[i].data(), strings[i].size()));
  return out;
}

nb::tuple tuple_of(const Trouble& t) {
  return nb::make_tuple(t.line, t.column, t.code, t.message,
                        nb::bytes(t.excerpt.data(), t.excerpt.size()));
}

template <class Values, class Names>
nb::dict dict_of(const Values& values, const Names& names, bool zeros) {
  nb::dict out;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (zeros || values[i] != 0) out[names[i]] = values[i];
  return out;
}

const Block& block_of(nb::handle self) { return *nb::inst_ptr<PyBlock>(self); }

void bind_arrays(nb::class_<PyBlock>& c) {
  c.def_prop_ro("indptr",
                [](nb::handle self) { return array<std::int64_t>(self, block_of(self).indptr); });
  c.def_prop_ro("keys",
                [](nb::handle self) { return array<std::uint64_t>(self, block_of(self).keys); });
  c.def_prop_ro("values",
                [](nb::handle self) { return array<float>(self, block_of(self).values); });
  c.def_prop_ro("labels", [](nb::handle self) -> nb::object {
    const Block& b = block_of(self);
    return b.labelled && b.label_kind != LabelKind::name ? array<double>(self, b.labels)
                                                         : nb::none();
  });
  c.def_prop_ro("weights", [](nb::handle self) -> nb::object {
    const Block& b = block_of(self);
    return b.weighted ? array<double>(self, b.weights) : nb::none();
  });
  c.def_prop_ro("name_data", [](nb::handle self) -> nb::object {
    const Block& b = block_of(self);
    return b.named ? array<std::uint8_t>(self, b.names.data) : nb::none();
  });
  c.def_prop_ro("name_offsets", [](nb::handle self) -> nb::object {
    const Block& b = block_of(self);
    return b.named ? array<std::uint64_t>(self, b.names.offsets) : nb::none();
  });
  c.def_prop_ro("line_of_row", [](nb::handle self) {
    return array<std::int64_t>(self, block_of(self).line_of_row);
  });
}

void bind_rest(nb::class_<PyBlock>& c) {
  c.def_prop_ro("label_names", [](const PyBlock& b) -> nb::object {
    return b.labelled && b.label_kind == LabelKind::name ? list_of(b.label_names) : nb::none();
  });
  c.def_prop_ro("tags", [](const PyBlock& b) -> nb::object {
    return b.tagged ? list_of(b.tags) : nb::none();
  });
  c.def_prop_ro("errors", [](const PyBlock& b) {
    nb::list out;
    for (const Trouble& t : b.errors) out.append(tuple_of(t));
    return out;
  });
  c.def_prop_ro("fatal", [](const PyBlock& b) -> nb::object {
    return b.fatal ? nb::object(tuple_of(*b.fatal)) : nb::none();
  });
  c.def_prop_ro("counts", [](const PyBlock& b) { return dict_of(b.counts, count_names, true); });
  c.def_prop_ro("warnings",
                [](const PyBlock& b) { return dict_of(b.warnings, warning_names, false); });
  c.def_prop_ro("byte", [](const PyBlock& b) { return b.byte; });
  c.def_prop_ro("line", [](const PyBlock& b) { return b.line; });
  c.def_prop_ro("hungry", [](const PyBlock& b) { return b.hungry; });
  c.def_prop_ro("done", [](const PyBlock& b) { return b.done; });
  c.def("__len__", [](const PyBlock& b) { return b.rows(); });
}

// Where a number of lines ends that begin at `start`, and how many there are up to there.
nb::tuple end_of_lines(const nb::bytes& chunk, std::size_t start, std::size_t lines) {
  const std::string_view text(chunk.c_str(), chunk.size());
  std::size_t found = 0;
  {
    const nb::gil_scoped_release released;
    for (; found < lines; ++found) {
      const std::size_t newline = text.find('\n', start);
      if (newline == text.npos) break;
      start = newline + 1;
    }
  }
  return nb::make_tuple(found < lines ? text.size() : start, found);
}

}  // namespace

void bind_parse(nb::module_& m) {
  nb::class_<PyBlock> block(m, "Block");
  bind_arrays(block);
  bind_rest(block);
  nb::class_<PyParser>(m, "Parser")
      .def(nb::init<const std::string&, const nb::kwargs&>(), nb::arg("format"), nb::arg("options"))
      .def("feed", &PyParser::feed, nb::arg("chunk"), nb::arg("final"))
      .def("take", &PyParser::take, nb::arg("max_rows"), nb::arg("max_entries"))
      .def("read", &PyParser::read, nb::arg("parts"), nb::arg("final"), nb::arg("ends"),
           nb::arg("max_rows"), nb::arg("max_entries"))
      .def("twin", &PyParser::twin)
      .def("start_at", &PyParser::start_at, nb::arg("byte"), nb::arg("line"))
      .def_prop_ro("settled", &PyParser::settled)
      .def_prop_ro("lines_read", &PyParser::lines_read)
      .def_prop_ro("unmet_fields", &PyParser::unmet_fields);
  m.def("end_of_lines", &end_of_lines, nb::arg("chunk"), nb::arg("start"), nb::arg("lines"));
}
