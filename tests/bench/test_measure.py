"""The limits of the benches: what is met, what is missed, what has no value, and the status that a bench ends with."""

import contextlib
import io
import os
import sys

import measure


def expect(seen, wanted):
  if seen != wanted:
    sys.exit(f'{seen}, not {wanted}')


def status(call):
  """(exit status, what is printed) of a call that ends its program."""
  with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.redirect_stderr(io.StringIO()):
    try:
      call()
    except SystemExit as ended:
      return ended.code, text.getvalue()
  return None, text.getvalue()


def limits(*verdicts):
  """The verdicts of [(value, limit, below)] and what they end with."""
  counted = measure.Limits()
  return [counted.verdict(*verdict) for verdict in verdicts], *status(counted.finish)


expect(limits((1.01, 1.01), (0.9, 1.0, True)), (['met', 'met'], measure.MET, 'limits: 2 met, 0 missed\n'))
expect(limits((1.02, 1.01), (1.0, 1.0, True), (0.5, 1)), (['missed', 'missed', 'met'], measure.MISSED, 'limits: 1 met, 2 missed\n'))
expect(limits((None, 1), (1, 2)), (['-', 'met'], measure.MET, 'limits: 1 met, 0 missed\n'))
expect(limits((None, 1))[1], measure.MISSED)  # nothing was measured, so nothing is met

expect([measure.quotient(1, 4), measure.quotient(-1, 4), measure.quotient(1, 0)], [0.25, -0.25, None])
expect([measure.quotient(1, 0.1, 0.1), measure.quotient(1, -3, 0.1), measure.quotient(1, 0.2, 0.1)], [None, None, 5])

cpu, wall = measure.run([sys.executable, '-c', 'for i in range(1000000): pass'], env=os.environ)
expect(0 < cpu and 0 < wall, True)
expect(status(lambda: measure.run(['false']))[0], measure.FAILED)
# A program that the command does not wait for.
BURN = 'import os, time\nos.write(1, b"left ")\nwhile time.process_time() < 0.2: pass'
cpu, said = measure.run_all(['sh', '-c', '"$0" -c "$1" & echo gone', sys.executable, BURN])
expect((cpu >= 0.2, said.split()[0] in ('left', 'gone')), (True, True))
expect(status(lambda: measure.run_all(['false']))[0], measure.FAILED)
RATED = 'import time\nwhile time.process_time() < 0.1: pass\nprint("[thread 0] [ 40 ops/sec ]\\n[thread 1] [ 60 ops/sec ]")'
expect(0.1 / 200 <= measure.cpu_of_program([sys.executable, '-c', RATED], ['-r', '2']) < 1 / 200, True)
expect(status(lambda: measure.run(['/no/such/program']))[0], measure.FAILED)
