interface RuleTest {
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly promql_expr_test: readonly {
    readonly expr: string;
    readonly eval_time: string;
    readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
  }[];
}

const labels = 'job="reeve",instance="a"';

/** That an alert is pending or firing at a time, or that it is not there. */
function alerts(alert: string, eval_time: string, state: 'firing' | 'pending' | 'silent') {
  const expr = `count by (alertname, alertstate) (ALERTS{alertname="${alert}"})`;
  const sample = { labels: `{alertname="${alert}", alertstate="${state}"}`, value: 1 };
  return { expr, eval_time, exp_samples: state === 'silent' ? [] : [sample] };
}

function series(name: string, values: string, more = '') {
  return { series: `${name}{${labels}${more}}`, values };
}

/** Series that were made up, and which alerts they raise, in the form of `promtool test rules`. */
export const ruleTests: readonly RuleTest[] = [
  {
    interval: '15s',
    input_series: [
      series('up', '1x8 0x12'),
      series('reeve_store_commit_failures_total', '0x8 0+10x12'),
      series('reeve_nats_connected', '1x8 0x12'),
      series('reeve_unread_total', '0x8 1x12'),
      series('reeve_gateways', '0x8 1x12', ',state="lost"'),
      series('reeve_decisions_total', '0+30x20', ',outcome="allow",tier="org"'),
    ],
    promql_expr_test: [
      alerts('ReeveDown', '2m', 'silent'),
      alerts('ReeveDown', '2m30s', 'pending'),
      alerts('ReeveDown', '4m', 'firing'),
      alerts('ReeveStoreRefusesWrites', '2m', 'silent'),
      alerts('ReeveStoreRefusesWrites', '4m', 'firing'),
      alerts('ReeveNatsAway', '2m', 'silent'),
      alerts('ReeveNatsAway', '4m', 'firing'),
      alerts('ReeveGatewayLost', '4m', 'firing'),
      alerts('ReeveRecordsUnread', '2m', 'silent'),
      alerts('ReeveRecordsUnread', '4m', 'firing'),
      alerts('ReeveIdentityRefused', '5m', 'silent'),
    ],
  },
  {
    interval: '15s',
    input_series: [
      series('reeve_decision_seconds_bucket', '0+100x80', ',le="0.05"'),
      series('reeve_decision_seconds_bucket', '0+110x80', ',le="1"'),
      series('reeve_decision_seconds_bucket', '0+110x80', ',le="+Inf"'),
      series('reeve_decisions_total', '0+30x80', ',outcome="deny",tier="identity"'),
      series('reeve_controls_total', '0x40 1x40', ',action="terminate",status="unconfirmed"'),
      series('reeve_controls_total', '0+1x80', ',action="pause",status="effective"'),
      series('reeve_audit_seq', '100+1x80'),
      { series: 'reeve_audit_seq{job="reeve",instance="b"}', values: '5000+1x80' },
      series('reeve_nats_connected', '1x80'),
      { series: 'reeve_nats_connected{job="reeve",instance="b"}', values: '1x80' },
      series('reeve_forward_lag_seconds', '0+15x80', ',target="1",kind="otlp"'),
      series('reeve_forward_lag_seconds', '0x80', ',target="2",kind="file"'),
      series('reeve_forward_failures_total', '0+1x80', ',target="1",kind="otlp"'),
      series('reeve_forward_missed_entries_total', '0x40 7x40', ',target="1",kind="otlp"'),
      series('reeve_sign_ons_total', '0+1x80', ',outcome="oidc_failed"'),
      series('reeve_sign_ons_total', '0+1x80', ',outcome="ok"'),
    ],
    promql_expr_test: [
      alerts('ReeveDecisionsSlow', '5m', 'pending'),
      alerts('ReeveDecisionsSlow', '15m', 'firing'),
      alerts('ReeveIdentityRefused', '15m', 'firing'),
      alerts('ReeveStopNotConfirmed', '9m', 'silent'),
      alerts('ReeveStopNotConfirmed', '11m', 'firing'),
      alerts('ReeveGatewayLagsBehind', '3m', 'firing'),
      alerts('ReeveForwardingLags', '4m', 'silent'),
      alerts('ReeveForwardingLags', '7m', 'pending'),
      alerts('ReeveForwardingLags', '12m', 'firing'),
      alerts('ReeveForwardingFails', '18m', 'firing'),
      alerts('ReeveForwardingGap', '9m', 'silent'),
      alerts('ReeveForwardingGap', '11m', 'firing'),
      alerts('ReeveSignOnsFail', '15m', 'firing'),
    ],
  },
  {
    // Times begin at 0 here: the last backup of `a` was made almost two days before.
    interval: '1m',
    input_series: [
      series('reeve_backup_last_success_timestamp_seconds', '-170000x80'),
      { series: 'reeve_backup_last_success_timestamp_seconds{job="reeve",instance="b"}', values: '0x80' },
      { series: 'up{job="reeve",instance="on-postgres"}', values: '1x80' },
    ],
    promql_expr_test: [
      alerts('ReeveBackupOld', '45m', 'silent'),
      alerts('ReeveBackupOld', '50m', 'pending'),
      alerts('ReeveBackupOld', '70m', 'firing'),
    ],
  },
  {
    interval: '1m',
    input_series: [
      series('reeve_store_wal_bytes', '200000000x20 2000000000x40'),
      series('reeve_held_runs_of_one_binding', '3000x20 4001x40'),
    ],
    promql_expr_test: [
      alerts('ReeveWriteAheadLogLong', '20m', 'silent'),
      alerts('ReeveWriteAheadLogLong', '30m', 'pending'),
      alerts('ReeveWriteAheadLogLong', '40m', 'firing'),
      alerts('ReeveHeldRunsNearlyFull', '20m', 'silent'),
      alerts('ReeveHeldRunsNearlyFull', '30m', 'firing'),
    ],
  },
];
