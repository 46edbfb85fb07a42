from libc cimport math

cimport cython

from calibrant._kernels cimport fast_math

cdef Py_ssize_t LEFT, RIGHT, PARENT, FIRST, LAST
cdef double _CLOSEST, _REACH, _PRIOR_INFORMATION

@cython.locals(tree=Py_ssize_t[:, ::1], waiting=Py_ssize_t[:, ::1], n_waiting=Py_ssize_t, steps=Py_ssize_t, node=Py_ssize_t)
cpdef grow(const double[::1] picks)
cdef double _subtree_information(
    const double[:, ::1] curve, Py_ssize_t first, Py_ssize_t node, Py_ssize_t last
) noexcept nogil
@cython.locals(gain=double)
cdef double _gain(
    double[::1] values, double[::1] fits, const double[::1] positives, const double[::1] negatives,
    Py_ssize_t begin, Py_ssize_t end, double fixed, double factor
) noexcept nogil
@cython.locals(gap=double)
cdef double _smallest_gap(double[::1] values, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
cdef void _stretch(
    double[::1] values, double[::1] fits, const double[::1] positives, const double[::1] negatives,
    Py_ssize_t begin, Py_ssize_t end, double fixed, double factor
) noexcept nogil
@cython.locals(gain=double, accepted=Py_ssize_t)
cdef Py_ssize_t _move_subtrees(
    double[::1] values, double[::1] fits, const double[::1] positives, const double[::1] negatives,
    Py_ssize_t[:, ::1] tree, const double[:, ::1] curve, const double[:, ::1] uniforms
) noexcept nogil
@cython.locals(before=double, after=double, child=Py_ssize_t)
cdef void _move_cells(
    double[::1] values, double[::1] fits, const double[::1] positives, const double[::1] negatives,
    Py_ssize_t[:, ::1] tree, const double[:, ::1] curve, const double[:, ::1] uniforms
) noexcept nogil
@cython.locals(
    left=Py_ssize_t[::1], right=Py_ssize_t[::1], parents=Py_ssize_t[::1], firsts=Py_ssize_t[::1], lasts=Py_ssize_t[::1],
    whole=Py_ssize_t, middle=Py_ssize_t, before=double, after=double,
)
cdef void _rotate(double[::1] values, Py_ssize_t[:, ::1] tree, const double[::1] uniforms) noexcept nogil
@cython.locals(draws=double[:, ::1], fits=double[::1], accepted=Py_ssize_t)
cpdef tuple run(
    double[::1] values, Py_ssize_t[:, ::1] tree, const double[::1] positives, const double[::1] negatives,
    const double[:, ::1] curve, const double[:, :, ::1] uniforms
)
