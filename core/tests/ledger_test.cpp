#include "bear/evidence/ledger.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "bear/evidence/gain.hpp"
#include "bear/evidence/levels.hpp"
#include "bear/selection.hpp"
#include "helpers.hpp"

using namespace bear;
using namespace bear::evidence;

namespace {

constexpr double kBets[] = {-1.5, -0.1, 0.0, 0.1, 1.5};

// Mean over all ways to choose n of b rows.
template <class Value>
double mean_over_subsets(std::size_t b, std::size_t n, Value value) {
  double sum = 0.0, ways = 0.0;
  for (unsigned set = 0; set < 1U << b; ++set) {
    if (static_cast<std::size_t>(std::popcount(set)) != n) continue;
    sum += value(set);
    ways += 1.0;
  }
  return sum / ways;
}

double sum_of_ranks(unsigned set, std::size_t b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < b; ++i) sum += (set >> i & 1U) != 0 ? static_cast<double>(i) : 0.0;
  return sum;
}

std::size_t positive_in(unsigned set, std::size_t positive) {
  return static_cast<std::size_t>(std::popcount(set & ((1U << positive) - 1)));
}

// Selection and ledger side by side: features enter with the weights they are given.
struct Bench {
  Bench(std::size_t heaps, std::size_t k, std::uint64_t seed)
      : selection(k, heaps, heaps > 1, Precision::float64),
        ledger(heaps, k, heaps > 1 ? heaps : 2, Ledger::Score::labels, seed) {}

  void take_in(std::size_t heap, Key key) {
    TopK& top = selection.top(heap);
    if (top.find(key) >= 0) return;
    if (top.full()) {
      top.least();
      top.remove_front();
    }
    const double weight = 1.0;
    top.insert(key, {&weight, 1}, "");
  }

  Selection selection;
  Ledger ledger;
};

struct Stream {
  std::vector<double> labels;
  std::vector<Occurrence> occurrences;
  Rows rows() const { return {labels, {}, {}, {}, {}}; }
};

// One minibatch in which every selected feature is present in some rows.
Stream random_minibatch(test::Random& random, const Bench& bench, std::size_t b, bool follows) {
  Stream stream;
  for (std::size_t i = 0; i < b; ++i) stream.labels.push_back(static_cast<double>(random.below(2)));
  for (std::uint32_t g = 0; g < bench.ledger.records().size(); ++g) {
    const auto& records = bench.ledger.records()[g];
    for (std::uint32_t slot = 0; slot < records.size(); ++slot) {
      for (std::uint32_t i = 0; i < b; ++i) {
        const double share = follows && slot == 0 ? 0.1 + 0.8 * stream.labels[i] : 0.5;
        if (random.uniform() < share) stream.occurrences.push_back({g, slot, i, 1.0F});
      }
    }
  }
  return stream;
}

double staked(const Ledger& ledger) {
  double sum = 0.0;
  for (const auto& heap : ledger.records()) {
    for (const Record& record : heap) sum += record.live ? static_cast<double>(record.stake) : 0.0;
  }
  return sum;
}

}  // namespace

TEST_CASE("gains of labels have mean 1 over all ways to place a feature") {
  for (std::size_t b = 2; b <= 8; ++b) {
    for (std::size_t positive = 0; positive <= b; ++positive) {
      for (std::size_t n = 0; n <= b; ++n) {
        for (const double bet : kBets) {
          const auto gain = [&](unsigned set) {
            return std::exp(
                gain_of_labels(b, positive, n, positive_in(set, positive), bet).log_gain);
          };
          CHECK(mean_over_subsets(b, n, gain) == doctest::Approx(1.0).epsilon(1e-12));
        }
      }
    }
  }
}

