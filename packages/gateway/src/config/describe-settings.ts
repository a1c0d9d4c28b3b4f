import type { Setting } from './setting.ts';
import { settings, variableOf } from './settings.ts';

/** A setting as `--help` and the reference docs show it. */
export interface SettingDescription {
  readonly key: string;
  readonly variable: string;
  readonly flag: string | undefined;
  readonly byDefault: string;
  readonly help: string;
}

export function describeSettings(): SettingDescription[] {
  return Object.values<Setting<unknown>>(settings).map((setting) => ({
    key: setting.key,
    variable: variableOf(setting),
    flag: setting.flag,
    byDefault: setting.default ?? setting.defaultNote ?? 'unset',
    help: setting.help,
  }));
}
