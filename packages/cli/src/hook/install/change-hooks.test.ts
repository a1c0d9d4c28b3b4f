import { expect, test } from 'vitest';
import { withHooks, withoutHooks } from './change-hooks.ts';
import { hostSettings } from './host-settings.ts';

const events = hostSettings['claude-code'].events('reeve hook claude-code || exit 2');

test('removes only its own entries, also out of groups with others', () => {
  const mine = { type: 'command', command: 'my-guard' };
  const ours = { type: 'command', command: "'/opt/x/reeve.mjs' hook claude-code --agent a/b/c || exit 2" };
  const paths = "'/my node/node' /opt/x/bundle.mjs hook claude-code --fail-open || exit 2";
  const wrapped = 'docker exec -i box govern hook claude-code || exit 2';
  const all = [paths, wrapped, 'reeve hook claude-code'].map((command) => ({ type: 'command', command }));
  const others = { type: 'command', command: 'reeve hook claude-code-helper' };
  const settings = {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [mine, ours, others, ...all] }, { hooks: [ours] }] },
  };
  expect(withoutHooks(settings, 'claude-code')).toEqual({
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [mine, others] }] },
  });
  expect(withoutHooks(settings, 'codex')).toEqual(settings);
});

test('what it adds and removes leaves the settings as they were', () => {
  for (const before of [
    {},
    { theme: 'dark' },
    { hooks: {} },
    { hooks: { Stop: [] } },
    { hooks: { PreToolUse: [{ hooks: [] }] } },
  ]) {
    const installed = withHooks(before, 'claude-code', events);
    expect(withHooks(installed, 'claude-code', events)).toEqual(installed);
    const { hooks = {}, ...rest } = withoutHooks(installed, 'claude-code') as { hooks?: object };
    const { hooks: had = {}, ...others } = before as { hooks?: Record<string, unknown[]> };
    expect(rest).toEqual(others);
    expect(hooks).toEqual(Object.fromEntries(Object.entries(had).filter(([, entries]) => entries.length > 0)));
  }
});

test('leaves alone what is not in the form of hooks', () => {
  expect(withoutHooks({ hooks: 'none' }, 'cursor')).toEqual({ hooks: 'none' });
  expect(withoutHooks({ hooks: { a: 7, b: [1, null] } }, 'cursor')).toEqual({ hooks: { a: 7, b: [1, null] } });
});
