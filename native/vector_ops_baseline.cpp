#include "vector_ops_lanes.hpp"
#include "vector_ops_losses.hpp"

namespace cgens {

const VectorOps kBaselineOps = {
    "baseline",
    dot_lanes<std::int8_t>,
    dot_lanes<float>,
    dot_lanes<double>,
    add_lanes<std::int8_t>,
    add_lanes<float>,
    add_lanes<double>,
    convert_lanes,
    step_prices_lanes,
    run_lanes<std::uint16_t, FourIntegers>,
    run_lanes<std::uint32_t, FourIntegers>,
    run_lanes<std::uint16_t, EightIntegers>,
    run_lanes<std::uint32_t, EightIntegers>,
    sum_bins_lanes<std::uint8_t, FourIntegers>,
    sum_bins_lanes<std::uint16_t, FourIntegers>,
    sum_bins_lanes<std::uint32_t, FourIntegers>,
    sum_bins_lanes<std::uint8_t, EightIntegers>,
    sum_bins_lanes<std::uint16_t, EightIntegers>,
    sum_bins_lanes<std::uint32_t, EightIntegers>,
    multiply_rows_lanes,
    add_rows_lanes,
    sum_where_set_lanes,
    add_where_set_lanes,
    count_differences_lanes,
    start_phases_lanes,
    add_phases_lanes,
    cosines_lanes,
    loss_slope_lanes<LogisticLoss>,
    loss_slope_lanes<SmoothHingeLoss>,
    loss_move_lanes<LogisticLoss>,
    loss_move_lanes<SmoothHingeLoss>,
    sum_entropies_lanes,
};

}  // namespace cgens
