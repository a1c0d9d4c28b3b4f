import { conditionCompiler, resultConditionCompiler, valueCompiler } from './compile-condition.ts';

/** The features of policies in a gateway. Every reader uses these, so all of them accept the same policies. */
export const policyFeatures = {
  compileCondition: conditionCompiler(),
  compileResultCondition: resultConditionCompiler(),
  compileValue: valueCompiler(),
};
