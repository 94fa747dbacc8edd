#include "tools/diff/chance.h"

#include <math.h>

double chance_normal(double z)
{
	return erfc(z / M_SQRT2) / 2;
}

/* Of many degrees of freedom nothing is left of the density beyond this. */
#define FAR_DEVIATIONS 40

/* With t = sqrt(f) tan(u) the density is cos(u)^(f - 1), up to a factor: Simpson's rule. */
#define STEPS 2000 /* even */

double chance_student(double t, double freedom)
{
	double from = atan(fabs(t) / sqrt(freedom));
	double end = freedom > 100 ? atan((fabs(t) + FAR_DEVIATIONS) / sqrt(freedom)) : M_PI_2;
	double step = (end - from) / STEPS;
	double sum = 0;
	for (int i = 0; i <= STEPS; i++) {
		double height = pow(fmax(cos(from + i * step), 0), freedom - 1);
		sum += height * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
	}
	double scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(M_PI);
	double tail = fmin(scale * sum * step / 3, 0.5);
	return t >= 0 ? tail : 1 - tail;
}
