interface RuleTest {
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly alert_rule_test: readonly {
    readonly eval_time: string;
    readonly alertname: string;
    readonly exp_alerts: readonly { readonly exp_labels: Readonly<Record<string, string>> }[];
  }[];
}

const gateway = (name: string) => `{job="reeve",instance="${name}"}`;
const firing = (labels: Readonly<Record<string, string>>) => [{ exp_labels: labels }];
const silent: readonly never[] = [];

/** Series that were made up, and which alerts they raise, in the form of `promtool test rules`. */
export const ruleTests: readonly RuleTest[] = [];

void [gateway, firing, silent];
