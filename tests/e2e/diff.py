"""tbreport diff: a function that does more is found, by its name at another address; of the same program nothing is. The times are those
of hotspots, the names' places those of nm. The small difference of many runs is tests/bench/diff's."""

import csv
import io
import os
import subprocess

import support as s
from support import check, note

ROUNDS = 1500
COLUMNS = 'Function,Base CPU Time,CPU Time,Difference,Change,Change Std Error,Verdict,p Value,Base Samples,Samples,Module,Function (Full)'


def collect(extra):
  """portion_a does so many thousandths more. At 0.1 ms some 15000 samples."""
  program = s.target('portions') if extra == 0 else s.scratch('moved/target-portions')
  return s.collect_well([program, str(ROUNDS), str(extra)], interval='0.1ms', options=['-q']).result


def move_program():
  """The same program with its functions at other addresses: with a section more in front of its code."""
  os.mkdir(s.scratch('moved'))
  source = os.path.join(os.path.dirname(__file__), '..', 'targets')
  subprocess.run(['cc', '-O2', '-g', '-fomit-frame-pointer', '-I', os.path.join(source, '..', '..'), '-Wl,-Ttext-segment=0x100000', '-o',
                  s.scratch('moved/target-portions'), os.path.join(source, 'stacks', 'portions.c'), os.path.join(source, 'work.c'), '-pthread'],
                 check=True)


def address_of(program, name):
  names = subprocess.run(['nm', program], check=True, capture_output=True, text=True).stdout.split()
  return names[names.index(name) - 2]


def diff(*arguments, status=0):
  done = s.run_tool('tbreport', 'diff', '--format', 'csv', *arguments, check_status=False)
  check(done.returncode == status, f'diff {" ".join(arguments[:-2])}: the exit status', f'{done.returncode} {done.stderr.strip()[-200:]}')
  return list(csv.DictReader(io.StringIO(done.stdout)))


def verdicts(rows):
  return {row['Function']: row['Verdict'] for row in rows if row['Verdict']}


def check_times(rows, base, new):
  """Each time is that of hotspots, and the change follows from them and from the functions that did not change."""
  own = {row['Function']: row for row in rows}
  off = [name for column, result in (('Base CPU Time', base), ('CPU Time', new)) for row in s.report(result, 'hotspots')
         for name in [row['Function']] if name.startswith('portion_') and abs(float(own[name][column]) - float(row['CPU Time'])) > 2e-6]
  check(not off and 'portion_a' in own, 'the times are those of hotspots', off or list(own)[:6])
  ratio = {name: float(own[name]['CPU Time']) / float(own[name]['Base CPU Time']) for name in ('portion_a', 'portion_b', 'portion_c', 'portion_d')}
  rest = sum(float(own[name]['CPU Time']) for name in ratio if name != 'portion_a') / sum(
      float(own[name]['Base CPU Time']) for name in ratio if name != 'portion_a')
  change, error = float(own['portion_a']['Change']), float(own['portion_a']['Change Std Error'])
  check(abs(change - (ratio['portion_a'] / rest - 1)) < 0.02, 'the change is beyond that of the other functions',
        f'{change:.4f}, {ratio["portion_a"] / rest - 1:.4f} by hand, +- {error:.2f} points')
  check(abs(100 * change - 30) < s.DEVIATIONS * error, 'the change is the one that was planted', f'{100 * change:.2f} % of 30, +- {error:.2f}')


def main():
  s.start()
  move_program()
  places = [address_of(program, 'portion_a') for program in (s.target('portions'), s.scratch('moved/target-portions'))]
  check(places[0] != places[1], 'the function moved', places)
  base, again, slower = collect(0), collect(0), collect(300)
  with s.section('slower'):
    rows = diff('--fail-above', '20%', base, slower, status=3)
    note(rows[:3])
    check(list(rows[0]) == COLUMNS.split(','), 'the columns', list(rows[0]))
    check(verdicts(rows) == {'portion_a': 'slower'}, 'the function that does more is slower, and nothing else', verdicts(rows))
    check_times(rows, base, slower)
    check(verdicts(diff(slower, base)) == {'portion_a': 'faster'}, 'and faster the other way')
    diff('--fail-above', '60%', base, slower)
  with s.section('same'):
    rows = diff('--fail-above', '0', base, again)
    check(not verdicts(rows) and len(rows) > 4, 'the same program does not differ', verdicts(rows))
  with s.section('sides'):
    rows = diff('--base', base, '--base', again, slower)
    check(verdicts(rows) == {'portion_a': 'slower'}, 'two runs of the base', verdicts(rows))
    table = diff(base, again, slower)
    check(float(table[0][os.path.basename(slower)]) > 0 and len(table) > 4, 'a table of runs', table[:2])
    for group in ('module', 'thread', 'stack'):
      rows = diff('--group-by', group, base, slower)
      check(abs(sum(float(row['CPU Time']) for row in rows[1:]) - float(rows[0]['CPU Time'])) < 1e-3, f'the rows by {group} add up', len(rows))
  s.finish()


if __name__ == '__main__':
  main()
