"""All reading and checking of what users pass: scores, labels, weights, and options. Nothing else checks them again.

Each message says what must hold, what was got (value and first index), and what to do.
"""

from calibrant._validation.arrays import (
    are_probabilities,
    as_array,
    as_floats,
    as_numpy,
    check_finite,
    check_unit_interval,
    is_number,
    like,
    may_be_percentages,
)
from calibrant._validation.labels import (
    check_grades,
    choose_positive,
    encode_classes,
    encode_labels,
    find_columns,
    is_missing,
    plain,
)
from calibrant._validation.options import (
    RANGES,
    check_choice,
    check_count,
    check_level,
    check_number,
    generator,
)
from calibrant._validation.scores import (
    ROW_SUM_TOLERANCE,
    SPACES,
    check_class_matrix,
    check_range,
    check_same_length,
    check_scores,
    check_weights,
    is_class_matrix,
    read_matrix,
)
