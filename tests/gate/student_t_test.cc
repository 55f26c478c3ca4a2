#include "src/gate/student_t.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace dladvisor {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(StudentT, QuantilesAreThoseOfTables) {
  struct {
    double tail, degrees, t;
  } const table[] = {
      {0.05, 1, 6.3138},   {0.005, 1, 63.6567},  {0.001, 1, 318.309},      {0.05, 2, 2.9200},
      {0.005, 2, 9.9248},  {0.025, 3, 3.1824},   {0.005, 3, 5.8409},       {0.005, 4, 4.6041},
      {0.01, 5, 3.3649},   {0.25, 7, 0.7111},    {0.005, 10, 3.1693},      {0.0005, 10, 4.5869},
      {0.025, 30, 2.0423}, {0.005, 120, 2.6174}, {0.1, kInfinity, 1.2816}, {0.005, kInfinity, 2.5758}};
  for (const auto& row : table)
    EXPECT_NEAR(StudentQuantile(row.tail, row.degrees), row.t, 6e-5 * std::max(1.0, row.t))
        << row.tail << " " << row.degrees;
}

TEST(StudentT, QuantileIsTheInverseOfTheTail) {
  for (const double degrees : {0.7, 1.0, 2.5, 17.3, 900.0, 1e6, kInfinity})
    for (const double tail : {0.49, 0.2, 0.01, 1e-4, 1e-9})
      EXPECT_NEAR(StudentTail(StudentQuantile(tail, degrees), degrees) / tail, 1, 1e-7)
          << tail << " " << degrees;
}

TEST(StudentT, IsSymmetric) {
  EXPECT_EQ(StudentTail(0, 3), 0.5);
  EXPECT_EQ(StudentQuantile(0.5, 3), 0);
  EXPECT_NEAR(StudentTail(-1.2, 3) + StudentTail(1.2, 3), 1, 1e-15);
}

}  // namespace
}  // namespace dladvisor
