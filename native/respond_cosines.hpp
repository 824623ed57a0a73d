// The responses and weighted sums of cosines of encoded rows.
#pragma once

#include <cstddef>
#include <vector>

#include "encode_rows.hpp"
#include "matrix_view.hpp"

namespace cgens {

// Cosines h_j(x) = sqrt(2) cos(theta_j.z - kappa_j) of the inputs z that an encoder makes of x.
//
// A phase is a sum in a fixed order: -kappa_j, then theta_j of each flag that is 1, then the numbers times their theta_j.
// So the bits depend neither on other rows nor on threads and SIMD levels, and a flag costs nothing where it is 0.
class CosineTables {
   public:
    // thetas: n_cosines x encoder.n_inputs(), row-major. Inputs that no cosine uses are not computed.
    CosineTables(const RowEncoder& encoder, const double* thetas, const double* kappas, std::size_t n_cosines);

    std::size_t n_cosines() const { return n_cosines_; }
    std::size_t n_columns() const { return n_columns_; }  // the minimum number of columns of X

    // out[i, j] = h_j(x_i), rounded to float; row-major, X.n_rows x n_cosines.
    template <class T>
    void respond(const MatrixView<T>& X, float* out, int n_threads) const;

    // out[i, t] = sum_j h_j(x_i) weights[j, t], with h_j as `respond` returns it; weights and out are row-major.
    template <class T>
    void decide(const MatrixView<T>& X, const double* weights, std::size_t n_outputs, double* out,
                int n_threads) const;

   private:
    // Calls visit(first, n, responses) for all blocks of rows first ... first + n - 1, in parallel; the responses of a
    // row are padded to whole lanes.
    template <class T, class Visit>
    void visit_blocks(const MatrixView<T>& X, int n_threads, const Visit& visit) const;
    void take_panel(const EncodedRows& rows, std::size_t n, std::size_t panel, float* responses) const;

    RowEncoder encoder_;
    std::size_t n_cosines_, n_columns_;
    // Panels of kLanes cosines each: -kappa, and thetas of flags and of numbers, input by input.
    std::vector<double> starts_, flag_thetas_, number_thetas_;
};

}  // namespace cgens
