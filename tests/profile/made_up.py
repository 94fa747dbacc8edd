"""Writes the sources of a profile library with one stream more, made by the edits that a stream costs: its record and its
name in profile.h, its fields and its row in streams.c. Usage: made_up.py PROFILE_DIRECTORY OUTPUT_DIRECTORY"""

import os
import sys

RECORD = """struct profile_made_up {
	uint64_t tsc;
	uint64_t value;
	struct profile_text text;
	uint32_t frame; /* of which record */
	uint32_t image;
};
_Static_assert(sizeof(struct profile_made_up) == 32, "");

"""
FIELDS = """static const struct profile_stream_field made_up_fields[] = {
	FIELD_TSC(profile_made_up, tsc),
	FIELD(profile_made_up, value),
	FIELD_TEXT(profile_made_up, text),
	FIELD_TO(profile_made_up, frame, PROFILE_STREAM_FRAMES, PROFILE_LOST_RECORD),
	FIELD_TO(profile_made_up, image, PROFILE_STREAM_IMAGES, PROFILE_LOST_TO_UNKNOWN),
};

"""
ROW = """	[PROFILE_STREAM_MADE_UP] = {"tbcollect.made_up", RECORD(profile_made_up, made_up_fields)},
"""
EDITS = {
  'profile.h': [('\tPROFILE_STREAM_COLLECTED,', '\tPROFILE_STREAM_MADE_UP,\n'),
                ('_Static_assert(sizeof(struct profile_image)', RECORD)],
  'base/streams.c': [('#define FIELDS(array)', FIELDS), ('\t[PROFILE_STREAM_SYMTEXT] = ', ROW)],
}


def edited(text, edits):
  for place, more in edits:
    if text.count(place) != 1:
      sys.exit(f'"{place}" is there {text.count(place)} times, not once')
    text = text.replace(place, more + place)
  return text


def main():
  source, output = sys.argv[1:]
  directory = os.path.join(output, 'made_up', 'profile')
  os.makedirs(directory, exist_ok=True)
  made = {}
  for name, edits in EDITS.items():
    with open(os.path.join(source, name)) as file:
      made[name] = edited(file.read(), edits)
  for path, name in ((os.path.join(directory, 'profile.h'), 'profile.h'),
                     (os.path.join(output, 'made_up_profile.h'), 'profile.h'),
                     (os.path.join(output, 'made_up_streams.c'), 'base/streams.c')):
    with open(path, 'w') as file:
      file.write(made[name])


main()
