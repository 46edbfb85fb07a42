from libc cimport math

cimport cython

from calibrant._kernels cimport fast_math

cdef Py_ssize_t LEFT, RIGHT, PARENT, FIRST, LAST
cdef double _CLOSEST, _REACH, _MIRROR_REACH, _EDGE, _PRIOR_INFORMATION

@cython.locals(tree=Py_ssize_t[:, ::1], waiting=Py_ssize_t[:, ::1], n_waiting=Py_ssize_t, steps=Py_ssize_t, node=Py_ssize_t)
cpdef grow(const double[::1] picks)

@cython.final
cdef class _Chain:
    cdef double[::1] values, fits, new_values, new_fits, slopes
    cdef const double[::1] positives, negatives
    cdef const double[:, ::1] curve
    cdef Py_ssize_t[::1] left, right, parents, firsts, lasts
    @cython.locals(gain=double)
    cdef double propose(self, Py_ssize_t begin, Py_ssize_t end, double fixed, double factor) noexcept nogil
    cdef void accept(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    @cython.locals(gap=double)
    cdef double smallest_gap(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef double information(self, Py_ssize_t first, Py_ssize_t node, Py_ssize_t last) noexcept nogil
    @cython.locals(gain=double, step=double)
    cdef bint move_subtree(self, Py_ssize_t node, double where, double whether) noexcept nogil
    @cython.locals(before=double, after=double, child=Py_ssize_t)
    cdef void move_cell(self, Py_ssize_t node, double where, double whether) noexcept nogil
    @cython.locals(whole=Py_ssize_t, before=double, after=double)
    cdef void rotate(self, double uniform) noexcept nogil
    @cython.locals(values=double[::1], slopes=double[::1], above=double, mean=double, gap=Py_ssize_t)
    cdef void find_slopes(self) noexcept nogil
    @cython.locals(middle=Py_ssize_t)
    cdef void lift(self, Py_ssize_t node, Py_ssize_t parent) noexcept nogil

@cython.locals(draws=double[:, ::1], controls=double[:, ::1], accepted=Py_ssize_t, chain=_Chain)
cpdef tuple run(
    double[::1] values, Py_ssize_t[:, ::1] tree, const double[::1] positives, const double[::1] negatives,
    const double[:, ::1] curve, const double[:, :, ::1] uniforms, const double[:, ::1] waves
)
