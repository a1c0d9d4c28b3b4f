import { checkResult, ReeveError } from '@reeve/core';
import { earlierToken, shownOf, tokenOf } from './agent-deeds.ts';
import { Broken } from './broken.ts';
import type { Deed, Stage } from './deed.ts';
import { results } from './flow-rules.ts';
import { agentName, opName } from './judged-entry.ts';
import type { VirtualGateway } from './virtual-gateway.ts';
import type { KnownOp } from './world.ts';

/** Mostly one that is to be asked about; now and then any other, one that has ended, or somebody else's. */
function drawOp({ random, world }: Stage): KnownOp {
  if (world.judging.length > 0 && random.chance(0.8)) return random.pick(world.judging);
  const agent = world.workingAgent(random);
  const { running, finished } = random.chance(0.2) ? world.workingAgent(random) : agent;
  const known = random.chance(0.5) ? finished : running;
  return { agent, opId: known.length === 0 ? 't0:s' : random.pick(known) };
}

/** An agent asks whether it may read what an operation brought back. */
export function askAboutResult(
  sim: Stage,
  { gov, results: ports }: VirtualGateway,
  { agent, opId }: KnownOp,
  text: (typeof results)[number] = sim.random.pick(results),
): Promise<unknown> {
  const { random, judge } = sim;
  const token = random.chance(0.05) ? earlierToken(sim, agent) : tokenOf(agent);
  const isError = random.chance(0.1);
  const op = opName(agentName(agent.id), opId);
  const before = judge.ops.find(op);
  const heard = judge.tokens.ask(op, shownOf(token));
  const result = Buffer.from(text);
  const asking = checkResult(gov, ports, { agentId: agent.id, token, opId, part: 'result', result, isError });
  return asking.finally(heard).then(
    (answer) => judge.results.requireTold(op, text, answer),
    (error: unknown) => {
      const isSaidToBeOver = error instanceof ReeveError && overCodes.has(error.code);
      if (isSaidToBeOver && before?.state === 'running' && judge.ops.find(op) === before) {
        throw new Broken(`${op} runs, and its result is refused: ${error.message}`);
      }
      throw error;
    },
  );
}

/** What is said of an operation that is not known, or does not run. */
const overCodes: ReadonlySet<string> = new Set(['op_not_found', 'invalid_transition']);

/** How agents treat what their operations bring back. */
export const resultDeeds: readonly Deed[] = [
  { name: 'ask about a result', weight: 10, act: (sim, gateway) => askAboutResult(sim, gateway, drawOp(sim)) },
];
