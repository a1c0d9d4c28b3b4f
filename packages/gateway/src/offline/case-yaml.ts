import type { AgentId, Member, PolicySource } from '@reeve/core';
import { messageOf, microsOfUsd, YamlReader } from '@reeve/core';
import type { Document, Node } from 'yaml';
import { isScalar, visit } from 'yaml';
import { isExactNumber, numberFault } from '@reeve/contract/exact-numbers';
import { idOfPart } from '@reeve/contract/names';

/** How many checks one file of cases may make, including earlier requests and their repetitions. */
const mostChecks = 10_000;

/** Reads the values of cases. It reports each problem with its place. */
export class CaseYaml extends YamlReader {
  #checksLeft = mostChecks;

  constructor({ file, text }: PolicySource) {
    super(file, text);
  }

  /** The members by name. It reports unknown ones. */
  known<const Name extends string>(
    document: Document.Parsed,
    node: Node | undefined,
    what: string,
    names: readonly Name[],
  ): Partial<Record<Name, Member>> {
    const found: Partial<Record<Name, Member>> = {};
    for (const member of this.members(document, node, what) ?? []) {
      const name = names.find((candidate) => candidate === member.name);
      if (name === undefined) this.unknown(member, what, names);
      else found[name] = member;
    }
    return found;
  }

  textOf(member: Member | undefined): string {
    return member === undefined ? '' : (this.text(member.value, `"${member.name}"`) ?? '');
  }

  numberOf(member: Member | undefined): number {
    if (member === undefined) return 0;
    const given = isScalar(member.value) ? member.value.value : undefined;
    if (typeof given === 'number' && microsOfUsd(given) !== undefined) return given;
    this.complain(member.value, `"${member.name}" must be a number that is not negative`);
    return 0;
  }

  wholeOf(member: Member): number {
    const given = isScalar(member.value) ? member.value.value : undefined;
    if (typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) return given;
    this.complain(member.value, `"${member.name}" must be a whole number that is not negative`);
    return 0;
  }

  /** Counts the checks of a file, and reports the first that is too many. */
  countChecks(node: Node | undefined, checks: number): void {
    const before = this.#checksLeft;
    this.#checksLeft -= checks;
    if (before >= 0 && this.#checksLeft < 0) {
      this.complain(node, `one file of cases makes at most ${mostChecks} checks, "times" included; divide it`);
    }
  }

  timeOf(member: Member): number | undefined {
    const text = this.textOf(member);
    const at = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/i.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(at)) return at;
    if (text !== '') this.complain(member.value, `"${member.name}" must be a time such as "2026-11-15T22:30:00Z"`);
    return undefined;
  }

  /** `org/team/agent`; org and team may be empty. */
  agentOf(member: Member | undefined): AgentId {
    const text = isScalar(member?.value) && typeof member.value.value === 'string' ? member.value.value : '';
    const parts = text.split('/');
    const [orgId = '', teamId = '', agentId = ''] = parts.map(idOfPart);
    if (member !== undefined && (parts.length !== 3 || agentId === '')) {
      this.complain(member.value, `"${member.name}" must be "org/team/agent", of which org and team may be empty`);
    }
    return { orgId, teamId, agentId };
  }

  /** Any value, as JSON. */
  jsonOf(document: Document.Parsed, { value }: Member): unknown {
    visit(value ?? null, {
      Scalar: (_, node) => {
        const { source = '' } = node;
        if (typeof node.value === 'number' && /^-?\d/.test(source) && !isExactNumber(source))
          this.complain(node, numberFault(source));
      },
    });
    try {
      return (value?.toJS(document) as unknown) ?? null;
    } catch (error) {
      // The parser refuses aliases that expand too far.
      this.complain(value, `cannot be read: ${messageOf(error)}`);
      return null;
    }
  }
}
