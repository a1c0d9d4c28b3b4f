import type { WorkloadIssuer } from '@reeve/core';
import { GlobError, parseAgentTemplate, parseClaimMatch } from '@reeve/core';
import type { Node } from 'yaml';
import { isScalar } from 'yaml';
import type { EntryForm, EntryYaml } from './read-issuers.ts';

type Match = WorkloadIssuer['match'];

/** The file of `SVC_WORKLOADS`: which tokens of an issuer count as the credential of which agent. */
export const workloadForm: EntryForm<WorkloadIssuer> = {
  members: ['match', 'agent', 'register'],
  read(yaml, issuer, members) {
    const { reader, node } = yaml;
    const match = readMatch(yaml, members.get('match')?.value ?? node);
    const captures = match.flatMap(({ glob }) => glob.names);
    const written = members.get('agent')?.value;
    const text = reader.text(written ?? node, '"agent"');
    const agent = text === undefined ? undefined : at(yaml, written, () => parseAgentTemplate(text, captures));
    const register = members.get('register');
    const registers = register === undefined ? false : reader.flag(register.value, '"register"');
    if (agent === undefined || registers === undefined || match.length === 0) return undefined;
    return { ...issuer, match, agent, registers };
  },
};

function readMatch(yaml: EntryYaml, node: Node): Match {
  const { reader, document } = yaml;
  const members = node === yaml.node ? undefined : reader.members(document, node, '"match"');
  if (node === yaml.node) reader.complain(node, 'an entry must have "match"');
  if (members?.length === 0) reader.complain(node, '"match" must name at least one claim');
  const names = new Set<string>();
  return (members ?? []).flatMap(({ name, value }) => {
    const text = reader.text(value, `"${name}"`);
    const match = text === undefined ? undefined : at(yaml, value, () => parseClaimMatch(name, text));
    for (const captured of match?.glob.names ?? []) {
      if (names.has(captured)) reader.complain(value, `"${captured}" is captured twice`);
      names.add(captured);
    }
    return match ?? [];
  });
}

/** What `parse` makes of a text. An error of it is a problem at its place in the text, as far as that is known. */
function at<Value>({ reader }: EntryYaml, node: Node | undefined, parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    const isQuoted = isScalar(node) && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE');
    reader.complain(node, error.message, error.offset + (isQuoted ? 1 : 0));
    return undefined;
  }
}
