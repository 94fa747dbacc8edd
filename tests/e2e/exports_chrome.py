"""tbconvert export --to chrome: events as the Trace Event Format and Perfetto's importer want them, CPU times of stacks and threads as
in our other forms."""

import json

import support as s
import timeline_exports as t

NOBODY = 1 << 22  # the exporter's number of no known thread


class Trace:
  def __init__(self, path):
    with open(path, encoding='utf-8') as file:
      self.json = json.load(file)
    self.events = self.json['traceEvents']
    self.problems = []

  def of(self, phase):
    return [event for event in self.events if event['ph'] == phase]

  def check(self):
    for event in self.events:
      if event['ph'] not in 'MXP' or not event['name'] or any(type(event[key]) is not int for key in ('pid', 'tid')):
        self.problems.append(event)
    for event in self.of('M'):
      if event['name'] not in ('process_name', 'thread_name') or not event['args']['name']:
        self.problems.append(event)
    self.check_slices()
    self.check_profiles()
    return self.problems

  def check_slices(self):
    """Slices of a thread do not overlap: Perfetto would move them to another track. Their threads' clocks go on."""
    ends = {}
    for event in self.of('X'):
      key = event['pid'], event['tid']
      end, clock = ends.get(key, (0, 0))
      if event['ts'] < end - 1e-6 or event['dur'] < 0 or abs(event['tts'] - clock) > 1e-3 or event['tdur'] <= 0:
        self.problems.append(event)
      ends[key] = event['ts'] + event['dur'], event['tts'] + event['tdur']

  def check_profiles(self):
    """V8's profiles: an id in hexadecimal with a start, then chunks: nodes after their parents, as many deltas (whole us) as samples."""
    started, nodes = {}, {}
    for event in self.of('P'):
      key = event['pid'], int(event['id'], 16)
      data = event['args']['data']
      if event['name'] == 'Profile':
        if key in started or type(data['startTime']) is not int:
          self.problems.append(event)
        started[key] = event['tid']
        continue
      known = nodes.setdefault(key, {})
      for node in data['cpuProfile']['nodes']:
        if node['id'] in known or node['id'] < 2 or ('parent' in node and node['parent'] not in known):
          self.problems.append(node)
        known[node['id']] = node
      samples, deltas = data['cpuProfile']['samples'], data['timeDeltas']
      if (event['name'] != 'ProfileChunk' or started.get(key) != event['tid'] or len(samples) != len(deltas) or
          len(samples) != len(data['cpuProfile']['cpuTimes']) or any(sample not in known for sample in samples) or
          any(type(delta) is not int or delta < 0 for delta in deltas)):
        self.problems.append(event['name'])

  def names(self, kind, number):
    return {event[number]: event['args']['name'] for event in self.of('M') if event['name'] == kind}

  def times(self):
    """As timeline_exports.stacks_by_thread."""
    processes, threads = self.names('process_name', 'pid'), self.names('thread_name', 'tid')
    found, nodes = {}, {}
    for event in self.of('P'):
      if event['name'] == 'Profile':
        continue
      pid, tid, profile = event['pid'], event['tid'], event['args']['data']['cpuProfile']
      known = nodes.setdefault(event['id'], {})
      for node in profile['nodes']:
        known[node['id']] = (*known.get(node.get('parent'), ()), node['callFrame']['functionName'])
      label = ('', threads[tid]) if tid == NOBODY else (f'{processes[pid]}-{pid}', f'{threads[tid]}-{tid}')
      times = found.setdefault(label, {})
      for sample, us in zip(profile['samples'], profile['cpuTimes']):
        times[known[sample]] = times.get(known[sample], 0) + round(us * 1e3)
    return found

  def thread_times(self):
    """{TID: ns} of the slices."""
    found = {}
    for event in self.of('X'):
      found[event['tid']] = found.get(event['tid'], 0) + round(event['tdur'] * 1e3)
    return found


def check_pieces(what, trace):
  """Slices of a thread do not overlap. {TID: [(start, end, name, category)] in us}"""
  pieces = {}
  for event in trace.of('X'):
    if event['dur'] > 0:
      pieces.setdefault(event['tid'], []).append((event['ts'], event['ts'] + event['dur'], event['name'], event['cat']))
  wrong = [(before, after) for rows in pieces.values() for before, after in zip(rows, rows[1:]) if after[0] < before[1] - 1e-3]
  s.check(not wrong and pieces, f'{what}: {sum(map(len, pieces.values()))} slices', wrong[:2] or '')
  return pieces


def check_flows(what, trace, pieces):
  """Who wakes runs, who is woken waits. A wake takes its time to another CPU, which the host may run later: the waker may be off its
  CPU by then."""
  def lies_in(event, wanted, late_us):
    return any(wanted in piece[2:] and piece[0] <= event['ts'] < piece[1] + late_us for piece in pieces.get(event['tid'], []))
  starts, ends = trace.of('s'), trace.of('f')
  good = sum(lies_in(start, 'Running', 1000) and lies_in(end, 'wait', 0) and start['id'] == end['id'] for start, end in zip(starts, ends))
  s.check(len(starts) == len(ends) and good >= 0.9 * len(starts), f'{what}: flows from wakers', f'{good} of {len(starts)}')
  return good


def check_counter(what, trace, pieces):
  """The counter's values over time are what all threads ran, but for its three digits."""
  values = [(event['ts'], event['args']['mean']) for event in trace.of('C')]
  seen = sum(mean * (until - at) for (at, mean), (until, _) in zip(values, values[1:]))
  ran = sum(end - start for rows in pieces.values() for start, end, name, _ in rows if name == 'Running')
  s.check(abs(seen - ran) <= 0.0005 * (values[-1][0] - values[0][0]) + 1, f'{what}: utilization', f'{seen:.0f} us, {ran:.0f} us')


def check_states(analysis):
  result, steal = t.collect_waits(analysis)
  path = s.scratch(f'{analysis}.json')
  s.run_tool('tbconvert', 'export', '--to', 'chrome', '-o', path, result)
  trace = Trace(path)
  pieces = check_pieces(analysis, trace)
  check_counter(analysis, trace, pieces)
  t.check_running(analysis, {tid: sum(round((end - start) * 1e3) for start, end, name, _ in rows if name == 'Running')
                             for tid, rows in pieces.items()}, result)
  flows = check_flows(analysis, trace, pieces)
  if analysis == 'concurrency':
    return
  waits = {}
  for rows in pieces.values():
    for start, end, name, category in rows:
      if category == 'wait':
        waits[name] = waits.get(name, 0) + (end - start) / 1e6
  t.check_waits(analysis, waits, result, steal)
  wakers = [row for row in s.report(result, 'waits', '--group-by', 'waker') if row.get('Waker Function')]
  s.check(flows > 0 or not wakers, f'{analysis}: wakers', f'{flows} flows')


def check_result(what, result):
  path = s.scratch(f'{what}.json')
  s.run_tool('tbconvert', 'export', '--to', 'chrome', '-o', path, result)
  trace = Trace(path)
  problems = trace.check()
  s.check(not problems and trace.events, f'{what}: {len(trace.events)} events', problems[:3] or '')
  t.check_stacks(what, trace.times(), result)
  t.check_threads(what, trace.thread_times(), result)


def main():
  s.start()
  for what, collect in t.programs().items():
    with s.section(what):
      check_result(what, collect())
  for analysis in ('concurrency', 'locks-and-waits'):
    with s.section(analysis):
      check_states(analysis)
  s.finish()


main()
