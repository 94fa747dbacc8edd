"""The yardstick of the benches of sampling: independent samples are ideal, a sampler that locks or is weighted unevenly is not."""

import random
import sys

import shares

RUNS, SAMPLES = 2000, 400
TRUE = shares.Shares(shares.FUNCTIONS, 0)


def errors(draw):
  """Errors of RUNS runs, each with the shares that draw(generator) gives."""
  generator = random.Random(7)
  measured = shares.Errors()
  for _ in range(RUNS):
    measured.add(shares.Shares(draw(generator), SAMPLES), TRUE)
  return measured


def independent(generator):
  names = generator.choices(list(shares.FUNCTIONS), shares.FUNCTIONS.values(), k=SAMPLES)
  return {name: names.count(name) for name in shares.FUNCTIONS}


def unevenly_weighted(generator):
  """As many samples of random weight, which tell as much as half of them."""
  seconds = dict.fromkeys(shares.FUNCTIONS, 0.0)
  for name in generator.choices(list(shares.FUNCTIONS), shares.FUNCTIONS.values(), k=SAMPLES):
    seconds[name] += generator.expovariate(1)
  return seconds


def locked(_):
  return {'cycle_a': SAMPLES, 'cycle_b': 0, 'cycle_c': 0}


def expect(seen, low, high, what):
  if not low <= seen <= high:
    sys.exit(f'{what}: {seen}, not from {low} to {high}')


# The root mean square of so many runs is known to 2 %.
ideal = errors(independent)
expect(ideal.rms(), 0.95, 1.05, 'rms of independent samples')
expect(ideal.mean() / ideal.ideal_mean(), 0.95, 1.05, 'mean error of independent samples')
expect(ideal.largest() / ideal.ideal_largest(times=50), 0.7, 1.3, 'largest error of independent samples')
expect(errors(unevenly_weighted).rms(), 1.34, 1.5, 'rms of samples of random weight')
expect(errors(locked).largest(), 50, 50, 'error of a sampler that locks')
expect(shares.Shares(dict.fromkeys(shares.FUNCTIONS, 0.0), 0).error(TRUE), 100, 100, 'error of no sample at all')
