const exact = 'Ints and doubles compare by their exact values, not by the nearest double.';
const range = 'A whole span of time between two timestamps fits into a duration.';

/** The tests whose value differs by design, and why. */
export const deviations: ReadonlyMap<string, string> = new Map([
  ['comparisons/lt_literal/not_lt_dyn_int_big_lossy_double', exact],
  ['comparisons/gt_literal/not_gt_dyn_big_double_int', exact],
  ['comparisons/lte_literal/lte_dyn_big_double_int', exact],
  ['comparisons/gte_literal/gte_dyn_int_big_lossy_double', exact],
  ['conversions/int/double_int_min_range', 'The least int of 64 bits is a double, and becomes that int.'],
  ['fp_math/fp_math/mod_not_support', 'JSON has doubles only, so "%" takes them, too.'],
  ['timestamps/timestamp_range/sub_time_duration_over', range],
  ['timestamps/timestamp_range/sub_time_duration_under', range],
]);
