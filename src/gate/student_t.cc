#include "src/gate/student_t.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dladvisor {
namespace {

constexpr double kNormalFrom = 1e7;  // degrees of freedom from which t is normal to all digits that matter

// The continued fraction of DLMF 8.17.22, evaluated forwards by the modified method of Lentz.
double BetaFraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      factor = c * d;
      fraction *= factor;
    }
    if (std::abs(factor - 1) < 1e-14) break;
  }
  return fraction;
}

class Student {
 public:
  explicit Student(double degrees)
      : degrees_(degrees),
        log_beta_(degrees < kNormalFrom
                      ? std::lgamma(degrees / 2) + std::lgamma(0.5) - std::lgamma((degrees + 1) / 2)
                      : 0) {}

  // P(T > t) for t > 0.
  double Tail(double t) const {
    if (degrees_ >= kNormalFrom) return std::erfc(t / std::numbers::sqrt2) / 2;
    const double a = degrees_ / 2, b = 0.5, x = degrees_ / (degrees_ + t * t), y = t * t / (degrees_ + t * t);
    const double power = std::exp(a * std::log(x) + b * std::log(y) - log_beta_);
    return (x < (a + 1) / (a + b + 2) ? power * BetaFraction(x, a, b) / a
                                      : 1 - power * BetaFraction(y, b, a) / b) /
           2;
  }

  double Density(double t) const {
    if (degrees_ >= kNormalFrom) return std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi);
    return std::exp(-(degrees_ + 1) / 2 * std::log1p(t * t / degrees_) - log_beta_) / std::sqrt(degrees_);
  }

 private:
  double degrees_, log_beta_;
};

}  // namespace

double StudentTail(double t, double degrees) {
  if (t == 0) return 0.5;
  const double tail = Student(degrees).Tail(std::abs(t));
  return t > 0 ? tail : 1 - tail;
}

double StudentQuantile(double tail, double degrees) {
  if (tail >= 0.5) return 0;
  // The logarithm of the tail is concave in the logarithm of t, so that Newton's method comes down to the
  // root from above after its first step.
  const Student student(degrees);
  double log_t = std::log(std::max(1e-3, std::sqrt(-2 * std::log(2 * tail))));
  for (int i = 0; i < 100; ++i) {
    const double t = std::exp(log_t), here = student.Tail(t);
    const double step = std::log(here / tail) * here / (student.Density(t) * t);
    log_t += step;
    if (std::abs(step) < 1e-10) break;
  }
  return std::exp(log_t);
}

}  // namespace dladvisor
