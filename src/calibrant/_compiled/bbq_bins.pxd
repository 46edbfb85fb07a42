from libc cimport math

cimport cython

@cython.locals(ends=Py_ssize_t[::1], count=Py_ssize_t, end=Py_ssize_t, last=bint, before=double)
cpdef bin_ends(const double[::1] rows, Py_ssize_t n_bins)
@cython.locals(low=Py_ssize_t, high=Py_ssize_t)
cdef Py_ssize_t _first_at_least(const double[::1] rows, double value) noexcept nogil
