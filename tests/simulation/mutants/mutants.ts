import { decidingMutants } from './deciding-mutants.ts';
import { flowMutants } from './flow-mutants.ts';
import { identityMutants } from './identity-mutants.ts';
import { keepingMutants } from './keeping-mutants.ts';
import type { Mutant } from './mutant.ts';

/**
 * What the simulation must notice. If the code has moved, find the mechanism where it is now, and break it there. A
 * fault that the simulation has found, or should have, is a mutant from then on.
 */
export const mutants: readonly Mutant[] = [...decidingMutants, ...flowMutants, ...identityMutants, ...keepingMutants];