TEST_CASE("gains of ranks have mean 1 over all ways to place a feature") {
  for (std::size_t b = 2; b <= 8; ++b) {
    for (std::size_t n = 0; n <= b; ++n) {
      for (const double bet : kBets) {
        const auto gain = [&](unsigned set) {
          return std::exp(gain_of_ranks(b, n, sum_of_ranks(set, b), bet).log_gain);
        };
        CHECK(mean_over_subsets(b, n, gain) == doctest::Approx(1.0).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("shifts and variances are those of a random placement") {
  const std::size_t b = 7, positive = 3;
  for (std::size_t n = 1; n < b; ++n) {
    const auto label = [&](unsigned set) {
      return gain_of_labels(b, positive, n, positive_in(set, positive), 0.0);
    };
    const auto rank = [&](unsigned set) { return gain_of_ranks(b, n, sum_of_ranks(set, b), 0.0); };
    CHECK(std::abs(mean_over_subsets(b, n, [&](unsigned s) { return label(s).shift; })) < 1e-14);
    CHECK(std::abs(mean_over_subsets(b, n, [&](unsigned s) { return rank(s).shift; })) < 1e-14);
    CHECK(mean_over_subsets(b, n, [&](unsigned s) { return std::pow(label(s).shift, 2); }) ==
          doctest::Approx(label(0).variance).epsilon(1e-12));
    CHECK(mean_over_subsets(b, n, [&](unsigned s) { return std::pow(rank(s).shift, 2); }) ==
          doctest::Approx(rank(0).variance).epsilon(1e-12));
  }
}

TEST_CASE("what is certain gains exactly nothing") {
  for (const double bet : kBets) {
    CHECK(gain_of_labels(8, 0, 3, 0, bet).log_gain == 0.0);
    CHECK(gain_of_labels(8, 8, 3, 3, bet).log_gain == 0.0);
    CHECK(gain_of_labels(8, 4, 8, 4, bet).log_gain == 0.0);
    CHECK(gain_of_labels(8, 4, 0, 0, bet).log_gain == 0.0);
    CHECK(gain_of_labels(1, 1, 1, 1, bet).variance == 0.0);
    CHECK(gain_of_ranks(8, 8, 28.0, bet).log_gain == 0.0);
    CHECK(gain_of_ranks(8, 0, 0.0, bet).log_gain == 0.0);
    CHECK(gain_of_ranks(1, 1, 0.0, bet).variance == 0.0);
  }
}

TEST_CASE("large minibatches stay finite, and agree with the normal limit") {
  for (const std::size_t b : {200U, 5000U, 200000U}) {
    for (const double bet : {-1.5, 1.5}) {
      const double labels = log_mean_of_labels(b, b / 2, b / 2, bet);
      CHECK(std::isfinite(labels));
      CHECK(labels > bet * static_cast<double>(b) / 4);
      CHECK(std::isfinite(log_mean_of_ranks(b, b / 2, bet / static_cast<double>(b))));
    }
    const double small = 0.01 / std::sqrt(static_cast<double>(b));
    const double variance = gain_of_labels(b, b / 2, b / 2, b / 4, 0.0).variance;
    const double centred =
        log_mean_of_labels(b, b / 2, b / 2, small) - small * static_cast<double>(b / 4);
    CHECK(centred == doctest::Approx(small * small * variance / 2).epsilon(1e-2));
  }
}

TEST_CASE("no sequence of events lets a set of tests fall below zero, and no stake is lost") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    test::Random random(seed);
    const std::size_t heaps = seed % 3 == 0 ? 2 : 1, k = 1 + random.below(4);
    Bench bench(heaps, k, seed);
    double lost = 0.0;
    std::vector<std::pair<double, double>> stopped;  // stake and log e of tests that are over
    for (int t = 0; t < 80; ++t) {
      const Stream stream = random_minibatch(random, bench, 2 + random.below(12), seed % 2 == 0);
      bench.ledger.draw(stream.rows(), stream.occurrences);
      const auto before = bench.ledger.records();
      for (std::size_t g = 0; g < heaps; ++g) {
        if (random.below(3) == 0) bench.take_in(g, 10 * (g + 1) + random.below(6));
      }
      bench.ledger.follow(bench.selection);
      for (std::size_t g = 0; g < heaps; ++g) {
        for (std::size_t i = 0; i < before[g].size(); ++i) {
          const Record& was = before[g][i];
          if (!was.tested() || bench.ledger.records()[g][i].key == was.key) continue;
          const auto stake = static_cast<double>(was.stake);
          stopped.emplace_back(stake, was.log_e);
          lost += stake * (1.0 - std::exp(std::min(was.log_e, 0.0)));
        }
      }
      REQUIRE(bench.ledger.bank().cash > 0.0);
      REQUIRE(std::abs(bench.ledger.bank().cash + staked(bench.ledger) + lost - 1.0) < 1e-12);
      // The set of least value holds every test that lost.
      double least = 1.0;
      for (const auto& [stake, log_e] : stopped) least += stake * std::min(std::expm1(log_e), 0.0);
      for (const auto& heap : bench.ledger.records()) {
        for (const Record& r : heap) {
          if (r.live && r.tested()) {
            least += static_cast<double>(r.stake) * std::min(std::expm1(r.log_e), 0.0);
          }
        }
      }
      REQUIRE(least > 0.0);
    }
    CHECK(bench.ledger.bank().begun > 0);
  }
}

TEST_CASE("levels are the least at which the closure lists a test, over all sets of true nulls") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    test::Random random(seed);
    const std::size_t n = 1 + random.below(8);
    std::vector<double> log_e, stakes;
    std::vector<std::uint8_t> candidates;
    double bank = 1.0;
    for (std::size_t i = 0; i < n; ++i) {
      log_e.push_back(3.0 * random.normal() + 2.0);
      stakes.push_back(random.below(5) == 0 ? 0.0 : bank / 8.0);
      bank -= stakes.back();
      candidates.push_back(random.below(4) != 0);
    }
    bank *= 0.2 + 0.8 * random.uniform();  // some was lost
    const auto value = [&](std::size_t i) { return stakes[i] * std::expm1(log_e[i]); };
    double held = bank;
    for (const double stake : stakes) held += stake;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < n; ++i) {
      if (stakes[i] > 0.0 && log_e[i] > 0.0 && candidates[i] != 0) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return value(a) > value(b); });
    std::vector<double> expected(n, 1.0);
    for (std::size_t length = 1; length <= order.size(); ++length) {
      double level = 0.0;
      for (unsigned nulls = 0; nulls < 1U << n; ++nulls) {
        double sum = held, shared = 0.0;
        for (std::size_t i = 0; i < n; ++i) sum += (nulls >> i & 1U) != 0 ? value(i) : 0.0;
        for (std::size_t i = 0; i < length; ++i)
          shared += (nulls >> order[i] & 1U) != 0 ? 1.0 : 0.0;
        level = std::max(level, shared / static_cast<double>(length) / sum);
      }
      for (std::size_t i = 0; i < length; ++i) {
        expected[order[i]] = std::min(expected[order[i]], level);
      }
    }
    const auto found = levels(log_e, stakes, bank, candidates);
    for (std::size_t i = 0; i < n; ++i) CHECK(found[i] == doctest::Approx(expected[i]));
    std::vector<std::uint8_t> none(n, 0);
    for (const double level : levels(log_e, stakes, bank, none)) CHECK(level == 1.0);
  }
}

