// Losses of one output, log(1 + exp(-yf)) and a smoothed hinge, along a line of decisions f. Included by the file of each
// SIMD level, after vector_ops_lanes.hpp: polynomials instead of the C library's functions, and sixteen lanes of sums, so
// that every level returns the same bits. See LossRows for the meaning of the arguments.
#pragma once

#include "vector_ops_lanes.hpp"

namespace cgens {
namespace {

using Integers = std::int64_t __attribute__((vector_size(sizeof(Doubles))));

inline Integers bits_of(Doubles values) {
    Integers bits;
    std::memcpy(&bits, &values, sizeof bits);
    return bits;
}
inline Doubles doubles_of(Integers bits) {
    Doubles values;
    std::memcpy(&values, &bits, sizeof values);
    return values;
}
inline Doubles all_of(double value) { return Doubles{} + value; }
inline Doubles absolute(Doubles x) { return doubles_of(bits_of(x) & (Integers{} + INT64_MAX)); }
// The size of x with the sign of `sign`.
inline Doubles with_sign(Doubles x, Doubles sign) {
    return doubles_of((bits_of(x) & (Integers{} + INT64_MAX)) | (bits_of(sign) & (Integers{} + INT64_MIN)));
}

// exp(-x) for x >= 0, as if x were 708 beyond that. Of the result 2^n exp(r) with |r| <= log(2) / 2, the second factor is a
// polynomial (interpolated at Chebyshev nodes, relative error below 1e-18 before rounding).
inline Doubles exp_of_minus(Doubles x) {
    constexpr double kLargest = 708.0;             // beyond it, the result is not a normal number
    constexpr double kWhole = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number, in the low bits
    constexpr double kLog2E = 1.4426950408889634, kLog2High = 0.6931471803691238, kLog2Low = 1.9082149292705877e-10;
    x = x < all_of(kLargest) ? x : all_of(kLargest);
    const Doubles shifted = kWhole - x * kLog2E, n = shifted - kWhole;
    const Doubles r = (-x - n * kLog2High) - n * kLog2Low;
    Doubles sum = r * 2.0921579973923873e-09 + 2.5114869541224356e-08;
    sum = sum * r + 2.755725190414797e-07;
    sum = sum * r + 2.755722495835489e-06;
    sum = sum * r + 2.4801587350110824e-05;
    sum = sum * r + 0.0001984126990921714;
    sum = sum * r + 0.001388888888887189;
    sum = sum * r + 0.008333333333309528;
    sum = sum * r + 0.04166666666666669;
    sum = sum * r + 0.16666666666666702;
    sum = sum * r + 0.5;
    sum = (sum * r) * r + r + 1.0;
    return doubles_of(bits_of(sum) + (bits_of(shifted) << 52));
}

// atanh(z) / z for |z| <= 1/3, given w = z^2: a polynomial (Chebyshev nodes, relative error below 1e-16).
inline Doubles series_of_atanh(Doubles w) {
    Doubles sum = w * 0.08890381913056651 + 0.04940394524382393;
    sum = sum * w + 0.06795652742789947;
    sum = sum * w + 0.07681838124445817;
    sum = sum * w + 0.09091429900236955;
    sum = sum * w + 0.11111095430673142;
    sum = sum * w + 0.1428571455582858;
    sum = sum * w + 0.199999999976438;
    sum = sum * w + 0.33333333333341286;
    return sum * w + 1.0;
}

// log(1 + q) for 0 <= q <= 1.
inline Doubles log_of_one_plus(Doubles q) {
    const Doubles z = q / (q + 2.0);
    return 2.0 * z * series_of_atanh(z * z);
}

// log(x) for normal x > 0: with x = 2^e m, 1/sqrt(2) <= m < sqrt(2), e log(2) + 2 atanh((m - 1) / (m + 1)).
inline Doubles log_of(Doubles x) {
    constexpr std::int64_t kHalfRoot = 0x3fe6a09e667f3bcd;  // the bits of 1/sqrt(2)
    constexpr double kLog2 = 0.6931471805599453, kWhole = 6755399441055744.0;
    const Integers shifted = (bits_of(x) - kHalfRoot) >> 52;  // e: the smallest x are negative, but not below -2^10
    const Doubles m = doubles_of(bits_of(x) - (shifted << 52));
    const Doubles e = doubles_of(bits_of(all_of(kWhole)) + shifted) - kWhole;
    const Doubles z = (m - 1.0) / (m + 1.0);
    return e * kLog2 + 2.0 * z * series_of_atanh(z * z);
}

// What is needed of a row with the scale s = c y: its dual r = -c l'(f) and, once the step is taken, the loss, what
// smoothing has added to the gap, and the curvature c l''(f).
struct Row {
    Doubles dual, loss, slack, curvature;
};

struct LogisticLoss {
    explicit LogisticLoss(double) {}
    Row row(Doubles f, Doubles s, bool dual_only) const {
        const Doubles zero = {}, one = all_of(1.0), c = absolute(s);
        const Doubles margin = with_sign(f, doubles_of(bits_of(f) ^ bits_of(s)));  // yf
        const Doubles q = exp_of_minus(absolute(margin)), below = one / (one + q), above = q * below;
        const Doubles missing = margin < zero ? below : above;  // 1 - p of the row's own class
        Row row{};
        row.dual = s * missing;
        if (dual_only) return row;
        row.loss = c * (log_of_one_plus(q) + (margin < zero ? -margin : zero));
        row.curvature = c * (below * above);
        return row;
    }
};

// max(0, 1 - m) with the kink at m = 1 replaced by a parabola over 1 - width <= m <= 1: the dual falls there from c to 0.
// `loss` is the hinge itself.
struct SmoothHingeLoss {
    explicit SmoothHingeLoss(double width) : width_(all_of(width)), per_width_(all_of(1.0 / width)) {}
    Row row(Doubles f, Doubles s, bool dual_only) const {
        const Doubles zero = {}, one = all_of(1.0), c = absolute(s);
        const Doubles margin = with_sign(f, doubles_of(bits_of(f) ^ bits_of(s)));
        const Doubles short_of = one - margin;
        Doubles u = short_of * per_width_;
        u = u > zero ? u : zero;
        u = u < one ? u : one;
        Row row{};
        row.dual = s * u;
        if (dual_only) return row;
        row.loss = c * (short_of > zero ? short_of : zero);
        row.slack = c * width_ * (u - u * u);
        row.curvature = (u > zero) & (u < one) ? c * per_width_ : zero;
        return row;
    }

