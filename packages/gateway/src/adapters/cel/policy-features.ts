import { conditionCompiler, resultConditionCompiler, valueCompiler } from './compile-condition.ts';
import { findPattern } from './find-pattern.ts';

/** The features of policies in a gateway. Every reader uses these, so all of them accept the same policies. */
export const policyFeatures = {
  compileCondition: conditionCompiler(),
  compileResultCondition: resultConditionCompiler(),
  compileValue: valueCompiler(),
  compilePattern: findPattern,
};