TEST_CASE("a huge e has a level, and the best is listed first") {
  const std::vector<double> log_e = {5000.0, 20.0, 4000.0}, stakes = {0.1, 0.1, 0.1};
  const std::vector<std::uint8_t> all = {1, 1, 1};
  const auto found = levels(log_e, stakes, 0.7, all);
  CHECK(found[0] <= found[2]);
  CHECK(found[2] <= found[1]);
  CHECK(found[1] < 1e-5);
}

TEST_CASE("a feature that a minibatch evicts has taken the gain of that minibatch") {
  Bench bench(1, 1, 3);
  bench.take_in(0, 7);
  bench.ledger.follow(bench.selection);
  const std::vector<double> labels = {1, 1, 1, 1, 0, 0, 0, 0};
  const auto with = [](std::initializer_list<std::uint32_t> rows) {
    std::vector<Occurrence> found;
    for (const std::uint32_t row : rows) found.push_back({0, 0, row, 1.0F});
    return found;
  };
  const Rows rows{labels, {}, {}, {}, {}};
  while (!bench.ledger.records()[0][0].tested()) {
    bench.ledger.draw(rows, with({0, 1, 2}));
    bench.ledger.follow(bench.selection);
  }
  const double stake = bench.ledger.records()[0][0].stake, before = bench.ledger.bank().cash;
  bench.ledger.draw(rows, with({4, 5, 6, 7}));  // speaks against it
  const double log_e = bench.ledger.records()[0][0].log_e;
  CHECK(log_e < -1.0);
  bench.take_in(0, 8);
  bench.ledger.follow(bench.selection);
  CHECK(bench.ledger.bank().cash == doctest::Approx(before + stake * std::exp(log_e)));
  CHECK_FALSE(bench.ledger.records()[0][0].tested());
}

