#include "krohn/gpu/device/device.h"
#include "krohn/gpu/device/graph.h"
#include "krohn/gpu/training/product_job.cuh"
#include "krohn/groups/base/random.h"
#include "krohn/simulate/probe/probe_sums.h"
#include "tests/gpu/device/graph_jobs.cuh"
#include "tests/testing.h"

using namespace krohn;

TEST_CASE("processes of a machine take its devices in turn, and none has two more than another") {
  struct Fact {
    unsigned number, devices, device;
  };
  for (const auto& [number, devices, device] :
       {Fact{0, 1, 0}, Fact{1, 1, 0}, Fact{0, 8, 0}, Fact{7, 8, 7}, Fact{8, 8, 0}, Fact{9, 8, 1}, Fact{15, 4, 3}}) {
    CAPTURE(number);
    CAPTURE(devices);
    CHECK(device_of_process(number, devices) == device);
  }
  for (unsigned devices = 1; devices <= 9; ++devices)
    for (unsigned processes = 1; processes <= 40; ++processes) {
      std::vector<unsigned> of(devices, 0);
      for (unsigned number = 0; number < processes; ++number) ++of.at(device_of_process(number, devices));
      const auto [least, most] = std::ranges::minmax(of);
      CHECK(most - least <= 1);
    }
}

TEST_CASE("a process without a device may be given one, and is told when it asks") {
  if (cuda_available()) return;  // the devices of this machine are not to be moved to under other tests
  take_device(3);
  CHECK_THROWS_AS(wants_cuda("cuda"), NoDevice);
}

namespace {

std::vector<float> random_numbers(std::size_t count, Random& random) {
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(static_cast<double>(random.next() >> 40) * 0x1p-23 - 1);
  return numbers;
}

}  // namespace

TEST_CASE("a graph's kernels run in order at every replay, on what was sent last") {
  std::vector<Place> places{Place::kProcessor};
  if (cuda_available()) places.push_back(Place::kDevice);
  for (const Place place : places) {
    CAPTURE(static_cast<int>(place));
    Buffer<std::uint32_t> numbers(place, 8);
    UploadQueue queue(place, 2);
    JobGraph graph(place);
    graph.add(graph_jobs::AddFirst{queue.data(), numbers.data()}, 2);
    graph.add_teams(graph_jobs::Reverse{numbers.data()}, 2);
    graph.add(graph_jobs::AddFirst{queue.data() + 1, numbers.data()}, 1);
    CHECK(graph.size() == 3);
    for (const std::uint32_t first : {5U, 70U}) {
      const std::span<std::uint32_t> next = queue.next();
      next[0] = first;
      next[1] = first + 1;
      queue.send();
      graph.replay();
    }
    CHECK(numbers.values() == std::vector<std::uint32_t>{76, 5, 70, 76, 0, 0, 0, 0});
  }
}

TEST_CASE("products by tiles are products, whatever hangs over their edges") {
  Random random(3);
  struct Shape {
    std::uint32_t rows, columns, depth;
  };
  constexpr std::uint32_t kModels = 2;
  for (const auto [rows, columns, depth] : {Shape{1, 1, 1}, {70, 67, 33}, {64, 64, 16}, {3, 130, 600}, {65, 2, 257}})
    for (const bool a_across : {false, true})
      for (const bool b_across : {false, true}) {
        CAPTURE(rows);
        CAPTURE(columns);
        CAPTURE(depth);
        auto a = random_numbers(kModels * rows * depth, random), b = random_numbers(kModels * depth * columns, random);
        std::vector<float> c(kModels * rows * columns, 0);
        ProductJob job;
        job.models = kModels;
        job.columns = columns;
        job.rows = {rows, nullptr};
        job.depth = {depth, nullptr};
        job.a = {a.data(), std::uint64_t{rows} * depth, a_across ? rows : depth};
        job.b = {b.data(), std::uint64_t{depth} * columns, b_across ? depth : columns};
        job.c = {c.data(), std::uint64_t{rows} * columns, columns};
        job.a_across = a_across;
        job.b_across = b_across;
        launch_teams(Place::kProcessor, job, job.teams());
        // The same by parts.
        std::vector<float> summed(c.size(), 0);
        ProductJob parted = job;
        parted.in_parts = true;
        const std::uint64_t model = std::uint64_t{parted.parts()} * rows * columns;
        std::vector<float> parts(kModels * model, std::nanf(""));
        parted.c = {parts.data(), model, columns};
        launch_teams(Place::kProcessor, parted, parted.teams());
        const AddPartsJob sum{kModels,          rows,     columns,
                              {depth, nullptr}, parted.c, {summed.data(), std::uint64_t{rows} * columns, columns}};
        launch(Place::kProcessor, sum, sum.items());
        for (std::size_t at = 0; at < c.size(); ++at) {
          const std::size_t j = at % columns, i = at / columns % rows, m = at / columns / rows;
          double expected = 0;
          for (std::size_t k = 0; k < depth; ++k)
            expected += double{job.a.at[m * job.a.model + (a_across ? k * rows + i : i * depth + k)]} *
                        double{job.b.at[m * job.b.model + (b_across ? j * depth + k : k * columns + j)]};
          REQUIRE(std::fabs(c[at] - expected) < 1e-4);
          REQUIRE(std::fabs(summed[at] - expected) < 1e-4);
        }
      }
}

// The summers of a device, to be probed. Without one, that it says so.

TEST_CASE("the loops of a device have the arithmetic that krohn states") {
  if (!cuda_available()) {
    CHECK_THROWS_AS(device_summers(), NoDevice);
    MESSAGE("no device: skipped");
    return;
  }
  for (const Summer& summer : device_summers()) {
    CAPTURE(summer.name);
    const SumsSeen seen = probe_sums(summer.format, summer.sum, {.compare = 500});
    const bool is_tensor_core = summer.name.starts_with("tensor");
    if (is_tensor_core) {
      CHECK(seen.left_digits == (summer.format == Precision::kBf16 ? 8 : 11));
      continue;  // how they round is the device's affair
    }
    REQUIRE(seen.order);
    CHECK(seen.order->is_sequential());
    const bool is_fused = summer.name.starts_with("fused");
    CHECK(seen.arithmetic == (is_fused ? ArithmeticName::fused(summer.format) : ArithmeticName(summer.format)));
  }
}
