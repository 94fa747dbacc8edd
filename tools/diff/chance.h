/*
 * Probabilities of the normal distribution and of Student's.
 */
#ifndef TOOLS_DIFF_CHANCE_H
#define TOOLS_DIFF_CHANCE_H

/* That a normal number is z deviations above its mean, or more. */
double chance_normal(double z);

/* The same of Student's t with so many degrees of freedom, any positive number (Abramowitz and
 * Stegun, 26.7). */
double chance_student(double t, double freedom);

#endif
