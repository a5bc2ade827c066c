// A recipe from the first bytes, trained on the rest of them as VW or svmlight: weights and
// predictions stay finite or training says that it diverged, and chunks do not matter.
#include "check.hpp"
#include "learners.hpp"

namespace {

using bear::Learner;
using bear::Recipe;
using bear::parse::Block;
using bear::parse::testing::Chunks;

constexpr std::size_t batch_rows = 8, chunk_bytes = 7;

Recipe make_recipe(bear::testing::Source& source, bool named) {
  Recipe recipe = bear::testing::make_recipe(source);
  if (named && recipe.storage == Recipe::StorageKind::dense) {
    recipe.storage = Recipe::StorageKind::sketch;  // hashed keys have no place in an array
  }
  return recipe;
}

// Labels as the loss takes them.
std::vector<double> labels_of(const Block& block, const Learner& learner) {
  std::vector<double> labels(block.labels.begin(), block.labels.end());
  const auto classes = static_cast<double>(std::max<std::size_t>(learner.classes(), 2));
  for (double& label : labels) {
    if (std::isnan(label)) label = 0;
    if (learner.recipe().loss != Recipe::LossKind::squared) {
      label = std::fmod(std::floor(std::abs(label)), classes);
    }
  }
  return labels;
}

bool learn(Learner& learner, const Block& block) {
  const std::vector<double> labels = labels_of(block, learner);
  bear::BatchView batch;
  batch.indptr = {block.indptr.begin(), block.indptr.size()};
  batch.keys = {block.keys.begin(), block.keys.size()};
  batch.values = {block.values.begin(), block.values.size()};
  batch.labels = labels;
  batch.weights = {block.weights.begin(), block.weights.size()};
  if (block.named) {
    batch.name_data = block.names.data.data();
    batch.name_bytes = block.names.data.size();
    batch.name_offsets = {block.names.offsets.begin(), block.names.offsets.size()};
  }
  std::vector<double> margins(labels.size() * learner.classes());
  bool sound = true;
  try {
    learner.learn(batch, margins);
  } catch (const bear::Diverged&) {
    sound = false;
  }
  bear::testing::check_finite(learner);
  learner.predict(batch, false, margins);
  for (const double margin : margins) require(std::isfinite(margin), "predictions are finite");
  return sound;
}

// Whether all was learned before it diverged.
bool train(Learner& learner, const char* format, const Chunks& chunks, bool recycled) {
  const auto parser =
      bear::parse::make_parser(format, bear::parse::testing::fuzz_options(recycled));
  bool sound = true;
  bear::parse::testing::each_block(
      *parser, chunks, batch_rows, 1000, recycled,
      [&](const Block& block) { sound = sound && learn(learner, block); });
  return sound;
}

Chunks cut(std::string_view text) {
  Chunks chunks;
  for (std::size_t at = 0; at < text.size(); at += chunk_bytes) {
    chunks.push_back(text.substr(at, chunk_bytes));
  }
  return chunks;
}

void check(bear::testing::Source& source) {
  const std::uint8_t kind = source.byte();
  const bool named = kind % 2 == 0, recycled = kind / 2 % 2 == 1;
  const Recipe recipe = make_recipe(source, named);
  Learner first(recipe), second(recipe);
  const char* format = named ? "vw" : "svmlight";
  const bool sound = train(first, format, {source.rest()}, recycled);
  require(train(second, format, cut(source.rest()), recycled) == sound, "chunks do not matter");
  require(bear::testing::weights_of(first) == bear::testing::weights_of(second),
          "the same weights from any chunks");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  bear::testing::Source source(data, size);
  try {
    check(source);
  } catch (const std::invalid_argument&) {
    // Parts that do not go together, or an id beyond the array: refused by name.
  }
  return 0;
}
