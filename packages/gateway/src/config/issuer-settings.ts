import { path } from './parsers.ts';
import { optional } from './setting.ts';

/** Whose JWTs are believed. */
export const issuerSettings = {
  subjects: optional(
    'subjects',
    path,
    'A YAML file that lists the issuers of tokens of the people for whom agents act. It is read again when it changes.',
    { flag: '--subjects' },
  ),
  workloads: optional(
    'workloads',
    path,
    'A YAML file that says which JWTs count as the credential of which agent. It is read again when it changes.',
    { flag: '--workloads' },
  ),
};
