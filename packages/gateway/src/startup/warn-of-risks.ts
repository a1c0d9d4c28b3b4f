import { relative } from 'node:path';
import type { Config } from '../config/settings.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Warns at the start about settings that let strangers in. */
export function warnOfRisks(config: Config, logger: Logger): void {
  if (config.authOpenRegistration && config.databaseUrl !== 'memory:') {
    logger.warn(
      'SVC_AUTH_OPEN_REGISTRATION is on: anybody who can reach this gateway can make an account, and the account of a stranger is a developer, who reads the records of every org and may pause, resume and terminate all agents. Unset it and send invites instead, unless all who can reach this address may do that',
    );
  }
  if (config.auditAnchor !== undefined && !relative(config.dataDir, config.auditAnchor).startsWith('..')) {
    logger.warn(
      'SVC_AUDIT_ANCHOR is in the data folder: whoever can cut the audit log off can cut its anchor off, too. Keep it on another machine or an append-only medium',
    );
  }
  if (config.allowedHosts?.includes('*') === true) {
    logger.warn(
      'SVC_ALLOWED_HOSTS holds "*": requests are answered under any name, so that a page of a stranger can have its own name lead here (DNS rebinding) and act as a page of this gateway. Name the hosts instead',
    );
  }
}
