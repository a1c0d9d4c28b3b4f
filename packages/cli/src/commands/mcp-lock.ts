import type { ToolHashes } from '@reeve/proxy/mcp';
import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { text } from '../command-line/values.ts';
import { currentTools, writeLock } from '../mcp/lock-file.ts';
import { ownAccess } from '../mcp/server-access.ts';
import { serversFileAt } from '../mcp/servers.ts';
import { cleanLines } from '../output/clean-text.ts';
import { print } from '../output/print.ts';

export const mcpLockCommand = defineCommand({
  details: [
    'Asks each server of the file for its tools and writes the SHA-256 of their definitions to FILE.lock. From then on, "reeve mcp serve" and "reeve mcp run --config" deny tools that are defined otherwise. Needs no gateway. Data: {file, servers: {NAME: {tools}}}.',
  ],
  args: {},
  options: { config: text('FILE', 'The file with the servers.', { completes: 'file' }) },
  examples: [['reeve mcp lock --config mcp.yaml', 'writes mcp.yaml.lock']],
  run: async ({ options, globals }, shell) => {
    if (options.config === undefined) throw new UsageError('--config FILE is missing');
    const { servers } = await serversFileAt(shell, options.config);
    const warn = (line: string) => void shell.stderr.write(`reeve mcp: ${cleanLines(line)}\n`);
    const lock: Record<string, ToolHashes> = {};
    for (const [name, spec] of servers) {
      lock[name] = await currentTools(name, spec, ownAccess(shell, name, spec), warn);
    }
    const file = `${options.config}.lock`;
    writeLock(file, lock);
    const rows = Object.entries(lock).map(([name, tools]) => [name, Object.keys(tools).length] as const);
    const data = { file, servers: Object.fromEntries(rows.map(([name, tools]) => [name, { tools }])) };
    print(shell, globals.output, data, () => rows.map(([name, tools]) => `${name}: ${tools} tools locked`).join('\n'));
    return 0;
  },
});
