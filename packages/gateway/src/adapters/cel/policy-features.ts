import { conditionCompiler } from './compile-condition.ts';

/** What a gateway can do with policies, wherever it reads them: what is accepted in one place is accepted in all. */
export const policyFeatures = { compileCondition: conditionCompiler() };
