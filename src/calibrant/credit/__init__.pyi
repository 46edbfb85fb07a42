from calibrant.credit.grades import GradeTests as GradeTests
from calibrant.credit.grades import MasterScale as MasterScale
from calibrant.credit.grades import grade_tests as grade_tests
from calibrant.credit.grades import master_scale as master_scale
