"""Shares of CPU time of tests/targets/lives/cycle.c: what a profile shows, what the program says, and how far apart the ideal would be.

A run's error is the largest of the three functions' |shown - truth|, in points. The ideal is as many samples taken
independently of each other: their counts are multinomial, whose shares have variance p (1 - p) / n. At the hundreds
of samples of a run that is a normal distribution for all that is asked here, so the ideal's error is one over the root
of the number of samples times a unit error, of which UNITS holds a sample.
"""

import math
import os
import random
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'e2e'))

import support as s  # after the path to it

FUNCTIONS = {'cycle_a': 0.5, 'cycle_b': 0.3, 'cycle_c': 0.2}


def unit_errors(count, seed=1):
  """Errors in points of one sample's worth of the ideal: of n samples divide them by the root of n. The first two
  functions' shares have the covariance of the multinomial, the third is what they leave."""
  a, b, _ = FUNCTIONS.values()
  generator = random.Random(seed)
  errors = []
  for _ in range(count):
    first = generator.gauss(0, math.sqrt(a * (1 - a)))
    second = -first * b / (1 - a) + generator.gauss(0, math.sqrt(b * (1 - a - b) / (1 - a)))
    errors.append(100 * max(abs(first), abs(second), abs(first + second)))
  return errors


UNITS = unit_errors(20000)
UNIT_SQUARE = sum(unit * unit for unit in UNITS) / len(UNITS)


class Shares:
  """Shares of the three functions in percent, and the number of samples they come from."""

  def __init__(self, seconds, samples):
    whole = sum(seconds.values())
    self.samples = samples
    self.percent = {name: 100 * seconds[name] / whole for name in FUNCTIONS} if whole else None

  def error(self, truth):
    """Points between these shares and the program's: without a sample, as far as they can be."""
    if self.percent is None:
      return 100.0
    return max(abs(self.percent[name] - truth.percent[name]) for name in FUNCTIONS)


def truth(output):
  """What the program says it used."""
  facts = s.truth(output)
  return Shares({name: s.number(facts, name) for name in FUNCTIONS}, 0)


def of_result(result):
  """What the user of a result sees."""
  rows = [row for row in s.report(result, 'hotspots') if row['Function'] in FUNCTIONS]
  seconds = {name: s.seconds(rows, Function=name) for name in FUNCTIONS}
  return Shares(seconds, sum(int(row['Samples']) for row in rows))


def of_perf(data):
  """What perf's samples count."""
  text = subprocess.run(['perf', 'script', '-f', '-i', data, '-F', 'ip,sym'], check=True, capture_output=True, text=True).stdout
  names = [words[1] for words in map(str.split, text.splitlines()) if len(words) > 1]
  counts = {name: names.count(name) for name in FUNCTIONS}
  return Shares(counts, sum(counts.values()))


class Errors:
  """Errors of many runs, beside those of the ideal with as many samples in each."""

  def __init__(self):
    self.runs = []  # (error in points, samples)

  def add(self, shares, true):
    self.runs.append((shares.error(true), max(1, shares.samples)))

  def samples(self):
    return sum(samples for _, samples in self.runs) / len(self.runs)

  def largest(self):
    return max(error for error, _ in self.runs)

  def mean(self):
    return sum(error for error, _ in self.runs) / len(self.runs)

  def rms(self):
    """Over that of the ideal."""
    return math.sqrt(sum(error * error * samples for error, samples in self.runs) / len(self.runs) / UNIT_SQUARE)

  def ideal_mean(self):
    unit = sum(UNITS) / len(UNITS)
    return sum(unit / math.sqrt(samples) for _, samples in self.runs) / len(self.runs)

  def ideal_largest(self, times=2000, seed=2):
    """The mean of the largest error of the ideal, over many times these runs."""
    generator = random.Random(seed)
    return sum(max(generator.choice(UNITS) / math.sqrt(samples) for _, samples in self.runs)
               for _ in range(times)) / times
