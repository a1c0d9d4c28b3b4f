import type { RouteOutput, Routes } from '@reeve/contract/http';
import { defineCommand } from '../command-line/command.ts';
import { required } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanLines } from '../output/clean-text.ts';
import { print } from '../output/print.ts';
import { actorText } from './approval-columns.ts';

type Policy = RouteOutput<Routes['getPolicy']>;

export const policyShowCommand = defineCommand({
  details: [
    'Needs the scope read. The document as it was written, below comments that say where it comes from. You can save the output and push it again. Data: as GET /api/v1/policies/{name}.',
  ],
  args: { name: required('The name of a document.', 'policy') },
  options: {},
  examples: [
    ['reeve policy show guardrails', 'what it says'],
    ['reeve policy show guardrails > guardrails.yaml', 'to change it and push it again'],
  ],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const policy = await client.call('getPolicy', { params: { name: input.args.name } });
    print(shell, input.globals.output, policy, () => policyText(policy));
    return 0;
  },
});

function policyText(policy: Policy): string {
  const { name, scope, mode, origin, file, version, updated_at: at, updated_by: by, source } = policy;
  const place = origin === 'file' ? `from the file ${file} of the gateway` : `version ${version}`;
  const saved = at === null || by === null ? '' : `, stored ${at} by ${actorText(by)}`;
  return cleanLines([`# ${name} (${scope}, ${mode}), ${place}${saved}`, source.trimEnd()].join('\n'));
}
