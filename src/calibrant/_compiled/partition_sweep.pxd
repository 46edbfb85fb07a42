from libc cimport math

cimport cython

from calibrant._compiled cimport fast_math

cdef double _FEW_ROWS, _LOST, _LOWEST
cdef Py_ssize_t _REFRESH

@cython.final
cdef class Sweep:
    cdef readonly Py_ssize_t count
    cdef readonly bint due
    cdef bint current, best
    cdef double alpha, beta, log_prior, lost
    cdef const double[::1] x, k, n, lam
    cdef Py_ssize_t[::1] start
    cdef double[::1] a, b, log_m, ratio
    cdef readonly double[::1] scale, total
    cdef readonly double[:, ::1] terms, held, done, log_f
    @cython.locals(worst=double, own=double, others=double, before=double, log_prior=double, last=bint)
    cpdef void advance(self, Py_ssize_t u) noexcept nogil
    cpdef void refresh(self, Py_ssize_t u) noexcept nogil
    @cython.locals(matters=bint)
    cpdef void prune(self, Py_ssize_t u, double limit) noexcept nogil
    cdef void let_go(self, Py_ssize_t i) noexcept nogil
    cdef void _start_bin(self, Py_ssize_t u) noexcept nogil
    cdef double _add_cell(self, double k, double n) noexcept nogil
    cdef void _move(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil

cdef void _log_betas(double[::1] out, double[::1] a, double[::1] b, Py_ssize_t count) noexcept nogil
cdef void _row_ratios(double[::1] ratio, double[::1] grows, double[::1] other, Py_ssize_t count) noexcept nogil
cdef void _few_row_ratios(
    double[::1] ratio, double[::1] a, double[::1] b, Py_ssize_t count, Py_ssize_t k, Py_ssize_t n
) noexcept nogil
@cython.locals(largest=double)
cdef double _many_row_ratios(
    double[::1] ratio, double[::1] log_m, double[::1] a, double[::1] b, Py_ssize_t count, double k, double n
) noexcept nogil
@cython.locals(total=double)
cdef double _multiply(
    double[:, ::1] terms, Py_ssize_t g, double[::1] ratio, Py_ssize_t count, double decay, bint best
) noexcept nogil
@cython.locals(largest=double, term=double)
cdef double _log_terms(Sweep sweep, Py_ssize_t g, Py_ssize_t u) noexcept nogil
@cython.locals(total=double)
cdef double _exponentiate(double[:, ::1] terms, Py_ssize_t g, Py_ssize_t count, double largest) noexcept nogil
cdef void _bin_over_best(Sweep sweep) noexcept nogil
