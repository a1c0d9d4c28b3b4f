export type { Answer, DecisionEvent } from './answer.ts';
export { checkAction, checkActions, longestStretch } from './check-action.ts';
export { CheckFacts } from './check-facts.ts';
export { DecisionTally } from './decision-tally.ts';
export type { Decisions } from './decisions.ts';
export { controlRule } from './refuse-by-control.ts';
export { chargeOf, isBudgetRule, limitTold, weighBudgets } from './weigh-budgets.ts';
export type { PreviewRequest } from './preview-tools.ts';
export { previewTools } from './preview-tools.ts';
