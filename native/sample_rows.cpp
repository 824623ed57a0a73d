#include "sample_rows.hpp"

#include <algorithm>

namespace cgens {

SampledRows sample_rows(const std::int64_t* rows, const double* weights, std::size_t n_rows) {
    const auto priority = [=](std::size_t i) { return (static_cast<double>(i) + 0.5) / weights[i]; };
    std::vector<double> priorities(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) priorities[i] = priority(i);
    std::nth_element(priorities.begin(), priorities.begin() + kSampledRows, priorities.end());
    const double limit = priorities[kSampledRows];
    const double least = static_cast<double>(n_rows) / limit;  // u = (i + 1/2) / n_rows
    SampledRows sample;
    for (std::size_t i = 0; i < n_rows && sample.rows.size() < kSampledRows; ++i) {
        if (!(priority(i) < limit)) continue;
        sample.rows.push_back(rows[i]);
        sample.weights.push_back(std::max(weights[i], least));
    }
    return sample;
}

}  // namespace cgens