TEST_CASE("the order of rows inside a minibatch changes nothing") {
  for (const bool several : {false, true}) {
    Bench one(several ? 2 : 1, 4, 5), other(several ? 2 : 1, 4, 5);
    test::Random random(5);
    for (Bench* bench : {&one, &other}) {
      for (std::size_t g = 0; g < bench->ledger.records().size(); ++g) {
        for (Key key = 1; key <= 4; ++key) bench->take_in(g, key);
      }
      bench->ledger.follow(bench->selection);
    }
    for (int t = 0; t < 40; ++t) {
      const Stream stream = random_minibatch(random, one, 10, true);
      Stream turned = stream;
      std::reverse(turned.labels.begin(), turned.labels.end());
      for (Occurrence& occurrence : turned.occurrences) occurrence.row = 9 - occurrence.row;
      std::stable_sort(turned.occurrences.begin(), turned.occurrences.end(),
                       [](const Occurrence& a, const Occurrence& b) {
                         return std::tuple(a.heap, a.slot, a.row) <
                                std::tuple(b.heap, b.slot, b.row);
                       });
      one.ledger.draw(stream.rows(), stream.occurrences);
      other.ledger.draw(turned.rows(), turned.occurrences);
      one.ledger.follow(one.selection);
      other.ledger.follow(other.selection);
      CHECK(one.ledger.bank().cash == other.ledger.bank().cash);
      for (std::size_t g = 0; g < one.ledger.records().size(); ++g) {
        for (std::size_t i = 0; i < one.ledger.records()[g].size(); ++i) {
          CHECK(one.ledger.records()[g][i].log_e == other.ledger.records()[g][i].log_e);
          CHECK(one.ledger.records()[g][i].stake == other.ledger.records()[g][i].stake);
        }
      }
    }
  }
}

TEST_CASE("rows of weight 0 are no rows, and strata of one row say nothing") {
  Bench plain(1, 1, 1), weighed(1, 1, 1), alone(1, 1, 1);
  for (Bench* bench : {&plain, &weighed, &alone}) {
    bench->take_in(0, 7);
    bench->ledger.follow(bench->selection);
  }
  const std::vector<double> labels = {1, 1, 0, 0}, more = {0, 1, 1, 1, 0, 0},
                            weights = {0, 1, 2, 0, 1, 1};
  const std::vector<std::uint64_t> strata = {4, 3, 2, 1};
  for (int t = 0; t < 10; ++t) {
    plain.ledger.draw({labels, {}, {}, {}, {}},
                      std::vector<Occurrence>{{0, 0, 0, 1}, {0, 0, 1, 1}});
    weighed.ledger.draw(
        {more, weights, {}, {}, {}},
        std::vector<Occurrence>{{0, 0, 0, 1}, {0, 0, 1, 1}, {0, 0, 2, 1}, {0, 0, 3, 1}});
    alone.ledger.draw({labels, {}, strata, {}, {}},
                      std::vector<Occurrence>{{0, 0, 0, 1}, {0, 0, 1, 1}});
    for (Bench* bench : {&plain, &weighed, &alone}) bench->ledger.follow(bench->selection);
  }
  const Record &a = plain.ledger.records()[0][0], &b = weighed.ledger.records()[0][0],
               &c = alone.ledger.records()[0][0];
  CHECK(a.log_e > 5.0);
  CHECK(a.log_e == b.log_e);
  CHECK(a.rows == b.rows);
  CHECK(c.log_e == 0.0);
  CHECK(c.variance == 0.0F);
  CHECK(alone.ledger.count().small == 40);
}

