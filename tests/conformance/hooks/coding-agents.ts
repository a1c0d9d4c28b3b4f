import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Tool } from '../tools.ts';
import { cacheFolder, whyOf } from '../tools.ts';

const run = promisify(execFile);

/** A coding agent as its makers publish it. */
export interface CodingAgent {
  readonly host: 'claude-code' | 'codex';
  readonly package: string;
  readonly program: string;
  /** Names a program that is installed elsewhere. */
  readonly variable: string;
  /** The command line and the environment for one turn without a person, with this model. */
  turn(modelUrl: string): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
}

export const codingAgents: readonly CodingAgent[] = [
  {
    host: 'claude-code',
    package: '@anthropic-ai/claude-code',
    program: 'claude',
    variable: 'REEVE_CONFORMANCE_CLAUDE',
    turn: (url) => ({
      args: ['-p', 'go', '--allowedTools', 'Bash'],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'sk-scripted',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    }),
  },
  {
    host: 'codex',
    package: '@openai/codex',
    program: 'codex',
    variable: 'REEVE_CONFORMANCE_CODEX',
    turn: (url) => ({
      args: [
        'exec',
        '--skip-git-repo-check',
        '--dangerously-bypass-approvals-and-sandbox',
        // Hooks are trusted by hand, by a person who has looked at them.
        '--dangerously-bypass-hook-trust',
        ...['-c', 'model="scripted"', '-c', 'model_provider="scripted"'],
        ...['-c', `model_providers.scripted={name="scripted",base_url="${url}/v1",wire_api="responses"}`],
        'go',
      ],
      env: { OPENAI_API_KEY: 'sk-scripted' },
    }),
  },
];

/** The program, installed once: several hundred megabytes. */
export async function findAgent(agent: CodingAgent, say: (line: string) => void): Promise<Tool> {
  const folder = join(cacheFolder, agent.program);
  const given = process.env[agent.variable];
  const path = given ?? join(folder, 'node_modules', '.bin', agent.program);
  try {
    if (!existsSync(path)) {
      say(`installing ${agent.package}, which takes a few minutes`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
      await run('npm', ['install', '--no-audit', '--no-fund', `${agent.package}@latest`], { cwd: folder });
    }
    const { stdout } = await run(path, ['--version']);
    return { path, version: stdout.trim() };
  } catch (error) {
    return { missing: `${agent.package} could not be installed: ${whyOf(error)}` };
  }
}
