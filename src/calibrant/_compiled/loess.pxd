cimport cython

cdef double _SINGULAR

@cython.locals(out=double[::1], needed=double)
cpdef fit(const double[::1] x, const double[::1] y, const double[::1] mass, double span, Py_ssize_t degree)
@cython.locals(low=Py_ssize_t, high=Py_ssize_t, inside=double, w=double)
cdef double _fit_at(
    Py_ssize_t i, const double[::1] x, const double[::1] y, const double[::1] mass, double needed, Py_ssize_t degree
) noexcept nogil
cdef double _value_at_zero(
    double s0, double s1, double s2, double s3, double s4, double t0, double t1, double t2, Py_ssize_t degree
) noexcept nogil
