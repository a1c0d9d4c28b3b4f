import { spawnSync } from 'node:child_process';
import { goTool } from '../conformance/tools.ts';
import { Chance } from '../trust/chance.ts';
import type { Limits, Outcome } from '../trust/part.ts';
import { isOver } from '../trust/part.ts';
import { namesIn } from './compare.ts';
import { everyday, hidden } from './corpus.ts';
import { drawLine } from './draw-line.ts';

const dialects = { bash: 'bash', dash: 'posix' } as const;

/** Draws lines, and compares the commands that the hook finds with those in the syntax tree of another parser, mvdan.cc/sh. */
export async function compareTrees(limits: Limits): Promise<Outcome> {
  const tool = await goTool('mvdan.cc/sh/v3/cmd/shfmt', 'mvdan.cc/sh/v3', limits.say);
  if ('missing' in tool) return { counts: {}, findings: [], notRun: [tool.missing] };
  const chance = new Chance(limits.seed);
  const given = [...everyday, ...hidden];
  const findings: string[] = [];
  let lines = 0;
  let compared = 0;
  while (!isOver(limits, lines) && findings.length < 20) {
    const line = given[lines++] ?? drawLine(chance);
    for (const shell of ['bash', 'dash'] as const) {
      const found = namesIn(line, shell);
      const named = found === undefined ? undefined : namesInTree(tool.path, line, dialects[shell]);
      if (found === undefined || named === undefined) continue;
      compared++;
      const unseen = named.filter((name) => !found.has(name));
      if (unseen.length > 0) findings.push(`${shell}: ${unseen.join(', ')} is unseen in ${JSON.stringify(line)}`);
    }
  }
  return { counts: { lines, 'lines compared': compared }, findings, notRun: [] };
}

/** The names of commands that stand in a line as they are. Undefined if the parser refuses the line. */
function namesInTree(program: string, line: string, dialect: string): readonly string[] | undefined {
  const { status, stdout } = spawnSync(program, ['--to-json', '-ln', dialect], { input: line, encoding: 'utf8' });
  return status === 0 ? callsIn(JSON.parse(stdout)) : undefined;
}

function callsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(callsIn);
  if (typeof node !== 'object' || node === null) return [];
  const members = node as Readonly<Record<string, unknown>>;
  const [word] = members['Type'] === 'CallExpr' && Array.isArray(members['Args']) ? (members['Args'] as unknown[]) : [];
  const name = literalOf(word);
  return [...(name === undefined ? [] : [name]), ...Object.values(members).flatMap(callsIn)];
}

function literalOf(word: unknown): string | undefined {
  const parts = (word as { Parts?: readonly { Type: string; Value?: string }[] } | undefined)?.Parts ?? [];
  if (parts.length === 0 || parts.some(({ Type, Value = '' }) => Type !== 'Lit' || /[^\w./-]/.test(Value)))
    return undefined;
  return parts.map(({ Value = '' }) => Value.split('/').at(-1)).join('');
}
