import type { HookHostName } from '@reeve/contract/names';
import type { HookHost } from './hook-host.ts';

const hosts: Readonly<Record<HookHostName, () => Promise<HookHost>>> = {
  'claude-code': async () => (await import('./hosts/claude-code.ts')).claudeCode,
  codex: async () => (await import('./hosts/codex.ts')).codex,
  cursor: async () => (await import('./hosts/cursor.ts')).cursor,
  'gemini-cli': async () => (await import('./hosts/gemini-cli.ts')).geminiCli,
};

/** The code of one host, loaded when it is needed. */
export function loadHost(name: HookHostName): Promise<HookHost> {
  return hosts[name]();
}
