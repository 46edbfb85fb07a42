from calibrant._compiled cimport fast_math

cpdef double exp(double x)
cpdef double log(double x)
cpdef double log_beta(double a, double b)
