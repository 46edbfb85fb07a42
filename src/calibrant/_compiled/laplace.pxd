from libc cimport math

cimport cython

from calibrant._compiled cimport fast_math

cdef Py_ssize_t MOST_STEPS
cdef double _INFINITE, DECREMENT, NEGLIGIBLE

@cython.final
cdef class Cells:
    cdef const double[:, ::1] values
    cdef const Py_ssize_t[::1] first
    cdef const double[::1] offset, positives, totals
    cdef double[::1] eta, small

@cython.locals(
    evidence=double[:, ::1], modes=double[:, :, ::1], factors=double[:, :, :, ::1], cells=Cells,
    precision=double[:, ::1], mode=double[::1], work=double[:, ::1], best=double, line_variance=double, half_log_det=double, loss=double,
)
cpdef tuple evidence_grid(
    const double[:, ::1] values, const Py_ssize_t[::1] first, const double[::1] offset, const double[::1] positives,
    const double[::1] totals, const double[:, ::1] line, const double[:, ::1] rough, const double[::1] line_scales,
    const double[::1] rough_scales, double coupling, const double[:, ::1] log_prior
)
@cython.locals(
    gradient=double[::1], step=double[::1], trial=double[::1], loss=double, loss_there=double, decrement=double,
    length=double,
)
cdef double _newton(
    Cells cells, double[:, ::1] precision, double[::1] mode, double[:, ::1] factor, double[:, ::1] work
) noexcept nogil
@cython.locals(total=double)
cdef double _loss(double[::1] c, Cells cells, double[:, ::1] precision) noexcept nogil
@cython.locals(row=Py_ssize_t)
cdef void _add_likelihood(Cells cells, double[::1] gradient, double[:, ::1] hessian) noexcept nogil
@cython.locals(total=double)
cdef void _cholesky(double[:, ::1] matrix) noexcept nogil
@cython.locals(size=Py_ssize_t)
cdef void _solve(double[:, ::1] factor, double[::1] b) noexcept nogil
