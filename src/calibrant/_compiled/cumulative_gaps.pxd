cimport cython

@cython.locals(gap=double, low=double, high=double)
cpdef tuple find_range(const double[::1] scores, const double[::1] positives, const double[::1] totals)

@cython.locals(
    gap=double, plain_integral=double, square_integral=double, width=double, last=Py_ssize_t
)
cpdef tuple integrate(const double[::1] scores, const double[::1] positives, const double[::1] totals)
