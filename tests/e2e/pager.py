"""tbreport on a terminal: colours, and a pager as git has; a pager that fails, ends early or is none."""

import os
import select
import signal
import subprocess
import time

import support as s
from support import check


def on_terminal(result, *arguments, environment=None, keys=b'', interrupt=False, lines=24):
  """(exit status, what the terminal shows) of tbreport on a terminal of so many lines."""
  child, leader = s.start_on_terminal([s.tool('tbreport'), *arguments, result], lines, environment)
  shown = b''
  if keys:
    while not shown.rstrip(b'\x1b[?1hKm ').endswith(b':') and select.select([leader], [], [], 60)[0]:
      shown += os.read(leader, 65536)  # up to the prompt of less
    check(child.poll() is None, 'less waits for keys', repr(shown[-60:]))
  if interrupt:
    os.write(leader, b'\x03')
    time.sleep(0.2)
    check(child.poll() is None, 'Ctrl-C does not end it')
  if keys:
    os.write(leader, keys)
  while select.select([leader], [], [], s.HANGS_S)[0]:
    try:
      piece = os.read(leader, 65536)
    except OSError:
      break
    if not piece:
      break
    shown += piece
  os.close(leader)
  return child.wait(timeout=s.HANGS_S), shown.decode(errors='replace')


def check_pagers(result):
  mark = s.scratch('mark')
  status, shown = on_terminal(result, 'hotspots', environment={'PAGER': f'tr a-z A-Z; touch {mark}'})
  check(status == 0 and 'FUNCTION' in shown and 'Function' not in shown and os.path.exists(mark), 'PAGER shows the report', shown[:300])
  status, shown = on_terminal(result, 'hotspots', environment={'PAGER': 'false', 'TBREPORT_PAGER': 'cat -n'})
  check(status == 0 and '     1\t' in shown and 'mandelbrot_pixel' in shown, 'TBREPORT_PAGER goes before PAGER', shown[:300])
  for none in ('', 'cat'):
    status, shown = on_terminal(result, 'hotspots', environment={'PAGER': none})
    check(status == 0 and 'Function' in shown, f'PAGER "{none}" is none', shown[:200])
  status, shown = on_terminal(result, 'top-down', '--call-stack-mode', 'all', environment={'PAGER': 'head -n 2'})
  check(status == 0 and 2 <= len(shown.splitlines()) <= 3, 'a pager that ends early is no failure', shown[:300])
  status, shown = on_terminal(result, 'hotspots', environment={'PAGER': '/nosuchpager'})
  check(status == 1 and '/nosuchpager' in shown, 'a pager that is not there is named, and a failure', f'{status} {shown[:300]}')
  status, shown = on_terminal(result, 'hotspots', '--filter', 'function=nosuchfunction', environment={'PAGER': 'tr a-z A-Z'})
  check(status == 0 and 'NO SUCH FUNCTION' in shown, 'messages come through the pager', shown[:300])


def check_less(result):
  status, shown = on_terminal(result, 'summary', lines=200)
  check(status == 0 and 'CPU Time' in shown, 'less leaves a short report', shown[-200:])
  status, shown = on_terminal(result, 'assembly', 'mandelbrot_pixel', keys=b'q')
  check(status == 0 and 'mandelbrot_pixel:' in shown, 'less is left by q', shown[-200:])
  status, shown = on_terminal(result, 'assembly', 'mandelbrot_pixel', keys=b'q', interrupt=True)
  check(status == 0, 'Ctrl-C is for less', f'{status} {shown[-200:]}')


def check_interrupted(_):
  """Ctrl-C while the report is still written: the pipe is full, the pager reads nothing of it, and goes on."""
  large = s.scratch('large.tb5')
  mark = s.scratch('left')
  subprocess.run([os.path.join(s.Run.build, 'tests/profile/bench_large_result'), large, '3000'], check=True, timeout=s.HANGS_S)
  text = s.run_tool('tbreport', 'top-down', large).stdout
  check(len(text) > 200000, 'the report is larger than a pipe', f'{len(text)} bytes')
  child, leader = s.start_on_terminal([s.tool('tbreport'), 'top-down', large], environment={'PAGER': f"trap '' INT; echo begun; sleep 2; touch {mark}"})
  shown = b''
  while b'begun' not in shown:
    shown += os.read(leader, 65536)
  check(s.wait_for(lambda: s.is_blocked_in_write(child.pid), s.HANGS_S), 'the pipe is full')
  os.write(leader, b'\x03')
  status = child.wait(timeout=s.HANGS_S)
  check(status == -signal.SIGINT and os.path.exists(mark), 'Ctrl-C ends the report, once the pager has ended', f'{status} {shown!r}')
  os.close(leader)


def check_plain(result):
  """Files and pipes have no pager."""
  done = subprocess.run([s.tool('tbreport'), 'hotspots', result], capture_output=True, text=True, timeout=60, check=False,
                        env={**os.environ, 'PAGER': 'false'})
  check(done.returncode == 0 and 'Function' in done.stdout, 'a pipe has no pager', done.stderr)
  path = s.scratch('report.txt')
  status, shown = on_terminal(result, 'hotspots', '-o', path, environment={'PAGER': 'false'})
  with open(path, encoding='utf-8') as file:
    check(status == 0 and 'Function' in file.read() and not shown, 'a file has no pager', shown)


def check_colours(result):
  red, title = '\x1b[31m', '\x1b[1mCPU Time'
  plain = {'PAGER': 'cat'}
  for what, environment, is_coloured in (('a terminal', {}, True), ('NO_COLOR', {'NO_COLOR': '1', 'CLICOLOR_FORCE': '1'}, False),
                                         ('a dumb terminal', {'TERM': 'dumb'}, False), ('an empty NO_COLOR', {'NO_COLOR': ''}, True)):
    shown = on_terminal(result, 'hotspots', environment={**plain, **environment})[1]
    check((red in shown and title in shown) if is_coloured else '\x1b' not in shown, f'colours: {what}', repr(shown[:120]))
  for force, is_coloured in (('1', True), ('0', False), ('', False)):
    done = subprocess.run([s.tool('tbreport'), 'hotspots', result], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, 'CLICOLOR_FORCE': force})
    check((red in done.stdout) == is_coloured, f'colours: a pipe with CLICOLOR_FORCE={force}', repr(done.stdout[:120]))
  for options in (('--format', 'csv'), ('--format', 'json'), ('-o', s.scratch('colours.txt'))):
    done = subprocess.run([s.tool('tbreport'), 'hotspots', result, *options], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, 'CLICOLOR_FORCE': '1'})
    check(done.returncode == 0 and '\x1b' not in done.stdout, f'colours: none in {options[-1]}', repr(done.stdout[:120]))


def main():
  s.start()
  signal.signal(signal.SIGHUP, signal.SIG_IGN)
  got = s.collect_well([s.target('demo'), '1'])
  for check_one in (check_pagers, check_less, check_interrupted, check_plain, check_colours):
    with s.section(check_one.__name__):
      check_one(got.result)
  s.finish()


if __name__ == '__main__':
  main()
