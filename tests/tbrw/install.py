"""libtbrw as a stranger finds it: installed, found by pkg-config, used from C and C++, linked both ways.
Usage: install.py SOURCE BUILD_DIRECTORY"""

import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = sys.argv[1:]

C_PROGRAM = '''
#include <tbrw.h>
#include <samprec_shared.h>
int main(void)
{
	TBRW_U32 major, minor;
	return TBRW_get_version(&major, &minor) != VT_SUCCESS || major != 2 || ST_TIMESTAMP != ST_TIME_STAMP;
}
'''


def run(*command, **options):
  done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
  if done.returncode:
    print(' '.join(command), done.stdout, sep='\n')
    sys.exit(1)
  return done.stdout


def find(root, name):
  found = [os.path.join(folder, name) for folder, _, names in os.walk(root) if name in names]
  assert found, f'{name} is not installed'
  # A file for completion in bash has the name of its program.
  return max(found, key=lambda path: os.access(path, os.X_OK))


def check_library(root):
  shared = find(root, 'libtbrw.so.2')
  dynamic = run('readelf', '-dW', shared)
  assert 'Library soname: [libtbrw.so.2]' in dynamic, dynamic
  exported = [line.split()[-1] for line in run('nm', '-D', '--defined-only', shared).splitlines()]
  functions = [name for name in exported if name != 'TBRW_2.3']
  assert functions and all(re.fullmatch(r'TBRW_\w+@@TBRW_2\.3', name) for name in functions), exported
  with open(find(root, 'tbrw.h'), encoding='utf-8') as header:
    declared = set(re.findall(r'TBRW_API TBRW_U32 (TBRW_\w+)\(', header.read()))
  assert declared == {name.split('@')[0] for name in functions}, 'the header and the library differ'
  with open(find(root, 'tbrw.3'), encoding='utf-8') as page:
    missing = declared - set(re.findall(r'TBRW_\w+', page.read()))
  assert not missing, f'tbrw(3) does not name {missing}'


def check_programs(root, work):
  config = {**os.environ, 'PKG_CONFIG_PATH': os.path.dirname(find(root, 'tbrw.pc')),
            'PKG_CONFIG_SYSROOT_DIR': root}
  cflags = run('pkg-config', '--cflags', 'tbrw', env=config).split()
  libs = run('pkg-config', '--libs', 'tbrw', env=config).split()
  libraries = {**os.environ, 'LD_LIBRARY_PATH': os.path.dirname(find(root, 'libtbrw.so.2'))}
  for compiler, name in (('gcc', 'program.c'), ('g++', 'program.cpp')):
    with open(f'{work}/{name}', 'w', encoding='utf-8') as file:
      file.write(C_PROGRAM)
    run(compiler, '-Wall', '-Wextra', '-Werror', *cflags, f'{work}/{name}', *libs, '-o', f'{work}/{name}.shared')
    assert 'libtbrw.so.2' in run('ldd', f'{work}/{name}.shared', env=libraries)
    run(f'{work}/{name}.shared', env=libraries)
    run(compiler, *cflags, f'{work}/{name}', find(root, 'libtbrw.a'), '-o', f'{work}/{name}.static')
    run(f'{work}/{name}.static')
  if os.uname().machine == 'x86_64':
    run('gcc', '-Wall', '-Wextra', '-Werror', '-g', *cflags, f'{SOURCE}/docs/examples/sampler.c', *libs,
        '-o', f'{work}/sampler')
    run(f'{work}/sampler', cwd=work, env=libraries)
    printed = run(find(root, 'print_tb5'), f'{work}/sampler.tb5')
    assert 'complete: yes' in printed and '  299: ip=' in printed and '/sampler"' in printed, printed
    check_damage(find(root, 'tbreport'), f'{work}/sampler.tb5')
    check_reports(find(root, 'tbreport'), find(root, 'tbconvert'), f'{work}/sampler')


def check_damage(tbreport, file):
  """A damaged file is shown as far as it goes, or refused in one line."""
  with open(file, 'rb') as source:
    whole = source.read()
  chance = random.Random(3)
  damaged = f'{file}.damaged'
  for number in range(60):
    data = bytearray(whole)
    if number % 2:
      del data[chance.randrange(len(data)):]
    else:
      data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    with open(damaged, 'wb') as target:
      target.write(data)
    done = subprocess.run([tbreport, ('summary', 'hotspots', 'threads')[number % 3], damaged], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 0 or (done.returncode == 1 and done.stderr.count('\n') == 1), (number, done)


def check_reports(tbreport, tbconvert, program):
  """The example's file, which has no streams but the sampling stream, before and after finalization."""
  file = f'{program}.tb5'

  def rows(report):
    return list(csv.DictReader(io.StringIO(run(tbreport, report, '--format', 'csv', file))))

  summary = json.loads(run(tbreport, 'summary', '--format', 'json', file))
  known = {'samples': 300, 'interval_s': 0.001, 'cpu_time_s': 0.3, 'threads': 1, 'processes': 1, 'complete': True}
  assert {key: summary[key] for key in known} == known and summary['stacks']['none'] == 300, summary
  assert 'Samples:                  300' in run(tbreport, file)
  hotspots = rows('hotspots')
  assert sum(int(row['Samples']) for row in hotspots) == 300, hotspots
  assert any(re.fullmatch('func@0x[0-9a-f]+', row['Function']) for row in hotspots), hotspots
  modules = {row['Module']: row for row in rows('modules')}
  assert int(modules['sampler']['Samples']) > 200 and modules['sampler']['Path'] == os.path.realpath(program), modules
  threads = rows('threads')
  assert [(row['Thread'], row['Samples'], row['CPU Time']) for row in threads] == [('sampler', '300', '0.300000')], threads
  folded = run(tbconvert, 'export', '--to', 'folded', '-o', '-', file).splitlines()
  assert sum(int(line.split()[-1]) for line in folded) == 300, folded
  assert all(line.startswith('sampler;') for line in folded), folded
  run(tbconvert, 'finalize', file)
  hotspots = rows('hotspots')
  assert any(row['Function'] == 'main' and int(row['Samples']) > 200 and row['Source File'].endswith('sampler.c')
             for row in hotspots), hotspots


def check_installed(root):
  """What the commands' folder holds, and a page for each; the guide's examples are not among them."""
  commands = sorted(os.listdir(os.path.dirname(find(root, 'tbcollect'))))
  assert commands == ['tbcollect', 'tbconvert', 'tbreport'], commands
  with open(f'{BUILD}/meson-info/intro-projectinfo.json', encoding='utf-8') as file:
    version = json.load(file)['version']
  for name in commands:
    assert os.path.basename(os.path.dirname(find(root, f'{name}.1'))) == 'man1'
    assert run(find(root, name), '--version').split() == [name, version]
  for name in ('print_tb5', 'tbrw_reader', 'tbrw_writer', 'sampler.c'):
    assert os.path.dirname(find(root, name)).endswith('tbcollect/examples'), name


def main():
  with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as work:
    run('meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', root)
    check_installed(root)
    check_library(root)
    check_programs(root, work)
  print('installed, compiled, linked and run')


if __name__ == '__main__':
  main()
