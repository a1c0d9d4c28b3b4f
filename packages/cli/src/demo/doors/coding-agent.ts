import { randomUUID } from 'node:crypto';
import { pause } from '../demo-agent.ts';
import type { DoorPlace } from './door-process.ts';
import { runOnce } from './door-process.ts';

/** What the agent wants to do in each session. */
const uses: readonly (readonly [tool: string, input: Readonly<Record<string, string>>])[] = [
  ['Read', { file_path: '/workspace/app/README.md' }],
  ['Bash', { command: 'git status && npm test' }],
  ['Bash', { command: 'git diff | head -50; rm -rf /workspace/app/build' }],
  ['Bash', { command: 'git push origin main' }],
  ['Edit', { file_path: '/workspace/app/src/main.go', old_string: 'a', new_string: 'b' }],
  ['Read', { file_path: '/workspace/app/.env' }],
  ['WebFetch', { url: 'https://docs.example.com/release-notes', prompt: 'What is new?' }],
];

/** An agent in the manner of Claude Code: each of its events starts the real hook. What it was allowed is only played. */
export async function writeCode(place: DoorPlace, token: string, signal: AbortSignal): Promise<void> {
  const hooked = { ...place, env: { ...place.env, REEVE_AGENT_TOKEN: token } };
  const hook = (event: object) =>
    runOnce(['hook', 'claude-code', '--approval-wait', '60'], JSON.stringify(event), hooked, signal);
  while (!signal.aborted) {
    const session = { session_id: randomUUID(), cwd: '/workspace/app', permission_mode: 'default' };
    for (const [at, [tool, input]] of uses.entries()) {
      const use = { ...session, tool_name: tool, tool_input: input, tool_use_id: `toolu_${at}` };
      const answer = await hook({ ...use, hook_event_name: 'PreToolUse' });
      if (signal.aborted) return;
      await pause(1.5 + Math.random() * 2, signal);
      if (isAllowed(answer)) await hook({ ...use, hook_event_name: 'PostToolUse', tool_response: { success: true } });
    }
    await hook({ ...session, hook_event_name: 'SessionEnd', reason: 'clear' });
    await pause(5, signal);
  }
}

interface HookAnswer {
  readonly hookSpecificOutput?: { readonly permissionDecision?: string };
}

function isAllowed(answer: string): boolean {
  try {
    return (JSON.parse(answer) as HookAnswer).hookSpecificOutput?.permissionDecision !== 'deny';
  } catch {
    return false;
  }
}
