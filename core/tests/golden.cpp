// Learns fixed data with every part of the core, and prints what came out as one digest a line: for
// `make portability`, which runs it on every machine it can and compares with golden.txt.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "bear/learner.hpp"
#include "bear/math.hpp"
#include "bear/parse/formats.hpp"
#include "helpers.hpp"

using namespace bear;

namespace {

constexpr std::size_t kRows = 3000, kPool = 5000, kClasses = 5;

// FNV-1a over the bytes of numbers, the lowest first.
class Digest {
 public:
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) byte(number >> shift & 0xff);
  }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(ConstReals numbers) {
    for (const double number : numbers) add(number);
  }
  void add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
    byte(0);
  }
  void print(const std::string& name) const {
    std::printf("%s %08lx%08lx\n", name.c_str(), static_cast<unsigned long>(hash_ >> 32),
                static_cast<unsigned long>(hash_ & 0xffffffffU));
  }

 private:
  void byte(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3ULL; }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

// Small feature numbers far more often, values in quarters, labels by planted weights and noise.
test::Rows make_rows(Recipe::LossKind loss) {
  test::Random random(7);
  test::Rows rows;
  for (std::size_t i = 0; i < kRows; ++i) {
    std::vector<std::pair<Key, float>> entries;
    const std::size_t n = 3 + random.below(12);
    int score = static_cast<int>(random.below(5)) - 2;
    while (entries.size() < n) {
      const Key key = random.below(kPool) * random.below(kPool) / kPool;
      const auto quarters = static_cast<int>(1 + random.below(7));
      if (std::any_of(entries.begin(), entries.end(), [&](auto& e) { return e.first == key; })) {
        continue;
      }
      entries.emplace_back(key, static_cast<float>(quarters) / 4.0F);
      if (key < 8 || key % 25 == 3) score += key % 2 == 1 ? quarters : -quarters;
    }
    std::sort(entries.begin(), entries.end());
    double label = score > 0 ? 1.0 : 0.0;
    if (loss == Recipe::LossKind::squared) label = score / 8.0;
    if (loss == Recipe::LossKind::softmax)
      label = static_cast<double>(std::abs(score) % static_cast<int>(kClasses));
    rows.row(entries, label);
  }
  return rows;
}

void learn(const std::string& name, Recipe recipe) {
  const test::Rows rows = make_rows(recipe.loss);
  recipe.classes = kClasses;
  recipe.seed = 12345678901ULL;  // more than 32 bits
  Learner learner(recipe);
  const BatchView batch = rows.view();
  std::vector<double> margins(kRows * learner.classes());
  Digest found;
  for (std::size_t start = 0; start < kRows; start += 500) {
    learner.learn(batch.rows(start, start + 500),
                  Reals(margins).subspan(start * learner.classes(), 500 * learner.classes()));
  }
  learner.finish_pass();
  found.add(margins);
  for (const bool selected_only : {false, true}) {
    learner.predict(batch, selected_only, margins);
    found.add(margins);
    learner.loss().predict(margins);
    found.add(margins);
  }
  std::vector<Key> keys(kPool);
  for (std::size_t i = 0; i < kPool; ++i) keys[i] = i;
  std::vector<double> weights(kPool * learner.classes());
  learner.query(keys, weights);
  found.add(weights);
  found.add(learner.intercept());
  for (std::size_t group = 0; group < learner.selection().groups(); ++group) {
    const TopK& top = learner.selection().top(group);
    for (const std::int32_t slot : top.ranked()) {
      found.add(top.key(slot));
      found.add(top.weights(slot));
    }
  }
  found.print(name);
}

