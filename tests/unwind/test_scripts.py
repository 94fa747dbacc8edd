"""What the scripts of this folder make of lines that they cannot read, and of programs that are missing."""

import os
import unittest

import agreement
import readelf_rows

FDE = '00000030 0000000000000024 00000034 FDE cie=00000000 pc=0000000000001000..0000000000001020'
COLUMNS = '   LOC           CFA      rbx   ra    '


class Rows(unittest.TestCase):

  def read(self, *lines):
    tally = readelf_rows.Tally()
    return list(readelf_rows.section_rows('file', [FDE, COLUMNS, *lines], tally)), tally

  def test_rows(self):
    rows, tally = self.read('0000000000001000 rsp+8    u     c-8   ', '0000000000001004 r10+0    r2 (rcx) c-8   ', '',
                            '00000060 ZERO terminator')
    self.assertEqual(rows, [('0000000000001000', 'rsp+8', {'rbx': 'u', 'ra': 'c-8'}),
                            ('0000000000001004', 'r10+0', {'rbx': 'rcx', 'ra': 'c-8'})])
    self.assertEqual((tally.unread, tally.outside), (0, 0))

  def test_other_number_of_fields(self):
    rows, tally = self.read('0000000000001000 rsp+8    u     ', '0000000000001004 rsp+16   u     c-8   x')
    self.assertEqual((rows, tally.unread), ([], 2))

  def test_other_lines(self):
    self.assertEqual(self.read('readelf: Warning: who knows')[1].unread, 1)

  def test_end_of_function(self):
    rows, tally = self.read('0000000000001020 rsp+8    u     c-8   ')
    self.assertEqual((rows, tally.outside), ([], 1))


class Programs(unittest.TestCase):

  def run_program(self, takes, build, command):
    return agreement.run('name', '/bin/false', None, takes, build, 1, [], command)

  def test_missing(self):
    for takes, build, command in ((['no-such-program'], None, ['true']), ([], ['no-such-program'], ['./p']),
                                  ([], None, ['no-such-program'])):
      self.assertEqual(self.run_program(takes, build, command), agreement.MISSING)

  def test_not_built(self):
    self.assertEqual(self.run_program([], ['false'], ['./p']), 1)

  def test_difference(self):
    self.assertEqual(self.run_program([], None, ['true']), 1)

  def test_result(self):
    os.environ.pop('TESTS_NEED_ALL', None)
    self.assertEqual([agreement.summary(results) for results in ([0, 0], [0, 77], [77, 1], [])], [0, 77, 1, 1])
    os.environ['TESTS_NEED_ALL'] = '1'
    self.assertEqual([agreement.summary(results) for results in ([0, 0], [0, 77])], [0, 1])


if __name__ == '__main__':
  unittest.main()
