// Student's t distribution, by the regularised incomplete beta function (DLMF 8.17 and 26.5).
#pragma once

namespace dladvisor {

// P(T > t). `degrees` of freedom are above 0 and need not be whole; infinity is the normal distribution.
double StudentTail(double t, double degrees);

// The t that is exceeded with probability `tail`, which is above 0 and at most 0.5.
double StudentQuantile(double tail, double degrees);

}  // namespace dladvisor