void learn_everything() {
  using Loss = Recipe::LossKind;
  const std::pair<const char*, Loss> losses[] = {
      {"squared", Loss::squared}, {"logistic", Loss::logistic}, {"softmax", Loss::softmax}};
  for (const auto& [name, loss] : losses) {
    Recipe bear_plus = test::posterior_recipe(50);
    bear_plus.width = 512;
    bear_plus.loss = loss;
    learn(std::string("bear+/") + name, bear_plus);

    Recipe bear;
    bear.loss = loss;
    bear.update = Recipe::UpdateKind::lbfgs;
    bear.width = 128;
    bear.depth = 5;
    bear.k = 50;
    bear.intercept = true;
    learn(std::string("bear/") + name, bear);

    Recipe median = bear;
    median.query = Query::median;
    median.precision = Precision::float64;
    learn(std::string("bear of medians/") + name, median);

    Recipe bytes = bear;
    bytes.precision = Precision::int8;
    learn(std::string("bear in bytes/") + name, bytes);

    Recipe mission = bear;
    mission.update = Recipe::UpdateKind::gradient;
    mission.l2 = 1e-3;
    learn(std::string("mission/") + name, mission);

    Recipe awm = mission;
    awm.storage = Recipe::StorageKind::cached_keep;
    awm.depth = 1;
    learn(std::string("awm/") + name, awm);

    Recipe newton = bear;
    newton.update = Recipe::UpdateKind::newton;
    learn(std::string("newton/") + name, newton);

    Recipe dense;
    dense.loss = loss;
    dense.storage = Recipe::StorageKind::dense;
    dense.dimension = kPool;
    dense.step = Recipe::StepKind::decaying;
    dense.intercept = true;
    learn(std::string("sgd/") + name, dense);
  }
}

// Digits, a point or none, an exponent or none.
std::string decimal(test::Random& random) {
  std::string text(random.below(2), '-');
  const std::size_t digits = 1 + random.below(25), point = random.below(30);
  for (std::size_t i = 0; i < digits; ++i) {
    if (i == point) text += '.';
    text += "0123456789"[random.below(10)];
  }
  if (random.below(3) == 0) {
    text += "e" + std::to_string(static_cast<int>(random.below(660)) - 330);
  }
  return text;
}

void read_numbers() {
  test::Random random(11);
  Digest found;
  for (int i = 0; i < 50000; ++i) {
    const std::string text = decimal(random);
    double value = 0.0;
    if (!parse::read_number(text, value)) std::abort();
    found.add(value);
  }
  found.print("numbers");
}

void read_text(const std::string& format, const std::string& text) {
  parse::AllOptions options;
  options.common.seed = 12345678901ULL;
  const auto parser = parse::make_parser(format, options);
  Digest found;
  parser->feed(text, true);
  for (bool done = false; !done;) {
    const parse::Block block = parser->take(1000, 100000);
    for (std::size_t i = 0; i < block.rows(); ++i) {
      found.add(static_cast<std::uint64_t>(block.indptr.data()[i + 1]));
    }
    for (std::size_t i = 0; i < block.keys.size(); ++i) {
      found.add(block.keys.data()[i]);
      found.add(static_cast<double>(block.values.data()[i]));
      if (block.named) found.add(block.names[i]);
    }
    found.add(std::uint64_t{block.errors.size()});
    done = block.done;
  }
  found.print("read " + format);
}

void read_everything() {
  read_numbers();
  test::Random random(13);
  std::string vw, svmlight, text;
  for (int row = 0; row < 2000; ++row) {
    const std::string label = random.below(2) == 1 ? "1" : "-1";
    vw += label + " |w";
    svmlight += label;
    text += "class" + label + "\t";
    std::size_t index = 0;
    for (std::size_t i = 0, n = 1 + random.below(12); i < n; ++i) {
      const std::string word =
          "w" + std::to_string(random.below(3000)) + (i == 3 ? "\xc3\xa9" : "");
      std::string value = std::to_string(random.below(9)) + ".";
      value += std::to_string(random.next());  // a statement of its own: operands have no order
      vw += " " + word + ":" + value;
      index += 1 + random.below(1000);
      svmlight += " " + std::to_string(index) + ":" + value;
      text += word + " ";
    }
    vw += "\n";
    svmlight += "\n";
    text += "\n";
  }
  read_text("vw", vw);
  read_text("svmlight", svmlight);
  read_text("text", text);
}

void calculate() {
  test::Random random(17);
  Digest found;
  for (int i = 0; i < 100000; ++i) {
    const double any = std::bit_cast<double>(random.next()), near = 80.0 * random.uniform() - 40.0;
    for (const double x : {any, near}) {
      for (const double value : {math::exp(x), math::log(x), math::log1p(x)}) {
        if (value == value) found.add(value);
      }
    }
  }
  found.print("exp, log, log1p");
}

}  // namespace

int main() {
  calculate();
  read_everything();
  learn_everything();
}
