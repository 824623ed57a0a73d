// Prices of drawn candidates: the products of their responses on the training rows with the duals.
//
// One row a candidate, padded with zeros to whole lanes. Sums run in double over blocks of training rows, in an order
// that depends on the number of training rows alone: the same bits for any number of threads and any SIMD level. The
// limit is memory: each call reads all responses once, whatever the number of outputs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cgens {

// out[c, t] = sum_i responses[c, i] * duals[t, i]. responses: n_candidates x stride, of which the first n_rows count
// and the rest, up to a multiple of kLanes, is 0; duals: n_outputs x n_rows; out: n_candidates x n_outputs.
template <class T>
void price_candidates(const T* responses, std::size_t n_candidates, std::size_t stride, const double* duals,
                      std::size_t n_outputs, std::size_t n_rows, double* out, int n_threads);

// out[k] = sqrt(2) cos(phases[k]): of mean square 1. A phase beyond 2^51 turns has no meaning; it is still bounded.
void take_cosines(const double* phases, std::size_t n, float* out, int n_threads);

}  // namespace cgens
