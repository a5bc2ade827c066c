#include "bear/evidence/order_check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "bear/evidence/copies.hpp"
#include "helpers.hpp"

using namespace bear;
using namespace bear::evidence;

namespace {

OrderCheck check_of(const std::vector<double>& labels, std::size_t b = 20) {
  OrderCheck check;
  std::vector<std::uint8_t> ones;
  for (std::size_t start = 0; start + b <= labels.size(); start += b) {
    mark_ones(std::span(labels).subspan(start, b), false, ones);
    check.add(ones);
  }
  return check;
}

std::vector<double> labels_of(std::size_t n, const auto& share, std::uint64_t seed = 1) {
  test::Random random(seed);
  std::vector<double> labels;
  for (std::size_t i = 0; i < n; ++i) labels.push_back(random.uniform() < share(i) ? 1.0 : 0.0);
  return labels;
}

constexpr double kWarn = 2.995732273553991;  // log 20

}  // namespace

TEST_CASE("the e-value of the order has mean 1 over all orders of the labels") {
  OrderCheck before;
  before.restore(std::vector<double>{0.0, 30.0, 40.0, 100.0, 5.0, 0.0});  // it bets
  for (std::size_t b = 2; b <= 8; ++b) {
    for (std::size_t count = 1; count < b; ++count) {
      std::vector<std::uint8_t> ones(b, 0);
      std::fill(ones.end() - static_cast<std::ptrdiff_t>(count), ones.end(), std::uint8_t{1});
      double sum = 0.0, over = 0.0, squares = 0.0, ways = 0.0, variance = 0.0;
      do {
        OrderCheck after = before;
        after.add(ones);
        sum += std::exp(after.log_e());
        over += after.numbers()[1] - 30.0;
        squares += std::pow(after.numbers()[1] - 30.0, 2);
        variance = after.numbers()[2] - 40.0;
        ways += 1.0;
      } while (std::next_permutation(ones.begin(), ones.end()));
      CHECK(sum / ways == doctest::Approx(1.0).epsilon(1e-12));
      CHECK(std::abs(over / ways) < 1e-12);
      CHECK(squares / ways == doctest::Approx(variance).epsilon(1e-12));
    }
  }
}

TEST_CASE("rows that belong together are noticed, drift and rare labels are not") {
  test::Random random(3);
  std::vector<double> users;
  for (int u = 0; u < 4000; ++u) users.push_back(random.below(2) == 0 ? 0.1 : 0.9);
  const auto each_five_times = [&] {
    std::vector<double> labels;
    for (const double label : labels_of(4000, [](auto) { return 0.5; })) {
      labels.insert(labels.end(), 5, label);
    }
    return labels;
  }();
  for (const auto& labels :
       {each_five_times, labels_of(20000, [&](std::size_t i) { return users[i / 10]; }),
        labels_of(12000, [&](std::size_t i) { return users[i / 3]; })}) {
    const OrderCheck check = check_of(labels);
    CHECK(check.log_e() > kWarn);
    CHECK(check.excess() > 0.02);
  }
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (const auto& labels :
         {labels_of(
              20000, [](auto) { return 0.5; }, seed),
          labels_of(
              20000, [](auto) { return 0.03; }, seed),
          labels_of(
              20000, [](std::size_t i) { return 0.1 + 4e-5 * static_cast<double>(i); }, seed),
          labels_of(20000, [&](std::size_t i) { return i / 100 % 2 == 0 ? 0.3 : 0.7; }, seed)}) {
      const OrderCheck check = check_of(labels);
      CHECK(check.log_e() < kWarn);
      CHECK(check.one_label() < 0.9);
    }
  }
}

TEST_CASE("sorted labels are minibatches of one label") {
  auto labels = labels_of(20000, [](auto) { return 0.5; });
  std::sort(labels.begin(), labels.end());
  CHECK(check_of(labels).one_label() > 0.99);
}

TEST_CASE("labels become ones: the most frequent, or the upper half of numbers") {
  std::vector<std::uint8_t> ones;
  mark_ones(std::vector<double>{2, 0, 2, 1}, false, ones);
  CHECK(ones == std::vector<std::uint8_t>{1, 0, 1, 0});
  mark_ones(std::vector<double>{3, 3, 1, 1}, false, ones);
  CHECK(ones == std::vector<std::uint8_t>{0, 0, 1, 1});
  mark_ones(std::vector<double>{.5, -2, 7, 1}, true, ones);
  CHECK(ones == std::vector<std::uint8_t>{0, 0, 1, 1});
  mark_ones(std::vector<double>{0, 0, 7, 0}, true, ones);
  CHECK(ones == std::vector<std::uint8_t>{0, 0, 1, 0});
}

TEST_CASE("copies are counted among the rows with the smallest hashes, from the first one on") {
  test::Random random(7);
  Copies copies;
  std::vector<std::uint64_t> all;
  for (int i = 0; i < 5000; ++i) {
    all.push_back(i % 4 == 3 ? all[random.below(all.size())] : random.next());
    copies.add(all.back());
  }
  std::vector<std::uint64_t> distinct = all;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  REQUIRE(copies.hashes().size() == Copies::kKept);
  for (std::size_t i = 0; i < Copies::kKept; ++i) {
    CHECK(copies.hashes()[i] == distinct[i]);
    CHECK(static_cast<std::ptrdiff_t>(copies.counts()[i]) ==
          std::count(all.begin(), all.end(), distinct[i]));
  }
}
