"""tbconvert export --to firefox: every table as the format's documentation says, CPU times of stacks and threads as in our other
forms. With `reader` (suite long) also what Firefox Profiler's own code makes of the profiles (npm's
@firefox-devtools/profiler-cli, which upgrades the format to its own version first).
Usage: exports_firefox.py BUILD_DIRECTORY [reader]"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import time

import support as s
import timeline_exports as t

READER = os.path.join('npm', 'node_modules', '@firefox-devtools', 'profiler-cli', 'dist', 'profiler-cli.js')  # by tools/bootstrap
VERSION = 70

# src/types/profile.ts at that version. Kinds of cells: a table's name for an index into it, or a type; "?" null too, "-" -1 too.
TABLES = {
    'stackTable': {'frame': 'frameTable', 'prefixOffset': 'number'},
    'frameTable': {'address': '-number', 'lib': '-libs', 'inlineDepth': 'number', 'category': 'categories', 'subcategory': 'number',
                   'func': 'funcTable', 'nativeSymbol': '?nativeSymbols', 'innerWindowID': '?number', 'line': '?number',
                   'column': '?number', 'originalLocation': '?sourceLocationTable'},
    'funcTable': {'name': 'stringArray', 'isJS': 'bool', 'relevantForJS': 'bool', 'resource': '-resourceTable', 'source': '?sources',
                  'lineNumber': '?number', 'columnNumber': '?number', 'originalLocation': '?sourceLocationTable'},
    'resourceTable': {'name': 'stringArray', 'host': '?stringArray', 'type': 'number'},
    'nativeSymbols': {'libIndex': 'libs', 'address': 'number', 'name': 'stringArray', 'functionSize': '?number'},
    'sources': {'id': '?text', 'filename': 'stringArray', 'startLine': 'number', 'startColumn': 'number', 'sourceMapURL': '?stringArray',
                'content': '?text'},
    'sourceLocationTable': {'source': 'sources', 'line': 'number', 'column': 'number'},
}
SAMPLES = {'stack': '?stackTable', 'timeDeltas': 'number', 'weight': 'number', 'threadCPUDelta': 'number'}
MARKERS = {'data': 'object', 'name': 'stringArray', 'startTime': 'number', 'endTime': '?number', 'phase': 'number', 'category': 'categories'}
THREAD = {'name': str, 'processName': str, 'processType': str, 'isMainThread': bool, 'pid': str, 'tid': (int, str),
          'processStartupTime': (int, float), 'registerTime': (int, float), 'pausedRanges': list}
META = {'interval': (int, float), 'startTime': (int, float), 'processType': int, 'product': str, 'stackwalk': int, 'version': int,
        'preprocessedProfileVersion': int, 'markerSchema': list, 'categories': list, 'sampleUnits': dict, 'symbolicated': bool}
LIB = {'arch': str, 'name': str, 'path': str, 'debugName': str, 'debugPath': str, 'breakpadId': str, 'codeId': (str, type(None))}
COLORS = {'transparent', 'purple', 'green', 'orange', 'yellow', 'lightblue', 'blue', 'brown', 'magenta', 'red', 'lightred', 'darkgrey', 'grey'}


class Profile:
  def __init__(self, path):
    with gzip.open(path, 'rt', encoding='utf-8') as file:
      self.json = json.load(file)
    self.shared = self.json['shared']
    self.problems = []

  def length(self, name):
    if name == 'categories':
      return len(self.json['meta']['categories'])
    if name == 'libs':
      return len(self.json['libs'])
    return len(self.shared[name]) if name == 'stringArray' else self.shared[name]['length']

  def is_right(self, value, kind):
    if kind[0] == '?':
      return value is None or self.is_right(value, kind[1:])
    if kind[0] == '-':
      return value == -1 or self.is_right(value, kind[1:])
    if kind == 'number':
      return type(value) in (int, float) and value >= 0
    types = {'bool': bool, 'text': str, 'object': dict}
    return isinstance(value, types[kind]) if kind in types else type(value) is int and 0 <= value < self.length(kind)

  def check_table(self, name, table, columns):
    for column, kind in columns.items():
      cells = table.get(column, [])
      if len(cells) != table['length']:
        self.problems.append(f'{name}.{column}: {len(cells)} of {table["length"]}')
      self.problems += [f'{name}.{column}[{i}]: {cell}' for i, cell in enumerate(cells) if not self.is_right(cell, kind)][:3]

  def check_members(self, name, value, members):
    self.problems += [f'{name}.{key}: {value.get(key)}' for key, types in members.items() if not isinstance(value.get(key), types)]

  def check_stacks(self):
    """Callers come first; inlined functions hang on the one around them, at its address."""
    frames, stacks = self.shared['frameTable'], self.shared['stackTable']
    for i, (frame, prefix) in enumerate(zip(stacks['frame'], stacks['prefixOffset'])):
      depth = frames['inlineDepth'][frame]
      outer = stacks['frame'][i - prefix] if 0 < prefix <= i else None
      if prefix > i or (depth > 0 and (outer is None or frames['inlineDepth'][outer] != depth - 1 or any(
          frames[column][outer] != frames[column][frame] for column in ('address', 'lib', 'nativeSymbol')))):
        self.problems.append(f'stackTable[{i}]')

  def check_thread(self, thread):
    self.check_members('thread', thread, THREAD)
    self.check_table('samples', thread['samples'], SAMPLES)
    self.check_table('markers', thread['markers'], MARKERS)
    known = {schema['name'] for schema in self.json['meta']['markerSchema']}
    self.problems += [f'marker {data}' for data in thread['markers']['data'] if data['type'] not in known]
    if sum(thread['samples']['timeDeltas']) > self.json['meta']['profilingEndTime'] + 1:
      self.problems.append(f'time of {thread["name"]}')

  def check(self):
    """Problems with the format."""
    meta = self.json['meta']
    self.check_members('meta', meta, META)
    if meta['preprocessedProfileVersion'] != VERSION:
      self.problems.append(f'version {meta["preprocessedProfileVersion"]}')
    if not any(category['color'] == 'grey' for category in meta['categories']):
      self.problems.append('no default category')
    for category in meta['categories']:
      if category['color'] not in COLORS or category['subcategories'][:1] != ['Other']:
        self.problems.append(f'category {category}')
    for lib in self.json['libs']:
      self.check_members('lib', lib, LIB)
    for name, columns in TABLES.items():
      self.check_table(name, self.shared[name], columns)
    if any(not isinstance(text, str) for text in self.shared['stringArray']):
      self.problems.append('stringArray')
    self.check_stacks()
    for thread in self.json['threads']:
      self.check_thread(thread)
    return self.problems

  def stack(self, index):
    stacks, frames, functions = self.shared['stackTable'], self.shared['frameTable'], self.shared['funcTable']
    names = []
    while True:
      names.append(self.shared['stringArray'][functions['name'][frames['func'][stacks['frame'][index]]]])
      if stacks['prefixOffset'][index] == 0:
        return tuple(reversed(names))
      index -= stacks['prefixOffset'][index]

  def times(self):
    """As timeline_exports.stacks_by_thread."""
    threads, known = {}, {}
    for thread in self.json['threads']:
      nobody = thread['name'] == '[No known thread]'
      key = ('', thread['name']) if nobody else (f'{thread["processName"]}-{thread["pid"]}', f'{thread["name"]}-{thread["tid"]}')
      times = threads.setdefault(key, {})
      for index, weight in zip(thread['samples']['stack'], thread['samples']['weight']):
        if index is not None:
          stack = known.setdefault(index, None) or self.stack(index)
          known[index] = stack
          times[stack] = times.get(stack, 0) + round(weight * 1e6)
    return {thread: times for thread, times in threads.items() if times}


def build_ids(result):
  """{path: build-id} by readelf, for files that are still there."""
  found = {}
  for row in s.report(result, 'modules'):
    if os.path.isfile(row['Path']):
      notes = subprocess.run(['readelf', '-n', row['Path']], capture_output=True, text=True, check=False).stdout
      if 'Build ID: ' in notes:
        found[row['Path']] = notes.partition('Build ID: ')[2].split()[0]
  return found


def check_libs(what, profile, result):
  ids = build_ids(result)
  off = [lib for lib in profile.json['libs'] if lib['path'] in ids and lib['codeId'] != ids[lib['path']]]
  named = [lib for lib in profile.json['libs'] if lib['path'] in ids]
  s.check(not off and named, f'{what}: build-ids of {len(named)} libraries', off[:1] or '')


def check_result(what, result):
  path = s.scratch(f'{what}.json.gz')
  s.run_tool('tbconvert', 'export', '--to', 'firefox', '-o', path, result)
  profile = Profile(path)
  problems = profile.check()
  s.check(not problems, f'{what}: tables of version {VERSION}', problems[:5] or '')
  t.check_stacks(what, profile.times(), result)
  cpu_ns = {thread['tid']: sum(round(weight * 1e6) for weight in thread['samples']['weight']) for thread in profile.json['threads']}
  t.check_threads(what, cpu_ns, result)
  cpu_us = {thread['tid']: sum(thread['samples']['threadCPUDelta']) for thread in profile.json['threads']}
  s.check(cpu_us == {tid: ns // 1000 for tid, ns in cpu_ns.items()}, f'{what}: CPU use between samples, in us', cpu_us)
  check_libs(what, profile, result)
  return profile, path


def check_external(what, profile, result):
  """Tasks and values of counters as markers of their threads: counts, times and sums as in tbreport."""
  tasks, counters = {}, {}
  for thread in profile.json['threads']:
    markers = thread['markers']
    for data, start, end in zip(markers['data'], markers['startTime'], markers['endTime']):
      if data['type'] == 'Task':
        tasks.setdefault(data['name'], []).append(round(end * 1e6) - round(start * 1e6))
      elif data['type'] == 'Counter':
        counters.setdefault((data['name'], str(thread['tid'])), []).append(data['value'])
  rows = [row for row in s.report(result, 'tasks') if row['Kind'] == 'task']
  expected = {row['Task']: (int(row['Count']), float(row['Total Time'])) for row in rows}
  seen = {name: (len(times), sum(times) / 1e9) for name, times in tasks.items()}
  wrong = [(name, seen.get(name), expected.get(name)) for name in {**expected, **seen} if name not in seen or name not in expected or
           seen[name][0] != expected[name][0] or abs(seen[name][1] - expected[name][1]) > 1e-6]
  s.check(expected and not wrong, f'{what}: markers of {len(expected)} tasks', wrong[:2] or '')
  expected = {(row['Counter'], row['TID']): (int(row['Values']), float(row['First']), float(row['Last'])) for row in s.report(result, 'counters')}
  seen = {key: (len(values), values[0], values[-1]) for key, values in counters.items()}
  s.check(expected and seen == expected, f'{what}: markers of {len(expected)} counters', '' if seen == expected else f'{seen} {expected}')


def collect_tasks():
  """Two threads that write a table of their tasks and counters, which the collection imports."""
  result = s.new_result()
  s.collect_well([s.target('tasks'), result], result=result)
  return result


def check_states(analysis):
  """CPU use is what threads ran; waits are markers with their objects and stacks."""
  result, steal = t.collect_waits(analysis)
  path = s.scratch(f'{analysis}.json.gz')
  s.run_tool('tbconvert', 'export', '--to', 'firefox', '-o', path, result)
  profile = Profile(path)
  problems = profile.check()
  s.check(not problems, f'{analysis}: tables', problems[:5] or '')
  t.check_running(analysis, {thread['tid']: sum(thread['samples']['threadCPUDelta']) * 1000 for thread in profile.json['threads']}, result)
  waits, stacks, names = {}, set(), set()
  for thread in profile.json['threads']:
    markers = thread['markers']
    for data, start, end in zip(markers['data'], markers['startTime'], markers['endTime']):
      if data['type'] == 'Wait':
        waits[data['name']] = waits.get(data['name'], 0) + (end - start) / 1e3
        stacks.update(profile.stack(data['cause']['stack']) if 'cause' in data else ())
      elif data['type'] == 'State':
        names.add(data['name'])
  s.check(names <= {'Ready', 'Blocked', 'Stopped', 'Unknown state'} and names, f'{analysis}: states', sorted(names))
  if analysis == 'locks-and-waits':
    t.check_waits(analysis, waits, result, steal)
    s.check({'take_mutex', 'take_item', 'poll_nothing'} <= stacks, f'{analysis}: stacks of waits', len(stacks))
  return profile, path


class Reader:
  """Firefox Profiler's code with a profile, as the process that answers the commands of profiler-cli."""

  def __init__(self, path):
    self.node = ['node', os.path.join(s.Run.build, READER)]
    self.environment = {**os.environ, 'PROFILER_CLI_SESSION_DIR': s.scratch('session'), 'NODE_NO_WARNINGS': '1'}
    self.server = subprocess.Popen([*self.node, '--daemon', path, '--session', 'test'], env=self.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    self.threads = self.wait()

  def run(self, *arguments):
    return subprocess.run([*self.node, *arguments, '--session', 'test'], env=self.environment, capture_output=True, text=True, check=False)

  def wait(self):
    """The list of threads, once the profile is loaded."""
    while self.server.poll() is None:
      done = self.run('thread', 'list', '--json', '--limit', '0')
      if done.returncode == 0:
        return json.loads(done.stdout)['threads']
      time.sleep(0.1)
    raise RuntimeError('the profile does not load')

  def ask(self, *arguments):
    done = self.run(*arguments, '--json')
    if done.returncode != 0:
      raise RuntimeError(f'{arguments}: {done.stderr[-300:]}')
    return json.loads(done.stdout)

  def close(self):
    self.run('stop', 'test')
    self.server.terminate()
    self.server.wait()


def check_reader(what, profile, path):
  reader = Reader(path)
  try:
    check_read_threads(what, profile, reader)
    busiest = max(profile.times().items(), key=lambda item: sum(item[1].values()))
    check_read_functions(what, busiest, reader)
  finally:
    reader.close()


def check_waits_read(what, profile, path):
  """The reader has all markers of states and waits, waits with their stacks: of the thread that has most of those of mutexes."""
  texts = profile.shared['stringArray']
  def named(thread):
    return [texts[name] for name, data in zip(thread['markers']['name'], thread['markers']['data']) if data['type'] in ('Wait', 'State')]
  thread = max(profile.json['threads'], key=lambda thread: (named(thread).count('Mutex'), len(named(thread))))
  expected = {name: named(thread).count(name) for name in named(thread)}
  reader = Reader(path)
  try:
    check_read_threads(what, profile, reader)
    handle = next(entry['threadHandle'] for entry in reader.threads if str(entry['tid']) == str(thread['tid']))
    rows = reader.ask('thread', 'markers', '--thread', handle, '--limit', '0')['byType']
  finally:
    reader.close()
  seen = {row['markerName']: row['count'] for row in rows if row['markerName'] in expected}
  s.check(expected and seen == expected, f'{what}: the reader shows states and waits', f'{seen} {expected}')
  stacks = [marker['hasStack'] for row in rows if row['markerName'] == 'Mutex' for marker in row['topMarkers']]
  s.check(all(stacks) and bool(stacks) == ('Mutex' in expected), f'{what}: the reader shows stacks of {len(stacks)} waits')


def check_read_threads(what, profile, reader):
  expected = {(thread['name'], str(thread['tid'])): sum(thread['samples']['threadCPUDelta']) for thread in profile.json['threads']}
  seen = {(thread['name'], str(thread['tid'])): round(thread['cpuMs'] * 1e3) for thread in reader.threads}
  s.check(seen == expected, f'{what}: the reader shows {len(expected)} threads with their CPU time', '' if seen == expected else seen)


def check_read_functions(what, thread, reader):
  """Own and total times, by the reader's call tree of the thread."""
  (_, label), stacks = thread
  own, total = {}, {}
  for stack, ns in stacks.items():
    own[stack[-1]] = own.get(stack[-1], 0) + ns
    for function in set(stack):
      total[function] = total.get(function, 0) + ns
  handle = next(entry['threadHandle'] for entry in reader.threads if f'{entry["name"]}-{entry["tid"]}' == label)
  rows = reader.ask('thread', 'functions', '--thread', handle, '--limit', '0', '--include-idle')['functions']
  seen = {}
  for row in rows:
    sums = seen.setdefault(row['name'], [0, 0])
    sums[0] += row['selfSamples'] * 1e6
    sums[1] = max(sums[1], row['totalSamples'] * 1e6)
  wrong = [(name, seen.get(name), own.get(name, 0), total[name]) for name in total
           if name not in seen or abs(seen[name][0] - own.get(name, 0)) > 10 or seen[name][1] > total[name] + 10]
  s.check(not wrong and set(seen) == set(total), f'{what}: the reader shows {len(total)} functions of {label}', wrong[:2] or '')


def main():
  with_reader = sys.argv[2:] == ['reader']
  s.start()
  if with_reader and not (shutil.which('node') and os.path.isfile(os.path.join(s.Run.build, READER))):
    if os.environ.get('TESTS_NEED_ALL'):
      s.check(False, 'reader', 'no node, or no npm package below the build directory')
    else:
      s.skip('reader', 'no node, or no npm package below the build directory; tools/bootstrap long installs them')
    s.finish()
  for what, collect in {**t.programs(), 'tasks': collect_tasks}.items():
    with s.section(what):
      result = collect()
      profile, path = check_result(what, result)
      if collect is collect_tasks:
        check_external(what, profile, result)
      if with_reader:
        check_reader(what, profile, path)
  for analysis in ('concurrency', 'locks-and-waits'):
    with s.section(analysis):
      profile, path = check_states(analysis)
      if with_reader:
        check_waits_read(analysis, profile, path)
  s.finish()


main()
