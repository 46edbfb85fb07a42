from libc cimport math

cimport cython

from calibrant._compiled cimport fast_math

cdef double _SMALLEST

@cython.locals(
    means=double[:, ::1], spreads=double[:, ::1], covariance=double[:, ::1], along=double[::1], along_mean=double,
    along_variance=double, mean=double, variance=double, inner=double,
)
cpdef tuple curve_moments(
    const double[:, ::1] values, const Py_ssize_t[::1] first, const double[::1] beyond, const double[::1] slope,
    const double[:, ::1] modes, const double[:, :, ::1] roots
)
@cython.locals(total=double)
cdef void _covariance(const double[:, :, ::1] roots, Py_ssize_t c, double[:, ::1] out) noexcept nogil
@cython.locals(
    nodes=double[:, ::1], shares=double[:, ::1], out=double[::1], p=double, q=double, row=Py_ssize_t, count=Py_ssize_t
)
cpdef mean_logit(const double[::1] weights, const double[:, ::1] means, const double[:, ::1] spreads)