   private:
    Doubles width_, per_width_;
};

template <class Loss>
double loss_slope_lanes(const double* f, const double* along, double shift, double step, const double* scale,
                        double width, std::size_t n) {
    const Loss loss(width);
    Doubles sums[kParts] = {};
    for (std::size_t k = 0; k < n; k += kLanes)
        for (std::size_t p = 0; p < kParts; ++p) {
            const std::size_t at = k + p * kWide;
            const Doubles d = along == nullptr ? all_of(shift) : load<Doubles>(along + at) + shift;
            const Doubles moved = load<Doubles>(f + at) + step * d;
            sums[p] += loss.row(moved, load<Doubles>(scale + at), true).dual * d;
        }
    double lanes[kLanes];
    for (std::size_t p = 0; p < kParts; ++p) store(sums[p], lanes + p * kWide);
    return reduce_lanes(lanes);
}

template <class Loss>
void loss_move_lanes(double* f, const double* along, double shift, double step, const double* scale, double width,
                     std::size_t n, double* duals, double* sums) {
    const Loss loss(width);
    constexpr std::size_t kSums = 5;
    Doubles lanes[kSums][kParts] = {};
    for (std::size_t k = 0; k < n; k += kLanes)
        for (std::size_t p = 0; p < kParts; ++p) {
            const std::size_t at = k + p * kWide;
            const Doubles d = along == nullptr ? all_of(shift) : load<Doubles>(along + at) + shift;
            const Doubles moved = load<Doubles>(f + at) + step * d;
            const Row own = loss.row(moved, load<Doubles>(scale + at), false);
            store(moved, f + at);
            store(own.dual, duals + at);
            lanes[0][p] += own.loss;
            lanes[1][p] += own.slack;
            lanes[2][p] += own.dual;
            lanes[3][p] += absolute(own.dual);
            lanes[4][p] += own.curvature;
        }
    for (std::size_t s = 0; s < kSums; ++s) {
        double own[kLanes];
        for (std::size_t p = 0; p < kParts; ++p) store(lanes[s][p], own + p * kWide);
        sums[s] = reduce_lanes(own);
    }
}

// c times the entropy of the probability multiple |r| / c, for duals r; 0 log 0 is 0.
inline double sum_entropies_lanes(const double* duals, const double* scale, double multiple, std::size_t n) {
    const auto part = [](Doubles q) {
        const Doubles least = all_of(2.2250738585072014e-308);
        return q * log_of(q > least ? q : least);
    };
    Doubles sums[kParts] = {};
    for (std::size_t k = 0; k < n; k += kLanes)
        for (std::size_t p = 0; p < kParts; ++p) {
            const std::size_t at = k + p * kWide;
            const Doubles c = absolute(load<Doubles>(scale + at)), zero = {}, one = all_of(1.0);
            Doubles q = multiple * absolute(load<Doubles>(duals + at)) / (c > zero ? c : one);
            q = q < one ? q : one;  // by rounding only
            sums[p] -= c * (part(q) + part(one - q));
        }
    double lanes[kLanes];
    for (std::size_t p = 0; p < kParts; ++p) store(sums[p], lanes + p * kWide);
    return reduce_lanes(lanes);
}

}  // namespace
}  // namespace cgens
