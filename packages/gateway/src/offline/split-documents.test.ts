import { expect, test } from 'vitest';
import { splitDocuments } from './split-documents.ts';

test.each<[string, string, string[]]>([
  ['one document', 'name: a\n', ['name: a\n']],
  ['two', 'name: a\n---\nname: b\n', ['name: a\n', 'name: b\n']],
  ['a marker at the top', '---\nname: a\n---\nname: b', ['name: a\n', 'name: b\n']],
  ['comments before the first marker, which belong to it', '# about a\n---\nname: a\n', ['# about a\nname: a\n']],
  [
    'comments within',
    'name: a\n# end of a\n---\n# about b\nname: b\n',
    ['name: a\n# end of a\n', '# about b\nname: b\n'],
  ],
  ['documents of comments only', 'name: a\n---\n# later\n---\nname: b\n', ['name: a\n', 'name: b\n']],
  ['content behind the marker', '--- { name: a }\n--- # b\nname: b\n', ['{ name: a }\n', '# b\nname: b\n']],
  ['a text that only looks like a marker', 'a: |\n  ---\n  b\n', ['a: |\n  ---\n  b\n']],
  ['dashes that are none', 'a: ----\n----: 1\n', ['a: ----\n----: 1\n']],
  ['lines that end as on Windows', 'name: a\r\n---\r\nname: b\r\n', ['name: a\n', 'name: b\n']],
  ['nothing', '# nothing\n', []],
])('splits %s', (_, text, expected) => {
  expect(splitDocuments(text)).toEqual(expected);
});
