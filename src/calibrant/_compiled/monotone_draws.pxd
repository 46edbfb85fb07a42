cimport cython

from calibrant._compiled cimport fast_math

cdef double _EPS

@cython.locals(
    maps=double[:, ::1], fits=double[::1], waiting=Py_ssize_t[:, ::1], values=double[::1], p=double
)
cpdef tuple draw(
    const double[:, :, ::1] uniforms, const double[:] lower, const double[:] upper,
    const double[:] positives, const double[:] negatives
)
@cython.locals(n_waiting=Py_ssize_t, n_drawn=Py_ssize_t, steps=Py_ssize_t, x=Py_ssize_t, low=double, high=double)
cdef void _draw_one(
    const double[:, ::1] uniforms, const double[:] lower, const double[:] upper,
    Py_ssize_t[:, ::1] waiting, double[::1] values
) noexcept nogil
@cython.locals(steps=Py_ssize_t[:, ::1], waiting=Py_ssize_t[:, ::1])
cpdef object draw_levels(
    const double[:, ::1] table, const double[:, ::1] transposed, const double[:, ::1] uniforms, Py_ssize_t size
)
@cython.locals(n_waiting=Py_ssize_t, used=Py_ssize_t, node=Py_ssize_t, cell=Py_ssize_t)
cdef void _draw_one_of_levels(
    const double[:, ::1] table, const double[:, ::1] transposed, const double[::1] uniforms, Py_ssize_t size,
    Py_ssize_t[:, ::1] waiting, Py_ssize_t[::1] steps
) noexcept nogil
@cython.locals(total=double, missing=double, mass=double, node=Py_ssize_t, last=Py_ssize_t)
cdef Py_ssize_t _pick(
    const double[:, ::1] table, const double[:, ::1] transposed, Py_ssize_t x, Py_ssize_t y,
    Py_ssize_t first, Py_ssize_t end, double uniform
) noexcept nogil
