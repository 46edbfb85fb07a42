cimport cython

cdef bint _turns_left(double[::1] x, double[::1] y, Py_ssize_t a, Py_ssize_t b, Py_ssize_t c) noexcept nogil
@cython.locals(
    x=double[::1], y=double[::1], corners=Py_ssize_t[::1], out=double[::1], size=Py_ssize_t, top=Py_ssize_t,
    second=Py_ssize_t,
)
cpdef with_a_positive(const double[::1] positives, const double[::1] totals)
