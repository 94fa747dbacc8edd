"""The Debian packages: built, clean for lintian, installed and run in a chroot with nothing but Debian's base system.
Usage: deb.py SOURCE"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import support as s

SOURCE = sys.argv[1]


def run(*command, **options):
  done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                        stdin=subprocess.DEVNULL, check=False, **options)
  return done.returncode, done.stdout


def mirror():
  """Where this machine's apt has Debian's packages from; debootstrap's own choice if that cannot be told."""
  for path in ['/etc/apt/sources.list', *sorted(glob.glob('/etc/apt/sources.list.d/*'))]:
    if os.path.isfile(path):
      with open(path, encoding='utf-8', errors='replace') as file:
        found = re.search(r'^(?:deb (?:\[.*\] )?|URIs: *)(https?://\S+debian/?)\s', file.read(), re.MULTILINE)
      if found:
        return [found.group(1)]
  return []


def inside(root, *command):
  """In a mount namespace of its own, so that nothing stays mounted."""
  mounts = 'mount -t proc proc "$0/proc" && mount -t sysfs sys "$0/sys"'
  return run('unshare', '--mount', 'sh', '-c', mounts + ' && exec chroot "$0" "$@"', root, *command,
             env={'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'DEBIAN_FRONTEND': 'noninteractive', 'LC_ALL': 'C.UTF-8'})


def check_chroot(root):
  packages = [path for path in glob.glob(f'{SOURCE}/build-deb/*.deb') if '-dbgsym' not in path]
  s.check(len(packages) == 3, 'three packages', [os.path.basename(path) for path in packages])
  for path in packages:
    shutil.copy(path, root)
  status, text = inside(root, 'apt-get', 'install', '-q', '-y', '--no-install-recommends',
                        *('/' + os.path.basename(path) for path in packages))
  s.check(status == 0, 'installs', text[-500:] if status else '')
  status, text = inside(root, 'tbcollect', '-i', '1ms', '-r', '/result', '--', 'perl', '-e',
                        'my $sum = 0; $sum += $_ % 7 for 1 .. 5_000_000; print "$sum\\n"')
  s.check(status == 0 and '15000000' in text, 'collects', text.strip()[-300:])
  status, text = inside(root, 'tbreport', 'modules', '/result', '--format', 'csv')
  s.check(status == 0 and re.search(r'^"?perl', text, re.MULTILINE), 'reports the program', text[:300])
  status, text = inside(root, 'apt-get', 'purge', '-q', '-y', 'tbcollect', 'libtbrw2', 'libtbrw-dev')
  s.check(status == 0 and not glob.glob(f'{root}/usr/**/*tbcollect*', recursive=True), 'is removed as a whole',
          text[-300:] if status else '')


def main():
  if os.getuid() != 0 or not shutil.which('debootstrap', path='/usr/sbin:/usr/bin'):
    s.skip('packages', 'needs root and debootstrap')
    s.finish()
  status, text = run(f'{SOURCE}/tools/bootstrap', 'deb')
  s.check(status == 0, 'builds and is clean', text[-1500:] if status else '')
  with tempfile.TemporaryDirectory() as root:
    status, text = run('debootstrap', '--variant=minbase', 'bookworm', root, *mirror())
    if s.check(status == 0, 'a base system', text[-500:] if status else ''):
      with s.section('in a chroot'):
        check_chroot(root)
  s.finish()


if __name__ == '__main__':
  main()
