"""Finalization at the end of a collection, and again: stopped by signals, after the program was built anew."""

import os
import shutil
import signal
import subprocess
import time

import support as s

SLOW = '#!/bin/sh\necho started >"$0.started"\nexec sleep 100\n'


def beside_a_slow_tbconvert():
  """tbcollect in a directory where tbconvert never ends by itself."""
  place = s.scratch('slow')
  os.mkdir(place)
  shutil.copy(s.tool('tbcollect'), place)
  with open(os.path.join(place, 'tbconvert'), 'w', encoding='ascii') as file:
    file.write(SLOW)
  os.chmod(os.path.join(place, 'tbconvert'), 0o755)
  return place


def stop_of_tbcollect(place, number):
  """Its end, and the program's status, once the signal has come while tbconvert runs."""
  started = os.path.join(place, 'tbconvert.started')
  if os.path.exists(started):
    os.unlink(started)
  result = s.new_result()
  libraries = os.path.join(s.Run.build, 'tbrw')
  with subprocess.Popen([os.path.join(place, 'tbcollect'), '-q', '-r', result, '--', 'sh', '-c', 'exit 7'],
                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                        env={**os.environ, 'LD_LIBRARY_PATH': libraries}) as collector:
    end = time.monotonic() + 30
    while not os.path.exists(started) and time.monotonic() < end and collector.poll() is None:
      time.sleep(0.01)
    began = time.monotonic()
    collector.send_signal(number)
    try:
      _, errors = collector.communicate(timeout=30)
    except subprocess.TimeoutExpired:
      collector.kill()
      errors = 'still there after 30 s'
    took = time.monotonic() - began
    name = signal.Signals(number).name
    s.check(os.path.exists(started) and took < 20 and collector.returncode == 7,
            f'{name} ends finalization; the status is the program\'s', f'{collector.returncode} {took:.2f} s {errors}')
    s.check(s.summary(result)['complete'], f'{name}: the result is whole')


def slow_symbols():
  """A library by which the first file that symbols are read from takes for ever, once "started" is there."""
  source, library = s.scratch('slow_symbols.c'), s.scratch('slow_symbols.so')
  with open(source, 'w', encoding='ascii') as file:
    file.write('#include <fcntl.h>\n#include <stdlib.h>\n#include <unistd.h>\n'
               'void *dwfl_begin(const void *callbacks);\n'
               'void *dwfl_begin(const void *callbacks)\n'
               '{ (void)callbacks; close(creat(getenv("STARTED"), 0600)); for (;;) pause(); }\n')
  subprocess.run(['cc', '-shared', '-fPIC', '-o', library, source], check=True)
  return library


def content(result):
  with open(os.path.join(result, os.path.basename(result) + '.tb5'), 'rb') as file:
    return file.read()


def stop_in_symbols(result, library, number):
  """A signal that comes while a file is read ends tbconvert at once, and nothing has changed."""
  started, before, name = s.scratch(f'symbols.{number}'), content(result), signal.Signals(number).name
  # Under nohup this one would be ignored, and stay so.
  with subprocess.Popen([s.tool('tbconvert'), 'finalize', result], stderr=subprocess.PIPE, text=True,
                        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
                        env={**os.environ, 'LD_PRELOAD': library, 'STARTED': started}) as convert:
    end = time.monotonic() + 30
    while not os.path.exists(started) and time.monotonic() < end and convert.poll() is None:
      time.sleep(0.01)
    convert.send_signal(number)
    try:
      errors = convert.communicate(timeout=30)[1]
    except subprocess.TimeoutExpired:
      convert.kill()
      errors = 'still there after 30 s'
  s.check(os.path.exists(started) and convert.returncode == -number and 'finalize' in errors,
          f'{name} ends tbconvert while it reads symbols, with a word', f'{convert.returncode} {errors.strip()}')
  s.check(content(result) == before, f'{name}: the result is as it was')


def stops_of_tbconvert(result):
  """Whenever a signal comes, the result can be read, and can be finalized later."""
  library = slow_symbols()
  for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    stop_in_symbols(result, library, number)
  for delay in (0.005, 0.01, 0.02, 0.04, 0.08):
    with subprocess.Popen([s.tool('tbconvert'), 'finalize', result], stderr=subprocess.PIPE, text=True) as convert:
      time.sleep(delay)
      convert.send_signal(signal.SIGINT)
      errors = convert.communicate()[1]
    if not s.check(convert.returncode in (0, -signal.SIGINT) and s.summary(result)['complete'],
                   f'stopped after {delay} s: the result is whole', f'{convert.returncode} {errors.strip()}'):
      return
  s.run_tool('tbconvert', 'finalize', result)


def hot(result):
  return {row['Function'] for row in s.report(result, 'hotspots')}


def built_anew():
  """Another build of the program under its name, and a directory without debug files: names stay."""
  source = s.scratch('hot.c')
  program = s.scratch('hot')
  with open(source, 'w', encoding='ascii') as file:
    file.write('#include <time.h>\nvolatile long sink;\n'
               '__attribute__((noinline)) void burn_here(void) { for (long i = 0; i < 100000; i++) sink += i; }\n'
               'int main(void) { while (clock() < CLOCKS_PER_SEC / 5) burn_here(); }\n')
  subprocess.run(['cc', '-O1', '-g', '-Wl,--build-id', '-o', program, source], check=True)
  got = s.collect_well([program])
  names = hot(got.result)
  s.check('burn_here' in names, 'the program is named', sorted(names)[:5])
  os.unlink(program)
  subprocess.run(['cc', '-O2', '-Wl,--build-id', '-DOTHER', '-o', program, source], check=True)
  subprocess.run(['strip', program], check=True)
  done = s.run_tool('tbconvert', 'finalize', '--debug-dir', '/nonexistent', got.result)
  s.check(hot(got.result) == names, 'finalized after it was built anew: the names stay', done.stderr.strip())
  s.check('kept the symbols of' in done.stderr, 'and that is said')


def main():
  s.start()
  with s.section('stopped by signals'):
    place = beside_a_slow_tbconvert()
    stop_of_tbcollect(place, signal.SIGTERM)
    stop_of_tbcollect(place, signal.SIGINT)
    got = s.collect_well(['sqlite3', ':memory:', 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c '
                          'LIMIT 300000) SELECT sum(x) FROM c'], options=['--no-finalize'])
    stops_of_tbconvert(got.result)
  with s.section('names that are there'):
    built_anew()
  s.finish()


if __name__ == '__main__':
  main()
