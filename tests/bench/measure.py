"""What the benches against perf share: running a command, and a limit with what became of it."""

import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MET, MISSED, FAILED = 0, 1, 2  # exit statuses of a bench


def fail(message):
  print(message, file=sys.stderr)
  sys.exit(FAILED)


def run(command, **popen):
  """Runs the command; (its CPU time with that of the children it waited for, wall time), in seconds."""
  usage, wall = spend(command, **popen)
  return usage.ru_utime + usage.ru_stime, wall


def spend(command, **popen):
  """Runs the command; (what it and the children it waited for used, as getrusage has it, wall time in seconds)."""
  began = time.monotonic()
  try:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, **popen)
  except OSError as error:
    fail(f'{command[0]}: {error}')
  error = process.stderr.read()
  _, status, usage = os.wait4(process.pid, 0)
  wall = time.monotonic() - began
  process.returncode = os.waitstatus_to_exitcode(status)
  if process.returncode != 0:
    fail(f'{" ".join(command)}: status {process.returncode}: {error.decode(errors="replace")[-500:]}')
  return usage, wall


def quotient(part, whole, noise=0.0):
  """part / whole, or None where the whole is no more than noise."""
  return part / whole if whole > noise else None


class Limits:
  """Counts the limits that were looked at."""

  def __init__(self):
    self.met = self.missed = 0

  def verdict(self, value, limit, below=False):
    """'met' if the value is at most, or below, the limit; '-' where there is no value."""
    if value is None:
      return '-'
    met = value < limit if below else value <= limit
    self.met += met
    self.missed += not met
    return 'met' if met else 'missed'

  def finish(self):
    """Says what became of the limits, and ends the bench."""
    print(f'limits: {self.met} met, {self.missed} missed')
    sys.exit(MISSED if self.missed or not self.met else MET)
