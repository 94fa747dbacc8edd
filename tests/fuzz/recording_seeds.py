"""What the fuzz target of recordings starts from."""

import os
import struct
import subprocess

SIZES = range(100, 262144)  # bytes of an input


def make(_source, _directory, folder):
  """Recordings of perf, of its forms, as far as it may record here; and small ones made up."""
  for name, options in {'pointers': ['-g'], 'copies': ['--call-graph', 'dwarf,4096'], 'packed': ['-g', '-z'], 'several': ['-e', 'task-clock']}.items():
    subprocess.run(['perf', 'record', '-q', '-e', 'cpu-clock', *options, '-c', '400000', '-o', f'{folder}/{name}', '--', 'ls', '/'],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
  with open(f'{folder}/piped', 'wb') as file:
    subprocess.run(['perf', 'record', '-q', '-e', 'cpu-clock', '-g', '-c', '400000', '-o', '-', '--', 'true'], stdout=file,
                   stderr=subprocess.DEVNULL, check=False)
  for name in os.listdir(folder):
    if os.path.getsize(f'{folder}/{name}') not in SIZES:
      os.remove(f'{folder}/{name}')
  # Address, task, time, period and callchain; all records have task and time.
  attributes = struct.pack('<IIQQQQQ', 1, 112, 0, 1000000, 1 | 2 | 4 | 256 | 32, 0, 1 << 18).ljust(112, b'\0')

  def made(kind, flags, body):
    return struct.pack('<IHH', kind, flags, 8 + len(body)) + body

  def trailer(time):
    return struct.pack('<IIQ', 7, 7, time)

  records = (made(3, 0, struct.pack('<II', 7, 7) + b'ls\0\0\0\0\0\0' + trailer(1))
             + made(10, 2, struct.pack('<IIQQQIIQQII', 7, 7, 0x400000, 0x100000, 0, 8, 1, 5, 0, 5, 2) + b'/usr/bin/ls\0\0\0\0\0' + trailer(2))
             + b''.join(made(9, 2, struct.pack('<QIIQQQQQQ', 0x401000, 7, 7, 9 - i, 1000, 3, (1 << 64) - 512, 0x401000, 0x401100))
                        for i in range(5)) + made(68, 0, b'') + made(2, 0, struct.pack('<QQ', 1, 3) + trailer(9))
             + made(7, 0, struct.pack('<IIIIQ', 8, 7, 8, 7, 10) + trailer(10)) + made(4, 0, struct.pack('<IIIIQ', 7, 7, 7, 7, 11) + trailer(11)))
  with open(f'{folder}/made', 'wb') as file:
    file.write(struct.pack('<8sQQQQQQQQ', b'PERFILE2', 104, 128, 104, 128, 232, len(records), 0, 0).ljust(104, b'\0')
               + attributes + bytes(16) + records)
  with open(f'{folder}/made-pipe', 'wb') as file:
    file.write(struct.pack('<8sQ', b'PERFILE2', 16) + made(64, 0, attributes) + records)
  # Switches and wakes of the scheduler.
  traced = b''
  for identity, name in ((5, b'sched:sched_switch'), (6, b'sched:sched_waking')):
    point = struct.pack('<IIQQQQQ', 2, 112, identity, 1, 1 << 16 | 2 | 4 | 128 | 1024, 0, 1 << 18).ljust(112, b'\0')
    traced += made(64, 0, point + struct.pack('<Q', identity)) + made(78, 0, struct.pack('<QQ', 2, identity) + name.ljust(24, b'\0'))
  for identity, previous, state, following, time in ((5, 0, 0, 7, 1), (5, 7, 1, 8, 2), (6, 7, 0, 0, 3), (5, 8, 256, 7, 4), (5, 7, 16, 0, 5)):
    raw = struct.pack('<24xIxxxxQ16xI8x', previous, state, following)
    traced += made(9, 1, struct.pack('<QIIQIII', identity, 7, previous, time, 1, 0, len(raw)) + raw)
  with open(f'{folder}/made-traced', 'wb') as file:
    file.write(struct.pack('<8sQ', b'PERFILE2', 16) + traced)
