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
