// The angles of a trained model of rotations, against the matrices by which it computes.

#include "krohn/simulate/learned/rotation_planes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "krohn/groups/error.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/tasks/tasks.h"

using namespace krohn;

TEST_CASE("every plane turns as its matrices do, in the order of the read-out") {
  const auto task = make_task("modadd10");
  for (const char* name :
       {"bilinear:rotations,hidden=8,inputs=3", "bilinear:rotations,hidden=12,inputs=5,spread=0.01"}) {
    CAPTURE(name);
    const auto model = make_model<float>(name, *task, 4);
    const LinearModel view = model->linear_view().value();
    const std::vector<RotationPlane> planes = rotation_planes(*model);
    REQUIRE(planes.size() == view.hidden / 2);
    std::set<std::uint32_t> seen;
    double before = INFINITY;
    for (const RotationPlane& plane : planes) {
      CHECK(seen.insert(plane.plane).second);
      double squares = 0;
      for (std::size_t label = 0; label < view.labels; ++label)
        for (std::size_t i = 0; i < 2; ++i)
          squares += std::pow(view.readout[label * view.hidden + 2 * plane.plane + i], 2);
      CHECK(plane.readout == doctest::Approx(std::sqrt(squares)));
      CHECK(plane.readout <= before);
      before = plane.readout;
      for (std::size_t letter = 0; letter < model->letters(); ++letter) {
        const float* const block = view.matrices.data() + (letter * view.hidden / 2 + plane.plane) * 4;
        const double angle = 2 * std::numbers::pi * plane.turns[letter];
        CHECK(block[0] == doctest::Approx(std::cos(angle)).epsilon(1e-5));
        CHECK(block[2] == doctest::Approx(std::sin(angle)).epsilon(1e-5));
      }
      CHECK(plane.harmonic(10) == doctest::Approx(10 * plane.turns[1]));
    }
  }
  CHECK_THROWS_WITH_AS(rotation_planes(*make_model<float>("bilinear:block=2,hidden=4,inputs=2", *task, 1)),
                       doctest::Contains("rotations"), InputError);
}
