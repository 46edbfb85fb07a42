from libc cimport math

cimport cython

cdef double _INFINITE

@cython.locals(
    r_hat=double[::1], effective=double[::1], halves=double[:, ::1], means=double[::1], within=double, between=double,
    n_chains=Py_ssize_t, n=Py_ssize_t, m=Py_ssize_t, half=Py_ssize_t,
)
cpdef tuple convergence(const double[:, :, :] draws)
@cython.locals(within=double, grand=double, between=double, total=double, n_chains=Py_ssize_t, n=Py_ssize_t)
cdef (double, double) _centre(double[:, ::1] chains, double[::1] means) noexcept nogil
@cython.locals(total=double, n=Py_ssize_t)
cdef double _autocovariance(double[:, ::1] chains, Py_ssize_t c, Py_ssize_t lag) noexcept nogil
@cython.locals(
    time=double, smallest=double, pair=double, covariance=double, lag=Py_ssize_t, n_chains=Py_ssize_t, n=Py_ssize_t
)
cdef double _effective(double[:, ::1] chains, double within, double total) noexcept nogil
