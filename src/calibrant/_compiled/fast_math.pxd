cdef extern from "fast_math.h":
    double exp "fast_exp"(double x) noexcept nogil
    double log "fast_log"(double x) noexcept nogil
    double log_beta "fast_log_beta"(double a, double b) noexcept nogil
