import { expect, test } from 'vitest';
import { planGlob, planSearch } from './plan-search.ts';

const place = { cwd: '/home/ada/work', home: '/home/ada' };

function shown(folders: readonly string[], pattern: string): readonly string[] {
  return planGlob(folders, [pattern], place).map(({ action, isDeep }) =>
    'path' in action ? `${action.path}${isDeep === true ? ' and below' : ''}` : '?',
  );
}

test.each([
  ['**/*.ts', ['/home/ada/work and below', '/home/ada/work/**/*.ts']],
  ['src/**/*.ts', ['/home/ada/work/src and below', '/home/ada/work/src/**/*.ts']],
  ['../.reeve/*', ['/home/ada/.reeve and below', '/home/ada/.reeve/*']],
  ['/home/ada/.aws/*', ['/home/ada/.aws and below', '/home/ada/.aws/*']],
  ['~/.aws/cred*', ['/home/ada/.aws and below', '/home/ada/.aws/cred*']],
  ['/*', ['/ and below', '/*']],
  ['.env', ['/home/ada/work/.env']],
  ['{a,../.reeve}/x', ['/home/ada/work/a/x', '/home/ada/.reeve/x']],
  [
    '{/home/ada/.reeve,x}/*',
    ['/home/ada/.reeve and below', '/home/ada/.reeve/*', '/home/ada/work/x and below', '/home/ada/work/x/*'],
  ],
  ['**/../../.reeve/*', ['?']],
  ['[.][.]/.reeve/*', ['?']],
  ['\\.\\./.reeve/*', ['?']],
  ['{a,b}'.repeat(20), ['?']],
])('the pattern %s shows %j', (pattern, expected) => {
  expect(shown([], pattern)).toEqual(expected);
});

test('a pattern begins in the folder that is given', () => {
  expect(shown(['~/.config'], '*/x')).toEqual(['/home/ada/.config and below', '/home/ada/.config/*/x']);
});

test('the alternatives of a search are judged each', () => {
  const paths = planSearch(['src'], ['*.{env,pem}'], place).map(({ action }) => 'path' in action && action.path);
  expect(paths).toEqual(['/home/ada/work/src', '/home/ada/work/src/*.env', '/home/ada/work/src/*.pem']);
});
