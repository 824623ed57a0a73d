// A sample of the training rows, whose quantiles stand for those of all.
//
// Priority sampling (Duffield, Lund and Thorup, J. ACM 2007): of all rows, those with the smallest u / w are chosen, with
// u uniform in (0, 1) and w their weight; a row of the sample stands for the weight max(w, 1 / t), where t is the smallest
// u / w that was not chosen. Sums over the sample then are unbiased, and rows of great weight are in it for certain. Here
// u is the rank of the row's hash, by which canonical rows are ordered: the sample depends on the contents of the rows
// only, and of two samples that are merged the smallest u / w are the sample of both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cgens {

// The quantiles of so many rows are off by about 0.1 % of the weight, a quarter of a bin's share.
constexpr std::size_t kSampledRows = std::size_t{1} << 18;
constexpr std::size_t kMaxSampledBins = 1024;  // with more, edges are those of all rows

struct SampledRows {
    std::vector<std::int64_t> rows;  // of X, in canonical order
    std::vector<double> weights;
};

// A sample of kSampledRows of n_rows canonical rows, n_rows > kSampledRows; the arguments as in `bin_features`.
SampledRows sample_rows(const std::int64_t* rows, const double* weights, std::size_t n_rows);

}  // namespace cgens
