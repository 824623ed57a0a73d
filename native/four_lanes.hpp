// Sums and maxima over arrays whose length is a multiple of four, in four lanes: the compiler can vectorize them, and
// the order of summation is the same on every machine.
#pragma once

#include <algorithm>
#include <cstddef>

namespace cgens {

constexpr std::size_t kFourLanes = 4;

// The sum of value(0), ..., value(n - 1).
template <class Value>
double sum_lanes(std::size_t n, Value value) {
    double lanes[kFourLanes] = {};
    for (std::size_t k = 0; k < n; k += kFourLanes)
        for (std::size_t l = 0; l < kFourLanes; ++l) lanes[l] += value(k + l);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// The first k with the largest value(k) >= 0, and that value; 0 and 0 if n is 0.
template <class Value>
std::size_t first_largest(std::size_t n, Value value, double& largest) {
    double lanes[kFourLanes] = {};
    for (std::size_t k = 0; k < n; k += kFourLanes)
        for (std::size_t l = 0; l < kFourLanes; ++l) lanes[l] = std::max(lanes[l], value(k + l));
    largest = std::max(std::max(lanes[0], lanes[1]), std::max(lanes[2], lanes[3]));
    std::size_t first = 0;
    while (first < n && value(first) != largest) ++first;
    return first;
}

}  // namespace cgens
