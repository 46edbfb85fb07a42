from libc cimport math

cimport cython

from calibrant._compiled cimport fast_math

cdef Py_ssize_t MOST_STEPS
cdef double _INFINITE, DECREMENT, NEGLIGIBLE

@cython.locals(
    evidence=double[:, ::1], modes=double[:, :, ::1], factors=double[:, :, :, ::1], eta=double[::1], small=double[::1],
    precision=double[:, ::1], mode=double[::1], work=double[:, ::1], best=double, line_variance=double, loss=double,
)
cpdef tuple evidence_grid(
    const double[:, ::1] values, const Py_ssize_t[::1] first, const double[::1] offset, const double[::1] positives,
    const double[::1] totals, const double[:, ::1] line, const double[:, ::1] rough, const double[::1] line_scales,
    const double[::1] rough_scales, double coupling, const double[:, ::1] log_prior
)
@cython.locals(total=double)
cdef double _half_log_det(double[:, ::1] factor) noexcept nogil
@cython.locals(
    gradient=double[::1], step=double[::1], trial=double[::1], loss=double, loss_there=double, decrement=double,
    length=double,
)
cdef double _newton(
    const double[:, ::1] values, const Py_ssize_t[::1] first, const double[::1] offset, const double[::1] positives,
    const double[::1] totals, double[:, ::1] precision, double[::1] mode, double[:, ::1] factor, double[::1] eta,
    double[::1] small, double[:, ::1] work
) noexcept nogil
@cython.locals(total=double)
cdef double _loss(
    double[::1] c, const double[:, ::1] values, const Py_ssize_t[::1] first, const double[::1] offset,
    const double[::1] positives, const double[::1] totals, double[:, ::1] precision, double[::1] eta, double[::1] small
) noexcept nogil
@cython.locals(row=Py_ssize_t)
cdef void _add_likelihood(
    const double[:, ::1] values, const Py_ssize_t[::1] first, const double[::1] positives, const double[::1] totals,
    double[::1] eta, double[::1] small, double[::1] gradient, double[:, ::1] hessian
) noexcept nogil
@cython.locals(total=double)
cdef void _cholesky(double[:, ::1] matrix) noexcept nogil
@cython.locals(size=Py_ssize_t)
cdef void _solve(double[:, ::1] factor, double[::1] b) noexcept nogil
@cython.locals(out=double[:, :, ::1], total=double)
cpdef inverses(const double[:, :, ::1] factors)
