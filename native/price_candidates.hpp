// Prices of randomly drawn candidates: the products of their responses on the training rows with the duals.
//
// Sums run in double over blocks of training rows, in an order that depends only on the number of training rows: the
// same bits for any number of threads and any SIMD level. The speed is limited by memory: each call reads all
// responses once, however many outputs there are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cgens {

// out[c, t] = sum_i responses[c, i] * duals[t, i]. responses: n_candidates x padded(n_rows), padded with zeros; duals:
// n_outputs x n_rows; out: n_candidates x n_outputs.
template <class T>
void price_candidates(const T* responses, std::size_t n_candidates, const double* duals, std::size_t n_outputs,
                      std::size_t n_rows, double* out, int n_threads);

// out[k] = sqrt(2) cos(phases[k]), which has mean square 1. Beyond 2^51 turns it is meaningless, but still bounded.
void take_cosines(const double* phases, std::size_t n, float* out, int n_threads);

}  // namespace cgens
