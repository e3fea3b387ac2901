#include "krohn/groups/base/record_set.h"
#include "tests/testing.h"

using namespace krohn;

TEST_CASE("a record set is a map from records to their arrival numbers") {
  for (const std::size_t words : {1, 2, 5}) {
    CAPTURE(words);
    std::mt19937_64 random(words);
    RecordSet set(words);
    std::map<std::vector<std::uint32_t>, RecordSet::Index> reference;
    for (int i = 0; i < 30'000; ++i) {
      std::vector<std::uint32_t> record(words);
      for (auto& word : record) word = static_cast<std::uint32_t>(random() % (words == 1 ? 20'000 : 12));
      const auto found = reference.find(record);
      CHECK(set.find(record).has_value() == (found != reference.end()));
      const auto [index, fresh] = set.insert(record);
      REQUIRE(fresh == (found == reference.end()));
      REQUIRE(index == (fresh ? static_cast<RecordSet::Index>(reference.size()) : found->second));
      reference.try_emplace(record, index);
    }
    REQUIRE(set.size() == reference.size());
    for (const auto& [record, index] : reference) {
      REQUIRE(std::equal(record.begin(), record.end(), set[index].begin()));
      REQUIRE(set.find(record) == index);
    }
  }
}

TEST_CASE("records that differ in one bit are apart, and records never move") {
  RecordSet set(3);
  std::vector<std::uint32_t> record{1, 2, 3};
  const std::uint32_t* first = set[set.insert(record).index].data();
  for (std::size_t word = 0; word < 3; ++word)
    for (unsigned bit = 0; bit < 32; ++bit) {
      record[word] ^= 1U << bit;
      CHECK(set.insert(record).fresh);
      record[word] ^= 1U << bit;
    }
  for (std::uint32_t i = 0; i < 100'000; ++i) set.insert(std::vector<std::uint32_t>{i, i, i});
  CHECK(set[0].data() == first);
  CHECK(set.bytes() <= set.size() * (3 * 4 + 16) + (3 * 4 << 12));
}

TEST_CASE("a record has at least one word") { CHECK_THROWS_AS(RecordSet(0), InputError); }
