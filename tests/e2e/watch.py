"""tbreport --watch on a terminal: names and times of a collection that goes on, its end, Ctrl-C, and no terminal."""

import contextlib
import os
import re
import select
import signal
import subprocess
import termios
import time

import support as s
from support import check

ENTER, HOME, LEAVE = '\x1b[?1049h\x1b[?25l\x1b[?7l', '\x1b[H', '\x1b[?7h\x1b[?25h\x1b[?1049l'
HOT = 'portion_a'  # 45 % of the target's work, the others have 25, 20 and 10


class Watch:
  """tbreport --watch on a terminal of 24 lines and 100 columns."""

  def __init__(self, *arguments):
    self.child, self.leader = s.start_on_terminal([s.tool('tbreport'), '--watch', *arguments])
    self.shown = ''

  def read(self, seconds=0.1):
    """False at the end."""
    if not select.select([self.leader], [], [], seconds)[0]:
      return True
    try:
      piece = os.read(self.leader, 65536)
    except OSError:
      return False
    self.shown += piece.decode(errors='replace')
    return bool(piece)

  def drawn(self):
    """The whole screens so far, without colours."""
    text = re.sub(r'\x1b\[\d*m', '', self.shown.partition(LEAVE)[0])
    return [screen for screen in text.split(HOME)[1:] if screen.endswith('\x1b[J')]

  def wait_for(self, condition):
    end = time.monotonic() + s.HANGS_S
    while time.monotonic() < end and not condition(self):
      if not self.read():
        return False
    return condition(self)

  def finish(self):
    while self.read(s.HANGS_S):
      pass
    os.close(self.leader)
    return self.child.wait(timeout=s.HANGS_S)


def rows(screen):
  """(seconds, function) of the rows of a table."""
  return [(float(found[1]), found[2]) for found in re.finditer(r'^ *([\d.]+) s +[\d.]+ % .* (\S+?)(?:\x1b\[[KJ])*\r?$', screen, re.MULTILINE)]


def start_collection():
  result = s.new_result()
  collection = subprocess.Popen([s.tool('tbcollect'), '-q', '-i', '1ms', '-r', result, '--', s.target('portions'), '10000000'],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
  target = s.child_of(collection)
  check(s.wait_for(lambda: os.path.exists(f'{result}/{os.path.basename(result)}.tb5')), 'the collection begins')
  return collection, target, result


def check_running(result):
  """From the first second on; the screens tell what was there by then."""
  watch = Watch('-r', result)
  check(watch.wait_for(lambda w: sum(bool(rows(screen)) for screen in w.drawn()) >= 3), 'is drawn again and again', repr(watch.shown[-300:]))
  tables = [rows(screen) for screen in watch.drawn() if rows(screen)]
  check(watch.shown.startswith(ENTER), 'takes the other screen', repr(watch.shown[:60]))
  for table in tables[1:]:
    check(table[0][1] == HOT, f'the hottest function is {HOT}', str(table))
  check(tables[-1][0][0] > tables[0][0][0], 'its time grows', f'{tables[0]} {tables[-1]}')
  longest = max(len(screen.split('\r\n')) for screen in watch.drawn())
  check(longest <= 24, 'fits the terminal', f'{longest} lines')
  return watch


def check_end(watch, collection, target, result):
  """The collection ends: the screen is as before, the whole result below."""
  os.kill(target, signal.SIGTERM)
  collection.communicate(timeout=s.HANGS_S)
  status = watch.finish()
  _, left, final = watch.shown.partition(LEAVE)
  check(status == 0 and left and HOME not in final and ENTER not in final, 'ends with the collection', f'{status} {final[:200]!r}')
  table = rows(re.sub(r'\x1b\[\d*m', '', final))
  whole = [(float(row['CPU Time']), row['Function']) for row in s.report(result, 'hotspots')]
  check(table and table[0][1] == whole[0][1] == HOT and abs(table[0][0] - whole[0][0]) < 0.001, 'shows the whole result at the end', f'{table[:2]} {whole[:2]}')


def check_interrupted(result):
  watch = Watch('-r', result, '--filter', 'function=nosuchfunction')
  before = termios.tcgetattr(watch.leader)
  check(watch.wait_for(lambda w: w.drawn()), 'draws without rows', repr(watch.shown[-300:]))
  check('no such function' in watch.drawn()[-1], 'a message is in the screen', repr(watch.drawn()[-1]))
  os.kill(watch.child.pid, signal.SIGTSTP)  # nobody could continue a program without a shell, so the kernel does not stop it
  check(watch.wait_for(lambda w: w.shown.count(ENTER) == 2) and watch.shown.index(LEAVE) < watch.shown.rindex(ENTER),
        'a stop leaves the screen, and goes back', repr(watch.shown[-200:]))
  os.write(watch.leader, b'\x03')
  watch.wait_for(lambda w: w.child.poll() is not None)
  after = termios.tcgetattr(watch.leader)
  status = watch.finish()
  check(status == -signal.SIGINT and watch.shown.count(LEAVE) == 2 and watch.shown.endswith(LEAVE), 'Ctrl-C ends it and the screen is as before',
        f'{status} {watch.shown[-200:]!r}')
  check(before == after, 'the terminal is set as before', f'{before} {after}')


def check_refusals(result):
  done = s.run_tool('tbreport', '--watch', '-r', result, check_status=False)
  check(done.returncode == 2 and not done.stdout and len(done.stderr.splitlines()) == 1 and 'terminal' in done.stderr, 'needs a terminal',
        f'{done.returncode} {done.stderr}')
  for options in (['--format', 'csv'], ['-o', s.scratch('watch.txt')], ['summary']):
    done = s.run_tool('tbreport', '--watch', *options, result, check_status=False)
    check(done.returncode == 2 and len(done.stderr.splitlines()) == 1, f'is refused with {options[0]}', done.stderr)


def check_ended(result):
  """A result whose collection is over is shown once."""
  watch = Watch(result)
  status = watch.finish()
  check(status == 0 and '\x1b[?1049h' not in watch.shown and HOT in watch.shown, 'shows an ended result once', repr(watch.shown[:200]))


def main():
  s.start()
  signal.signal(signal.SIGHUP, signal.SIG_IGN)
  collection, target, result = start_collection()
  try:
    with s.section('running'):
      watch = check_running(result)
      check_interrupted(result)
      check(collection.poll() is None, 'the collection goes on')
      check_end(watch, collection, target, result)
  finally:
    if collection.poll() is None:
      with contextlib.suppress(ProcessLookupError):
        os.kill(target, signal.SIGKILL)
      collection.kill()
  with s.section('others'):
    check_refusals(result)
    check_ended(result)
  s.finish()


if __name__ == '__main__':
  main()
