import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PolicyDocument, PolicyProblem, PolicySource } from '@reeve/core';
import { messageOf, parsePolicies, usualMostActionMicros } from '@reeve/core';
import { parseDocument } from 'yaml';
import { policyFeatures } from '../adapters/cel/policy-features.ts';
import { PolicyFiles } from '../adapters/files/policy-files.ts';
import type { CaseGroup } from './policy-case.ts';
import { readCases } from './read-cases.ts';
import { splitDocuments } from './split-documents.ts';
import type { CaseReport } from './test-policies.ts';
import { testPolicies } from './test-policies.ts';

/**
 * Policies without a gateway. The gateway's own code reads, checks and judges them, so both agree. The command line
 * loads this for its offline commands.
 */

export type { CaseReport } from './test-policies.ts';

/** A document of the files, with its own text. */
export interface OfflineDocument {
  readonly name: string;
  readonly file: string;
  readonly scope: string;
  readonly mode: 'enforce' | 'observe';
  readonly rules: number;
  readonly source: string;
}

export interface OfflinePolicies {
  readonly files: readonly string[];
  readonly documents: readonly OfflineDocument[];
  readonly problems: readonly PolicyProblem[];
}

/** Reads a file, or a folder as the gateway reads one, and reports problems. */
export function validatePolicies(path: string): OfflinePolicies {
  const sources = readSources(path);
  const files = sources.map(({ file }) => file);
  const { documents, problems } = parsePolicies(sources, policyFeatures);
  // Texts are matched to documents only if all could be read.
  return { files, problems, documents: problems.length > 0 ? [] : describeDocuments(sources, documents) };
}

export interface OfflineTest {
  readonly caseFiles: readonly string[];
  readonly problems: readonly PolicyProblem[];
  readonly report: CaseReport | undefined;
}

/** The folder of cases. The gateway skips names that start with a dot. */
export const casesFolder = '.cases';

/** Judges the cases of the files by the policies of a path. If either is wrong, it reports the problems instead. */
export function testPolicyFiles(path: string, casePaths: readonly string[]): OfflineTest {
  const policies = parsePolicies(readSources(path), policyFeatures);
  const found = casePaths.length > 0 ? casePaths : [join(path, casesFolder)].filter((folder) => existsSync(folder));
  const caseSources = found.flatMap(readCaseSources);
  const read = caseSources.map((source) => readCases(source, usualMostActionMicros));
  const problems = [...policies.problems, ...read.flatMap((each) => each.problems)];
  const groups: CaseGroup[] = read.flatMap((each) => each.groups);
  return {
    caseFiles: caseSources.map(({ file }) => file),
    problems,
    report: problems.length > 0 ? undefined : testPolicies(policies.documents, groups, usualMostActionMicros),
  };
}

/** Documents as one text. Each gets its name, because the name of its file would be lost. */
export function joinDocuments(documents: readonly OfflineDocument[]): string {
  return documents.map(({ name, source }) => withName(source, name).trim()).join('\n---\n');
}

function withName(source: string, name: string): string {
  const document = parseDocument(source);
  if (document.has('name')) return source;
  document.set('name', name);
  return document.toString();
}

function readSources(path: string): PolicySource[] {
  try {
    return new PolicyFiles(path, false).read();
  } catch (error) {
    throw new Error(messageOf(error), { cause: error });
  }
}

/** Files of cases are named by their whole path, because they come from several places. */
function readCaseSources(path: string): PolicySource[] {
  const sources = readSources(path);
  if (!statSync(path).isDirectory()) return sources;
  return sources.map(({ file, text }) => ({ file: join(path, file), text }));
}

function describeDocuments(sources: readonly PolicySource[], documents: readonly PolicyDocument[]): OfflineDocument[] {
  const texts = sources.flatMap(({ file, text }) => splitDocuments(text).map((source) => ({ file, source })));
  return documents.map(({ name, scope, mode = 'enforce', rules }, at) => ({
    name,
    file: texts[at]?.file ?? '',
    scope: scopeText(scope),
    mode,
    rules: rules.length,
    source: texts[at]?.source ?? '',
  }));
}

function scopeText(scope: PolicyDocument['scope']): string {
  if (scope.tier === 'global') return 'global';
  const { tier, ...ids } = scope;
  return `${tier}:${Object.values<string>(ids).join('/')}`;
}
