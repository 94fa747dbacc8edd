"""What the benches against perf share: running a command, and a limit with what became of it."""

import ctypes
import os
import re
import resource
import subprocess
import sys
import tempfile
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


def reap_orphans():
  """Waits for what the commands so far left behind: perf trace does not wait for its own program."""
  try:
    while True:
      os.waitpid(-1, 0)
  except ChildProcessError:
    pass


def run_all(command, **popen):
  """Runs the command; (CPU time of it and of all that it starts, waited for or not, in seconds; its standard output)."""
  ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans become children of this process
  with tempfile.TemporaryFile('w+', encoding='utf-8') as out:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, check=False, **popen)
    reap_orphans()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    out.seek(0)
    text = out.read()
  if done.returncode != 0:
    fail(f'{" ".join(command)}: status {done.returncode}: {done.stderr.decode(errors="replace")[-500:]}')
  return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, text


def cpu_of_program(command, bench):
  """CPU seconds of a command that runs a perf bench; of one that runs for a time, and says its threads' rates, those of an operation."""
  cpu, text = run_all(command)
  rates = [float(rate) for rate in re.findall(r'\[ (\d+) ops/sec \]', text)]
  return cpu / (sum(rates) * float(bench[bench.index('-r') + 1])) if rates else cpu


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