TEST_CASE("a confounder is no evidence within its strata") {
  Bench plain(1, 1, 1), adjusted(1, 1, 1);
  for (Bench* bench : {&plain, &adjusted}) {
    bench->take_in(0, 7);
    bench->ledger.follow(bench->selection);
  }
  test::Random random(9);
  for (int t = 0; t < 300; ++t) {
    std::vector<double> labels;
    std::vector<std::uint64_t> sites;
    std::vector<Occurrence> found;
    for (std::uint32_t i = 0; i < 20; ++i) {
      sites.push_back(random.below(2));
      const double share = sites.back() == 1 ? 0.8 : 0.2;
      labels.push_back(random.uniform() < share ? 1.0 : 0.0);
      if (random.uniform() < share) found.push_back({0, 0, i, 1.0F});
    }
    plain.ledger.draw({labels, {}, {}, {}, {}}, found);
    adjusted.ledger.draw({labels, {}, sites, {}, {}}, found);
    plain.ledger.follow(plain.selection);
    adjusted.ledger.follow(adjusted.selection);
  }
  CHECK(plain.ledger.records()[0][0].log_e > 50.0);
  CHECK(adjusted.ledger.records()[0][0].log_e < 3.0);
}

TEST_CASE("numbers: a column that every row has is split at its mean so far, by ranks") {
  Selection selection(2, 1, false, Precision::float64);
  const double weight = 1.0;
  selection.top(0).insert(1, {&weight, 1}, "");
  selection.top(0).insert(2, {&weight, 1}, "");
  Ledger ledger(1, 2, 1, Ledger::Score::ranks, 0);
  ledger.follow(selection);
  test::Random random(4);
  for (int t = 0; t < 100; ++t) {
    std::vector<double> labels;
    std::vector<Occurrence> with, noise;
    for (std::uint32_t i = 0; i < 20; ++i) {
      const double x = random.normal();
      labels.push_back(x + random.normal());
      with.push_back({0, 0, i, static_cast<float>(x + 10.0)});
      noise.push_back({0, 1, i, static_cast<float>(random.normal())});
    }
    with.insert(with.end(), noise.begin(), noise.end());
    ledger.draw({labels, {}, {}, {}, {}}, with);
    ledger.follow(selection);
  }
  const Record &related = ledger.records()[0][0], &unrelated = ledger.records()[0][1];
  CHECK(related.mean == doctest::Approx(10.0).epsilon(0.02));
  CHECK(related.log_e > 50.0);
  CHECK(related.shift / related.variance > 0.5F);
  CHECK(unrelated.log_e < 4.0);
}

TEST_CASE("a frozen ledger draws nothing, and what enters is not tested") {
  Bench bench(1, 2, 1);
  bench.take_in(0, 7);
  bench.ledger.follow(bench.selection);
  const std::vector<double> labels = {1, 1, 0, 0};
  const std::vector<Occurrence> found = {{0, 0, 0, 1}, {0, 0, 1, 1}};
  for (int t = 0; t < 10; ++t) {
    bench.ledger.draw({labels, {}, {}, {}, {}}, found);
    bench.ledger.follow(bench.selection);
  }
  const double log_e = bench.ledger.records()[0][0].log_e;
  bench.ledger.freeze(true);
  bench.take_in(0, 8);
  bench.ledger.follow(bench.selection);
  for (int t = 0; t < 10; ++t) {
    bench.ledger.draw({labels, {}, {}, {}, {}}, found);
    bench.ledger.follow(bench.selection);
  }
  CHECK(bench.ledger.records()[0][0].log_e == log_e);
  CHECK_FALSE(bench.ledger.records()[0][1].tested());
  CHECK(bench.ledger.count().later == 40);
  CHECK(bench.ledger.count().rows == 40);
}

TEST_CASE("samples hold the rows with the smallest hashes, and the places of the first") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::Random random(seed);
    Sample sample;
    std::vector<std::uint64_t> rows;
    for (std::uint64_t row = seed << 32; row < (seed << 32) + 500; ++row) {
      if (random.below(4) != 0) continue;
      rows.push_back(row);
      sample.add(row, Sample::hash(row), 1000 + row);
      std::vector<std::uint64_t> sorted = rows;
      std::sort(sorted.begin(), sorted.end(),
                [&](auto a, auto b) { return sample.hash(a) < sample.hash(b); });
      sorted.resize(std::min<std::size_t>(sorted.size(), Sample::kRows));
      REQUIRE(std::equal(sorted.begin(), sorted.end(), sample.rows.begin()));
      REQUIRE(sample.size == sorted.size());
      for (std::size_t i = 0; i < std::min<std::size_t>(sorted.size(), Sample::kPlaced); ++i) {
        REQUIRE(sample.places[i] == 1000 + sorted[i]);
      }
    }
  }
}
